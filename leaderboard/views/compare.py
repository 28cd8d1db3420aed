"""Compare: two to four entries on the same samples, with paired differences and the outputs side by
side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from infra.settings import Settings
from infra.store import Store, open_store
from infra.tables import Metric
from leaderboard.draw import charts
from leaderboard.draw.words import escaped, name, number, plain, titled
from leaderboard.queries import comparison, paired, ranking, samples
from leaderboard.queries.paired import SampleValue
from leaderboard.queries.ranking import NotOnBoard
from leaderboard.queries.samples import RunFacts
from leaderboard.selection.choice import Choice
from leaderboard.selection.settle import best_runs, settle
from leaderboard.widgets.board_strip import board_strip
from leaderboard.widgets.common import ask, downloads, draw, link, pick
from leaderboard.widgets.thumbnails import thumbnail

MOST = 4
MOST_SAMPLES = 6
HOW = (
    "First minus second, as both stand on the board. The interval and p are Student's t of what "
    "each task adds to the difference, as the ranks are; with few tasks both say little. No "
    "correction is made for looking at several pairs."
)


def page() -> None:
    """Draw the paired comparison of chosen entries of one board."""
    st.title("Compare")
    runs = {run.run_id: run for run in ask(samples.runs)}
    if len(runs) < 2:
        st.info(
            "Here two to four entries stand side by side on the same samples. There are not yet "
            "two entries judged by us: `armillary demo` makes some.",
            icon=":material/info:",
        )
        return
    chosen, beside = _chosen(runs)
    metrics = {metric.name: metric for metric in ask(ranking.metrics, chosen[0].suite)}
    metric = metrics.get(st.query_params.get("metric", ""), _first_metric(chosen[0], metrics))
    with beside:
        pick(
            "metric",
            "Metric",
            list(metrics),
            metric.name,
            lambda metric_name: metrics[metric_name].title,
            width=260,
        )
    board_strip(chosen)
    if len(chosen) < 2:
        st.info("Choose at least two entries.", icon=":material/info:")
        return
    values = {
        run.run_id: ask(samples.scored, run.run_id, run.suite, run.version, metric.name)
        for run in chosen
    }
    _side_by_side(chosen, values, metric)
    _differences(chosen, metric)
    _tallies(chosen, values, metric)


def _first_metric(run: RunFacts, metrics: Mapping[str, Metric]) -> Metric:
    """What the ranking page ranks by, if it is known sample by sample; else the first that is."""
    scored = ask(samples.scored_metrics, run.run_id)
    settled = ask(settle, Choice(suite=run.suite))
    ranked_by = settled.choice.metric if settled else ""
    by_sample = [metric for metric in metrics.values() if metric.name in scored]
    by_sample.sort(key=lambda metric: metric.name != ranked_by)
    return next(iter(by_sample or metrics.values()))


def _chosen(runs: Mapping[str, RunFacts]) -> tuple[list[RunFacts], DeltaGenerator]:
    """The entries, and the row of selectors for what else there is to choose."""
    addressed = [
        runs[run_id] for run_id in st.query_params.get("runs", "").split(",") if run_id in runs
    ]
    front = [runs[run_id] for run_id in ask(best_runs) if run_id in runs]
    board = addressed[0].board if addressed else (front or list(runs.values()))[0].board
    same = [run for run in (front or runs.values()) if run.board == board]
    same += [run for run in runs.values() if run.board == board and run not in same]
    chosen = [run for run in addressed if run.board == board][:MOST] or same[:2]
    titles = {
        run.run_id: f"{name(run.model, 50)} · {name(run.judge_name, 30)}" for run in runs.values()
    }
    key = f"runs-{board}"
    st.session_state[key] = [run.run_id for run in chosen]
    st.multiselect(
        "Entries of one board, at most four",
        [run.run_id for run in same],
        key=key,
        format_func=titles.__getitem__,
        max_selections=MOST,
        on_change=_write,
        args=(key,),
    )
    boards = {
        run.board: f"{name(run.judge_name, 40)} · {run.suite} v{run.version} · {run.subset}"
        for run in runs.values()
    }
    row = st.container(horizontal=True)
    with row:
        pick(
            "board",
            "Board",
            list(boards),
            board,
            boards.__getitem__,
            width=420,
            then=partial(_other_board, runs),
        )
    return chosen, row


def _write(key: str) -> None:
    st.query_params["runs"] = ",".join(st.session_state[key])


def _other_board(runs: Mapping[str, RunFacts], params: dict[str, str]) -> dict[str, str]:
    board_runs = [run.run_id for run in runs.values() if run.board == params["board"]]
    remaining = {key: value for key, value in params.items() if key != "board"}
    return {**remaining, "runs": ",".join(board_runs[:2])}


def _differences(chosen: Sequence[RunFacts], metric: Metric) -> None:
    st.header("Paired differences", anchor=False, help=HOW)
    rows, reasons = [], []
    for first, second in combinations(chosen, 2):
        try:
            compared = ask(comparison.compare, first.run_id, second.run_id, metric.name)
        except NotOnBoard as reason:
            reasons.append(str(reason))
            continue
        rows.append(
            {
                "pair": f"{name(first.model, 40)} − {name(second.model, 40)}",
                "mean": compared.difference,
                "low": compared.low,
                "high": compared.high,
                "p": compared.p,
                "n": compared.samples,
                "tasks": compared.tasks,
                "power": compared.note,
            }
        )
    for text in dict.fromkeys(reasons):
        st.caption(escaped(text, 300))
    if not rows:
        return
    frame = pd.DataFrame(rows)
    draw(
        charts.differences(frame, f"Difference in {titled(metric.title, metric.unit)}"),
        key="differences",
    )
    heads = {
        "pair": "Pair",
        "mean": "Difference",
        "low": "From",
        "high": "To",
        "n": "Samples",
        "tasks": "Tasks",
        "power": "How sure that can be",
    }
    st.dataframe(frame.rename(columns=heads).round(3), hide_index=True)
    st.caption(HOW)
    downloads(frame, "armillary-compare")


def _tallies(
    chosen: Sequence[RunFacts], values: Mapping[str, Sequence[SampleValue]], metric: Metric
) -> None:
    """Sample by sample, who did better: every pair, scenario by scenario."""
    best = metric.direction == "higher"
    rows = [
        {
            "pair": f"{name(first.model, 40)} against {name(second.model, 40)}",
            "scenario": plain(tally.scenario),
            "result": result,
            "count": count,
            "rank": rank,
        }
        for first, second in combinations(chosen, 2)
        for tally in paired.tallies(values[first.run_id], values[second.run_id], best)
        for rank, (result, count) in enumerate(
            (("won", tally.won), ("tied", tally.tied), ("lost", tally.lost))
        )
    ]
    if not rows:
        return
    st.header(
        "Won, tied, lost",
        anchor=False,
        help="Of the samples that both have, how often the first did better.",
    )
    frame = pd.DataFrame(rows)
    draw(charts.tallies(frame), key="tallies")
    downloads(frame.drop(columns="rank"), "armillary-tallies")


def _side_by_side(
    chosen: Sequence[RunFacts], values: Mapping[str, Sequence[SampleValue]], metric: Metric
) -> None:
    st.header("Where they differ most", anchor=False)
    store = open_store(Settings().objects, Settings().s3_endpoint)
    widest, across = paired.widest(values, MOST_SAMPLES), 2 if len(chosen) == 2 else 1
    for row in (widest[start : start + across] for start in range(0, len(widest), across)):
        for column, (sample, apart) in zip(st.columns(across), row, strict=False):
            with column, st.container(border=True, height="stretch"):
                _sample(store, chosen, metric, sample, apart)


def _sample(
    store: Store, chosen: Sequence[RunFacts], metric: Metric, sample: str, apart: float
) -> None:
    """One prompt, and what each entry made of it."""
    items = [ask(samples.item, run, metric.name, sample) for run in chosen]
    prompt = next((item.prompt for item in items if item), "")
    st.caption(f"{escaped(prompt, 300)} ({number(apart, metric.unit)} apart)")
    for column, run, item in zip(st.columns(len(chosen)), chosen, items, strict=True):
        with column:
            if item and (small := thumbnail(store, item.media_sha256, item.media_type)):
                st.image(small, width="stretch", alt=f"Output of {name(run.model, 60)}")
            value = number(item.value if item else None, metric.unit)
            st.markdown(f"{escaped(run.model, 50)}: **{value}**")
            parameters = {"run": run.run_id, "metric": metric.name, "sample": sample}
            link("samples", "Look closer", parameters, ":material/zoom_in:")
