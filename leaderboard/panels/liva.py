"""The case viewer of L-IVA: each step with its clips, captions, verdicts and belief changes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from leaderboard.draw.words import escaped, long_text, name, plain
from leaderboard.panels import Picture, SampleView
from leaderboard.widgets.common import table

Row = Mapping[str, Any]
FIDELITY = {1: "shows the action", 0: "does not show the action", None: "no readable verdict"}
WIDTH = 420
HANDS = ("right_hand", "left_hand")


def draw(view: SampleView) -> None:
    """Replay one case; a finished video has clips and captions, a run of ours its whole trace."""
    record = view.record
    if not record.get("clips") and not record.get("trace"):
        return
    st.header("Step by step", anchor=False)
    trace = load(view)
    if trace is None:
        _clips(view)
        return
    st.text(ending(trace))
    verdicts = iter(view.detail.get("afs", {}).get("af", ()))
    for step in trace["steps"]:
        _step(view, step, verdicts)
        for line in signs_of(record, step["index"]):
            st.warning(line, icon=":material/troubleshoot:")
    with st.expander("Every reply of the vision-language model"):
        for where, call in calls(trace):
            st.text(
                f"{where}: {plain(call['step'])}"
                + (f", unusable: {name(call['problem'], 200)}" * bool(call["problem"]))
            )
            for reply in call["replies"]:
                st.code(long_text(reply, 4000), language=None)


def input_picture(view: SampleView) -> Picture | None:
    """The scene that the case begins with."""
    path = view.fetch(str(view.record["first_frame"])) if view.record.get("first_frame") else None
    return Picture(str(path), "The first frame") if path else None


def load(view: SampleView) -> dict[str, Any] | None:
    """The stored trace of a sample, if there is one and it can be had."""
    path = view.fetch(str(view.record["trace"])) if view.record.get("trace") else None
    if path is None:
        return None
    trace: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return trace


def ending(trace: Row) -> str:
    """How the case ended, who took part and what it took, in one line."""
    spent = trace["spent"]
    why = f" ({name(trace['reason'], 200)})" if trace["reason"] else ""
    took = f"{spent['clips']} clips, {spent['vlm_calls']} calls, {spent['seconds']:.0f} s"
    return (
        f"{plain(trace['end'])}{why}. {took}. Agent: {name(trace['vlm'])}. Video model: "
        f"{name(trace['i2v'])}."
    )


def signs_of(record: Row, step: int) -> list[str]:
    """The signs of failure that were found in a step, as lines for a person to look at."""
    return [
        f"Suspected in step {step + 1}: {plain(suspect['kind'])} ({name(suspect['sign'], 200)})."
        for suspect in record.get("suspects", ())
        if suspect["step"] == step
    ]


def changes(before: Row | None, after: Row | None) -> list[dict[str, str]]:
    """What is believed otherwise after a step: things that came, went or changed, hands, and
    goals."""
    if before is None or after is None:
        return []
    objects = [set(belief["interactive_objects"]) for belief in (before, after)]
    rows = [
        _change(object_name, _state(before, object_name), _state(after, object_name))
        for object_name in sorted(objects[0] | objects[1])
    ]
    rows += [
        _change(hand, before["avatar_state"][hand], after["avatar_state"][hand]) for hand in HANDS
    ]
    was = {goal["goal"]: goal["status"] for goal in before["task_checklist"]}
    rows += [
        _change(goal["goal"], was.get(goal["goal"]), goal["status"])
        for goal in after["task_checklist"]
    ]
    return [row for row in rows if row["Before"] != row["After"]]


def calls(trace: Row) -> list[tuple[str, Row]]:
    """Every call of a trace with where it was made, in order."""
    labelled = [("Start", call) for call in trace["opening"]]
    for step in trace["steps"]:
        place = f"Step {step['index'] + 1}"
        labelled += [(place, call) for call in step["calls"] if call["step"] != "observe"]
        for attempt in step["attempts"]:
            labelled += [
                (f"{place}, attempt {attempt['number'] + 1}", call) for call in attempt["calls"]
            ]
        labelled += [(place, call) for call in step["calls"] if call["step"] == "observe"]
    return [*labelled, *(("End", call) for call in trace["closing"])]


def _clips(view: SampleView) -> None:
    """The clips of a finished video, with the judge's word on each."""
    fidelities: Sequence[int | None] = view.detail.get("afs", {}).get("af", ())
    for number, clip in enumerate(view.record["clips"]):
        verdict = FIDELITY[fidelities[number]] if number < len(fidelities) else "not judged"
        _video(
            view,
            clip["sha256"],
            f"{number + 1}. {escaped(clip['caption'], 500)}. Judge: {verdict}.",
        )


def _step(view: SampleView, step: Row, verdicts: Any) -> None:
    accepted = any(attempt["accepted"] for attempt in step["attempts"])
    title = f"Step {step['index'] + 1}: {escaped(step['goal'], 160)}" + (
        "" if accepted else " (not reached)"
    )
    with st.expander(title, expanded=step["index"] == 0):
        if step["plan"]:
            st.text(f"Plan: {long_text(step['plan']['action_plan'], 1000)}")
            if step["plan"]["discrepancy"]:
                st.text(f"Not as expected: {long_text(step['plan']['discrepancy'], 1000)}")
        for attempt in step["attempts"]:
            _attempt(view, attempt, next(verdicts, None) if attempt["accepted"] else None)
        if changed := changes(step["before"], step["after"]):
            st.caption("What is believed otherwise")
            table(changed)


def _attempt(view: SampleView, attempt: Row, fidelity: int | None) -> None:
    state = "accepted" if attempt["accepted"] else "rejected"
    head = (
        f"Attempt {attempt['number'] + 1}, seed {attempt['seed']}: {state}. "
        f"{escaped(attempt['caption'], 500)}"
    )
    if attempt["clip"]:
        _video(view, attempt["clip"]["sha256"], head)
    else:
        st.markdown(head)
        st.text(f"No clip: {name(attempt['error'], 300)}")
    if attempt["verdict"]:
        st.text(f"The agent says: {long_text(attempt['verdict']['reason'], 1000)}")
        if attempt["verdict"]["correction"]:
            st.text(f"To be done differently: {long_text(attempt['verdict']['correction'], 1000)}")
    if attempt["accepted"]:
        st.text(f"The judge: {FIDELITY[fidelity]}.")


def _video(view: SampleView, sha256: str, caption: str) -> None:
    st.markdown(caption)
    path = view.fetch(sha256)
    if path is None:
        st.warning("The clip cannot be fetched from the store now.")
    else:
        st.video(path.read_bytes(), format="video/mp4", width=WIDTH)


def _state(belief: Row, object_name: str) -> str | None:
    object_belief = belief["interactive_objects"].get(object_name)
    return None if object_belief is None else object_belief["state"] or object_belief["description"]


def _change(subject: str, before: str | None, after: str | None) -> dict[str, str]:
    return {
        "What": name(plain(subject), 120),
        "Before": name(before or "—", 160),
        "After": name(after or "—", 160),
    }
