"""Judges: who decides, what identifies them, how well they agree with people, how often they have
no answer."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from infra.tables import Judge
from leaderboard.draw import charts, frames
from leaderboard.draw.words import name, plain
from leaderboard.queries import entries, nights, samples
from leaderboard.queries.agreement import Estimate, JudgeAgreement, agreement
from leaderboard.studies import overview
from leaderboard.widgets.common import ask, downloads, draw, link, pick

ELSEWHERE = ("name", "kind", "noise", "overlays", "exam")
PLAIN: Any = {"border": True, "delta_color": "off", "delta_arrow": "off"}
KINDS = {"auto": "automatic", "human": "people", "paper": "of a paper"}


def page() -> None:
    """Draw the table of all judges and the details of the chosen one."""
    st.title("Judges")
    judges = {judge.fingerprint: judge for judge in ask(entries.judges)}
    if not judges:
        st.info("No judge has worked here yet.", icon=":material/info:")
        return
    st.markdown(
        "A judge is everything that can change a verdict. Change one thing, and it is another "
        "judge and another board."
    )
    cards = _cards(list(judges.values()))
    widths = {"Exams": st.column_config.TextColumn(width="medium")}
    st.dataframe(cards, hide_index=True, placeholder="—", column_config=widths)
    downloads(cards, "armillary-judges")
    first = next((j for j in judges.values() if j.card.get("exam")), next(iter(judges.values())))
    chosen = judges.get(st.query_params.get("judge", ""), first)
    titles = {
        key: f"{name(judge.name, 60)} ({KINDS.get(judge.kind, judge.kind)})"
        for key, judge in judges.items()
    }
    pick("judge", "Judge", list(titles), chosen.fingerprint, titles.__getitem__, width=420)
    _judge(chosen)
    st.header("Judges as entries", anchor=False)
    st.markdown(
        "UNIVERSE ranks vision-language models by how well they see what happens in a rollout."
    )
    link("ranking", "The ranking of UNIVERSE", {"suite": "universe"}, ":material/leaderboard:")


def _cards(judges: list[Judge]) -> pd.DataFrame:
    rows = [
        {
            "Judge": name(judge.name),
            "Kind": KINDS.get(judge.kind, judge.kind),
            "Exams": verdicts(judge),
            "Fingerprint": judge.fingerprint[:12],
            **{
                plain(key): name(str(judge.card[key]), 120)
                for key in judge.card
                if key not in ELSEWHERE
            },
        }
        for judge in judges
    ]
    return pd.DataFrame(rows)


def verdicts(judge: Judge) -> str:
    """What the newest sitting of each suite's exam found, in words; a rule has none to sit."""
    if judge.kind != "auto":
        return ""
    exams = judge.card.get("exam") or {}
    said = [f"{suite}: {exam['verdict']}" for suite, exam in sorted(exams.items())]
    return ", ".join(said) or "sat none"


def _judge(judge: Judge) -> None:
    if judge.kind == "paper":
        st.caption(
            "This judge worked for a paper. Its single answers are not here, so nothing can be "
            "said about them."
        )
        return
    outcomes = ask(entries.verdict_outcomes, judge.fingerprint)
    total = sum(outcomes.values())
    unusable = sum(count for outcome, count in outcomes.items() if outcome.startswith("judge_"))
    answers, bad, flips, painted = st.columns(4)
    answers.metric("Answers", f"{total:,}", border=True)
    bad.metric("Without a usable answer", f"{unusable / total:.2%}" if total else "—", border=True)
    flips.metric("Flip rate", *_noise(judge.card.get("noise")), **PLAIN)
    painted.metric("What painted words win", *_overlays(judge.card.get("overlays")), **PLAIN)
    if judge.kind != "human":
        _exams(judge.card.get("exam") or {})
        _agreement(agreement(ask(samples.answer_pairs, judge.fingerprint)))
        _in_studies(judge.fingerprint)
        _drift(judge.fingerprint)


def _exams(exams: dict[str, dict[str, Any]]) -> None:
    """How the judge did in the newest sitting of each suite's exam."""
    if not exams:
        return
    st.header("Exam", anchor=False)
    rows = [
        {
            "Suite": suite,
            "Verdict": exam["verdict"],
            "Agreement": _exam_span(exam, "agreement"),
            "Cohen's kappa": _exam_span(exam, "kappa"),
            "Yes-bias": _exam_span(exam, "yes_bias"),
            "Answered": f"{exam['n_answered']}/{exam['n']}",
            "Date": exam["at"][:10],
            "Why": " ".join(exam["reasons"]),
        }
        for suite, exam in sorted(exams.items())
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, key="exams")


def _exam_span(exam: dict[str, Any], name: str) -> str:
    value, low, high = (exam[f"{name}{end}"] for end in ("", "_low", "_high"))
    return "—" if value is None else f"{value:.2f} [{low:.2f}, {high:.2f}]"


def _noise(noise: dict[str, float] | None) -> tuple[str, str]:
    """How often repeats disagree, and over how many."""
    if not noise or noise["flip_rate"] is None:
        return "—", "not measured"
    span = f"{noise['low']:.1%} to {noise['high']:.1%}"
    return (
        f"{noise['flip_rate']:.1%}",
        f"{span}, {noise['questions']} questions asked {noise['times']} times",
    )


def _overlays(overlays: dict[str, float] | None) -> tuple[str, str]:
    """How many points of 100 writing in a picture wins from the judge, and over how many pairs."""
    if not overlays or overlays["points"] is None:
        return "—", "not measured"
    span = (
        f"{overlays['low']:+.1f} to {overlays['high']:+.1f}, "
        if overlays["low"] is not None
        else ""
    )
    return f"{overlays['points']:+.1f} points", f"{span}{overlays['pairs']} pairs of pictures"


def _agreement(result: JudgeAgreement) -> None:
    st.header("Agreement with people", anchor=False)
    if not result.closed and not result.ratings:
        st.caption("People have not yet answered the same questions about the same outputs.")
        return
    estimates = {
        "Same answer": (result.equal, "{:.1%}"),
        "Cohen's kappa": (result.kappa, "{:.2f}"),
        "Krippendorff's alpha": (result.alpha, "{:.2f}"),
        "Spearman, ratings": (result.spearman, "{:.2f}"),
        "Alpha, ratings": (result.rating_alpha, "{:.2f}"),
    }
    for column, (label, (figure, form)) in zip(
        st.columns(len(estimates)), estimates.items(), strict=True
    ):
        column.metric(
            label,
            "—" if figure.value is None else form.format(figure.value),
            _span(figure, form),
            **PLAIN,
        )
    st.caption(
        f"{result.closed:,} closed questions and {result.ratings:,} ratings answered by both; 95 % "
        "intervals below "
        "each figure. Answers about one output lean on each other, so the intervals are rather too "
        "narrow."
    )


def _in_studies(judge: str) -> None:
    """How the judge's scores of single samples go with people's, metric by metric and place by
    place."""
    rows = [
        {"Study": name(study.title, 60), "Metric": plain(metric), "Where": plain(place),
         "Spearman": comparison["spearman"], "Judge minus people": comparison["difference"],
         "Agree, graded": comparison.get("graded"), "Agree, strict": comparison.get("strict"),
         "Kappa": comparison.get("kappa"), "Samples": int(comparison["n"])}
        for study in ask(overview.results)
        for metric, places in study.result.get("judges", {}).get(judge, {}).items()
        for place, comparison in places.items()
    ]  # fmt: skip
    if rows:
        st.header("Beside people in studies", anchor=False)
        frame = pd.DataFrame(rows)
        st.dataframe(frame, hide_index=True, placeholder="—")
        downloads(frame, "armillary-judge-and-people")
        link("studies", "What people said, and how far they agree", {}, ":material/groups:")


def _span(figure: Estimate, form: str) -> str | None:
    if figure.low is None or figure.high is None:
        return None
    return f"{form.format(figure.low)} to {form.format(figure.high)}"


def _drift(judge: str) -> None:
    """Every night a judge is asked again; a line that falls is a judge that changed."""
    drifts = ask(nights.drift, judge)
    if not drifts:
        st.caption("No night has asked this judge again yet.")
        return
    st.header("Drift", anchor=False)
    st.caption(
        "Share of equal answers when asked again: anchors against known answers, drawn ones "
        "against themselves."
    )
    frame = frames.drift(drifts)
    draw(charts.drift(frame), key="drift")
    downloads(frame, "armillary-drift")
