"""Methods: what every number means, from the same rows that the scorers use."""

from __future__ import annotations

import streamlit as st

from infra.tables import Metric
from infra.tables.board import Passage
from leaderboard.draw.words import TRUST, escaped, long_text, plain, titled
from leaderboard.queries import entries, ranking
from leaderboard.widgets.common import ask, no_board, press

RULES = """
- **Missing is not zero.** Every expected score has one outcome: scored, model failed, output
  missing, output invalid, blocked, judge unparsable, judge error, not applicable or excluded. Every
  figure carries n, the samples scored, of N.
- **The submitter's failures count as the worst value** (model failed, output missing, invalid or
  blocked): leaving an output out can never raise a score.
- **The judge's failures leave the mean**, are judged again, and block publication above one in a
  hundred.
- **Comparable or not ranked together.** A board is one suite version, one set of samples and
  questions, one scorer and one judge with its prompts and settings. A new judge is a new board.
- **A judge that does not look ranks nobody.** Suites that a model judges bring an exam: questions
  about pictures and clips whose content is known. A board whose judge fails it, or has not sat it,
  shows its numbers and no ranks.
- **Intervals** are 95 % intervals by drawing whole tasks again. **Ranks** come from paired
  differences, task by task: entries that cannot be told apart share a rank, and a rank interval
  leaves room for all who are not surely worse. Where that was not compared, a rank is by value
  alone and the row says so.
- **±** beside a published figure is the spread that the paper prints.
- **Eligible** for a rank is a whole entry that is published; partial ones are shown without a rank.
"""


def page() -> None:
    """The rules, then each suite's metrics."""
    suites = {suite.name: suite for suite in ask(ranking.suites)}
    if not suites:
        no_board("No suites are loaded.")
        return
    st.title("Methods")
    st.header("Rules for every suite", anchor=False)
    st.markdown(RULES)
    st.markdown("\n".join(f"- **Trust {text}**" for text in TRUST.values()))
    suite_name = st.query_params.get("suite", "")
    suite = suites.get(suite_name, next(iter(suites.values())))
    st.header("Metrics", anchor=False)
    press("suite", "Suite", list(suites), suite.name, lambda suite_name: suites[suite_name].title)
    counts = (
        ", ".join(f"{name}: {count} samples" for name, count in suite.subsets.items())
        or "no samples yet"
    )
    about = f"Version {suite.version}, scorer {suite.scorer_version}. {counts}."
    st.caption(f"{escaped(about, 300)} [Paper]({suite.paper})")
    for metric in [metric for metric in ask(entries.all_metrics) if metric.suite == suite.name]:
        _metric(metric)
    _passages(suite.name, suite.title)


def _passages(suite: str, title: str) -> None:
    """What judges and agents are told, word for word, and what changed when."""
    passages = ask(entries.passages)
    for passage in passages:
        if passage.kind == "exam" and passage.suite == suite:
            st.header("Exam of judges", anchor=False)
            st.markdown(escaped(passage.text, 3000))
    st.header("Prompts of the judges", anchor=False)
    st.caption(
        "Every judge that reads words is told these; a board's key holds their hash. $names are "
        "filled in."
    )
    for passage in passages:
        if passage.kind == "judge":
            _passage(passage)
    own = [passage for passage in passages if passage.kind == "suite" and passage.suite == suite]
    if own:
        st.header(f"Prompts of {escaped(title)}", anchor=False)
    for passage in own:
        _passage(passage)
    changelog = next((passage for passage in passages if passage.kind == "changelog"), None)
    if changelog:
        st.header("Changelog", anchor=False)
        st.markdown(changelog.text.partition("\n")[2].replace("\n## ", "\n### "))


def _passage(passage: Passage) -> None:
    with st.expander(escaped(plain(passage.name))):
        st.code(long_text(passage.text), language=None, wrap_lines=True)
        st.caption(f"SHA-256 {passage.sha256}")


def _metric(metric: Metric) -> None:
    better = "higher is better" if metric.direction == "higher" else "lower is better"
    head = " (headline)" if metric.headline else ""
    with st.expander(
        f"{escaped(titled(metric.title, metric.unit))}{head}", expanded=metric.headline
    ):
        st.markdown(escaped(metric.explain, 3000))
        st.caption(
            f"From {metric.worst:g} (worst) to {metric.best:g} (best), {better}. Name in files: "
            f"{escaped(metric.name)}"
        )
