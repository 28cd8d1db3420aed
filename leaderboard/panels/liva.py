"""The case viewer of L-IVA: each step with its clips, captions, verdicts and belief changes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from leaderboard.panels import Seen, Shown
from leaderboard.widgets import table
from leaderboard.words import escaped, long_text, name, plain

Row = Mapping[str, Any]
FIDELITY = {1: "shows the action", 0: "does not show the action", None: "no readable verdict"}
WIDTH = 420
HANDS = ("right_hand", "left_hand")


def draw(shown: Shown) -> None:
    """Replay one case; a finished video has clips and captions, a run of ours its whole trace."""
    record = shown.record
    if not record.get("clips") and not record.get("trace"):
        return
    st.subheader("Step by step", anchor=False)
    trace = load(shown)
    if trace is None:
        _clips(shown)
        return
    st.text(ending(trace))
    verdicts = iter(shown.detail.get("afs", {}).get("af", ()))
    for step in trace["steps"]:
        _step(shown, step, verdicts)
    with st.expander("Every reply of the vision-language model"):
        for where, call in calls(trace):
            st.text(
                f"{where}: {plain(call['step'])}"
                + (f", unusable: {name(call['problem'], 200)}" * bool(call["problem"]))
            )
            for reply in call["replies"]:
                st.code(long_text(reply, 4000), language=None)


def given(shown: Shown) -> Seen | None:
    """The scene that the case begins with."""
    path = shown.fetch(str(shown.record["first_frame"])) if shown.record.get("first_frame") else None
    return Seen(str(path), "The first frame") if path else None


def load(shown: Shown) -> dict[str, Any] | None:
    """The stored trace of a sample, if there is one and it can be had."""
    path = shown.fetch(str(shown.record["trace"])) if shown.record.get("trace") else None
    if path is None:
        return None
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def ending(trace: Row) -> str:
    """How the case ended, who took part and what it took, in one line."""
    spent = trace["spent"]
    why = f" ({name(trace['reason'], 200)})" if trace["reason"] else ""
    took = f"{spent['clips']} clips, {spent['vlm_calls']} calls, {spent['seconds']:.0f} s"
    return f"{plain(trace['end'])}{why}. {took}. Agent: {name(trace['vlm'])}. Video model: {name(trace['i2v'])}."


def changes(before: Row | None, after: Row | None) -> list[dict[str, str]]:
    """What is believed otherwise after a step: things that came, went or changed, hands, and goals."""
    if before is None or after is None:
        return []
    things = [set(belief["interactive_objects"]) for belief in (before, after)]
    rows = [_change(thing, _state(before, thing), _state(after, thing)) for thing in sorted(things[0] | things[1])]
    rows += [_change(hand, before["avatar_state"][hand], after["avatar_state"][hand]) for hand in HANDS]
    was = {goal["goal"]: goal["status"] for goal in before["task_checklist"]}
    rows += [_change(goal["goal"], was.get(goal["goal"]), goal["status"]) for goal in after["task_checklist"]]
    return [row for row in rows if row["Before"] != row["After"]]


def calls(trace: Row) -> list[tuple[str, Row]]:
    """Every call of a trace with where it was made, in order."""
    found = [("Start", call) for call in trace["opening"]]
    for step in trace["steps"]:
        place = f"Step {step['index'] + 1}"
        found += [(place, call) for call in step["calls"] if call["step"] != "observe"]
        for attempt in step["attempts"]:
            found += [(f"{place}, attempt {attempt['number'] + 1}", call) for call in attempt["calls"]]
        found += [(place, call) for call in step["calls"] if call["step"] == "observe"]
    return [*found, *(("End", call) for call in trace["closing"])]


def _clips(shown: Shown) -> None:
    """The clips of a finished video, with the judge's word on each."""
    said: Sequence[int | None] = shown.detail.get("afs", {}).get("af", ())
    for number, clip in enumerate(shown.record["clips"]):
        verdict = FIDELITY[said[number]] if number < len(said) else "not judged"
        _video(shown, clip["sha256"], f"{number + 1}. {escaped(clip['caption'], 500)}. Judge: {verdict}.")


def _step(shown: Shown, step: Row, verdicts: Any) -> None:
    kept = any(attempt["accepted"] for attempt in step["attempts"])
    title = f"Step {step['index'] + 1}: {escaped(step['goal'], 160)}" + ("" if kept else " (not reached)")
    with st.expander(title, expanded=step["index"] == 0):
        if step["plan"]:
            st.text(f"Plan: {long_text(step['plan']['action_plan'], 1000)}")
            if step["plan"]["discrepancy"]:
                st.text(f"Not as expected: {long_text(step['plan']['discrepancy'], 1000)}")
        for attempt in step["attempts"]:
            _attempt(shown, attempt, next(verdicts, None) if attempt["accepted"] else None)
        if changed := changes(step["before"], step["after"]):
            st.caption("What is believed otherwise")
            table(changed)


def _attempt(shown: Shown, attempt: Row, fidelity: int | None) -> None:
    state = "accepted" if attempt["accepted"] else "rejected"
    head = f"Attempt {attempt['number'] + 1}, seed {attempt['seed']}: {state}. {escaped(attempt['caption'], 500)}"
    if attempt["clip"]:
        _video(shown, attempt["clip"]["sha256"], head)
    else:
        st.markdown(head)
        st.text(f"No clip: {name(attempt['error'], 300)}")
    if attempt["verdict"]:
        st.text(f"The agent says: {long_text(attempt['verdict']['reason'], 1000)}")
        if attempt["verdict"]["correction"]:
            st.text(f"To be done differently: {long_text(attempt['verdict']['correction'], 1000)}")
    if attempt["accepted"]:
        st.text(f"The judge: {FIDELITY[fidelity]}.")


def _video(shown: Shown, sha256: str, caption: str) -> None:
    st.markdown(caption)
    path = shown.fetch(sha256)
    if path is None:
        st.warning("The clip cannot be fetched from the store now.")
    else:
        st.video(path.read_bytes(), format="video/mp4", width=WIDTH)


def _state(belief: Row, thing: str) -> str | None:
    found = belief["interactive_objects"].get(thing)
    return None if found is None else found["state"] or found["description"]


def _change(what: str, before: str | None, after: str | None) -> dict[str, str]:
    return {"What": name(plain(what), 120), "Before": name(before or "—", 160), "After": name(after or "—", 160)}
