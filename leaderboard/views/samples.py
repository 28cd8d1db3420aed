"""Samples: from a number to what is behind it. Prompt, picture or clip, every question with the
judge's answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from infra.settings import Settings
from infra.store import Store, open_store
from infra.tables import Metric
from leaderboard.draw.frames import answer_table, item_table
from leaderboard.draw.words import escaped, long_text, name, number, plain, titled
from leaderboard.panels import Picture, SampleView, input_picture, output_picture, panel_of
from leaderboard.queries import addresses, ranking, samples
from leaderboard.queries.ranking import ALL, FACETS, BoardAddress
from leaderboard.queries.samples import PAGE, SHOWS, JudgeAnswer, RunFacts, ScoredSample, Show
from leaderboard.selection.settle import best_runs
from leaderboard.widgets.board_strip import board_strip
from leaderboard.widgets.common import ask, downloads, press
from leaderboard.widgets.menus import menu
from leaderboard.widgets.thumbnails import media, thumbnail
from submissions.media.derivatives import public_file

ACROSS = 4
WORDS = {
    "all": "All",
    "lowest": "Lowest first",
    "highest": "Highest first",
    "failures": "Failures",
    "disagreements": "Judge and people differ",
    "flagged": "Flagged",
}


def page() -> None:
    """Draw the samples of a run at one address, or all about one sample."""
    st.title("Samples")
    runs = {run.run_id: run for run in ask(samples.runs)}
    if not runs:
        st.info(
            "Here stand the outputs of an entry, one tile a sample, with every question and the "
            "judge's answer. No entry judged by us is on the board yet: `armillary demo` makes "
            "some, and the page Submit says how to hand one in.",
            icon=":material/info:",
        )
        return
    params = st.query_params.to_dict()
    front = (runs[run_id] for run_id in ask(best_runs) if run_id in runs)
    run = runs.get(params.get("run", "")) or next(front, next(iter(runs.values())))
    suite_metrics, scored = ask(ranking.metrics, run.suite), ask(samples.scored_metrics, run.run_id)
    metrics = {candidate.name: candidate for candidate in suite_metrics if candidate.name in scored}
    if not metrics:
        st.info("No score of this entry is kept sample by sample.", icon=":material/info:")
        return
    metric = metrics.get(params.get("metric", ""), next(iter(metrics.values())))
    _choose(
        run,
        list(runs.values()),
        {candidate.name: candidate.title for candidate in metrics.values()},
        metric.name,
        params,
    )
    whole = next(
        (
            candidate
            for candidate in suite_metrics
            if candidate.name == params.get("metric") and candidate.name not in metrics
        ),
        None,
    )
    if whole:
        st.caption(
            f"{escaped(whole.title)} is one figure over many samples. Shown of each: "
            f"{escaped(metric.title)}."
        )
    board_strip([run])
    if params.get("sample"):
        _sample(run, metric, params["sample"])
    else:
        _samples(run, metric.name, metric.unit, params)


def _choose(
    run: RunFacts,
    runs: Sequence[RunFacts],
    metrics: dict[str, str],
    metric: str,
    params: dict[str, str],
) -> None:
    titles = {
        listed.run_id: f"{name(listed.model, 50)} · {name(listed.judge_name, 30)}"
        for listed in runs
    }
    with st.container(horizontal=True):
        menu("run", "Entry", list(titles), run.run_id, titles.__getitem__, then=_first_page)
        menu("metric", "Metric", list(metrics), metric, metrics.__getitem__, then=_first_page)
        order, called = ask(addresses.facet_order, run.suite), ask(ranking.facet_titles, run.suite)
        for facet in [facet for facet in FACETS if len(order[facet]) > 1]:
            menu(
                facet,
                called.get(facet, plain(facet)),
                [ALL, *order[facet]],
                params.get(facet, ALL),
                then=_first_page,
            )


def _first_page(params: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in params.items() if key not in ("page", "sample")}


def _leave() -> None:
    st.query_params.from_dict(_first_page(st.query_params.to_dict()))


def _samples(run: RunFacts, metric: str, unit: str, params: dict[str, str]) -> None:
    show: Show = next((option for option in SHOWS if option == params.get("show")), "all")
    press("show", "Show", SHOWS, show, WORDS.__getitem__, then=_first_page)
    at = BoardAddress(**{facet: params.get(facet, ALL) for facet in FACETS})
    number_ = _page_number(params.get("page", ""))
    items = ask(samples.items, run, metric, at, show, number_)
    pages = max(1, -(-items.total // PAGE))
    st.caption(f"{items.total} samples, page {min(number_, pages)} of {pages}.")
    store = open_store(Settings().objects, Settings().s3_endpoint)
    for row in (items.page[start : start + ACROSS] for start in range(0, len(items.page), ACROSS)):
        for column, item in zip(st.columns(ACROSS), row, strict=False):
            with column:
                _tile(run, metric, unit, item, store)
    if pages > 1:
        _pages(min(number_, pages), pages)
    if items.page:
        downloads(item_table(items.page), f"armillary-{run.run_id}-{metric}")


def _page_number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < len(str(samples.MOST_PAGES)) else 1


def _pages(now: int, pages: int) -> None:
    key = f"turn-{now}-{pages}"
    st.pagination(pages, default=now, key=key, on_change=_turn, args=(key,))


def _turn(key: str) -> None:
    st.query_params["page"] = str(st.session_state[key])


def _tile(run: RunFacts, metric: str, unit: str, item: ScoredSample, store: Store) -> None:
    with st.container(border=True):
        small = thumbnail(store, item.media_sha256, item.media_type) if item.media_sha256 else None
        if small:
            st.image(small, width="stretch", alt=f"Output for: {name(item.prompt, 200)}")
        else:
            st.caption(f"No picture: {escaped(plain(item.outcome))}. {escaped(item.reason, 100)}")
        score = number(item.value, unit) if item.value is not None else escaped(plain(item.scored))
        at = " · ".join(plain(value) for value in (item.scenario, item.task, item.setting))
        st.markdown(f"**{score}** {escaped(at)}")
        st.caption(escaped(item.prompt, 140))
        key = f"look-{item.sample_id}"
        st.button(
            "Look closer",
            key=key,
            icon=":material/zoom_in:",
            on_click=_open,
            args=(run.run_id, metric, item.sample_id),
        )


def _open(run: str, metric: str, sample: str) -> None:
    st.query_params.from_dict({"run": run, "metric": metric, "sample": sample})


def _sample(run: RunFacts, metric: Metric, sample_id: str) -> None:
    item = ask(samples.item, run, metric.name, sample_id)
    if item is None:
        st.warning("This entry has no such sample. Choose another above.")
        st.button("All samples", on_click=_leave, icon=":material/grid_view:")
        return
    st.button("All samples of this entry", on_click=_leave, icon=":material/grid_view:")
    record, detail = ask(samples.stored_details, run, item.sample_id)
    view = SampleView(run, item, record, detail, _fetched)
    _frame(view, metric, input_picture(view))
    for kind, text in ask(samples.flags, run, sample_id):
        st.warning(f"{escaped(plain(kind))}: {escaped(text, 500)}", icon=":material/flag:")
    draw = panel_of(run.suite)
    if draw:
        draw(view)
    _answers(ask(samples.answers, run, sample_id))


def _frame(view: SampleView, metric: Metric, source_picture: Picture | None) -> None:
    """Draw what every sample has: prompt, score, input picture and output."""
    item = view.item
    words, *pictures = st.columns([3, 3, 4] if source_picture else [2, 3])
    with words:
        st.caption("Prompt")
        st.text(long_text(item.prompt))
        value = number(item.value, metric.unit) if item.value is not None else plain(item.scored)
        st.metric(titled(metric.title, metric.unit), value)
        st.caption(
            f"{plain(item.scenario)} · {plain(item.task)} · {plain(item.setting)} · "
            f"{plain(item.modality)}"
        )
        st.caption(f"Sample {escaped(item.sample_id, 200)}")
    if source_picture:
        with pictures[0]:
            st.caption("Input")
            _draw_picture(source_picture, item)
    with pictures[-1]:
        st.caption("Output")
        if ending := output_picture(view):
            _draw_picture(ending, item)
        _show(item)


def _draw_picture(picture: Picture, item: ScoredSample) -> None:
    st.image(
        picture.picture,
        picture.words,
        width="stretch",
        alt=f"{picture.words}: {name(item.prompt, 200)}",
    )


def _fetched(sha256: str) -> Path | None:
    settings = Settings()
    return media(
        open_store(settings.objects, settings.s3_endpoint), sha256, settings.work / "page-media"
    )


def _encoded_again(item: ScoredSample) -> Path | None:
    """What people see of media: the pixels alone, in one format."""
    settings = Settings()
    store = open_store(settings.objects, settings.s3_endpoint)
    derivative = public_file(
        store, item.media_sha256, item.media_type, settings.work / "page-media"
    )
    return derivative.path if derivative else None


def _show(item: ScoredSample) -> None:
    """The output itself; a clip is fetched only here, when somebody looks."""
    if not item.media_sha256:
        st.info(f"There is no output: {plain(item.outcome)}. {escaped(item.reason, 300)}")
        return
    path = (
        _encoded_again(item)
        if item.media_type.startswith(("image/", "video/"))
        else _fetched(item.media_sha256)
    )
    if path is None:
        st.warning("The file cannot be fetched from the store now.")
    elif item.media_type in ("text/plain", "application/json"):
        st.code(long_text(path.read_text("utf-8", "replace")), language=None, wrap_lines=True)
    elif item.media_type.startswith("video/"):
        st.video(
            path,
            format="video/mp4",
            loop=True,
            muted=True,
            alt=f"Output for: {name(item.prompt, 200)}",
        )
    elif item.media_type.startswith("image/"):
        st.image(str(path), width="stretch", alt=f"Output for: {name(item.prompt, 200)}")
    st.caption(f"SHA-256 {item.media_sha256}")


def _answers(answers: Sequence[JudgeAnswer]) -> None:
    st.header("Questions and answers", anchor=False)
    if not answers:
        st.caption(
            "Nobody was asked about this output as a whole: a rule scores it, or its pieces are "
            "judged."
        )
        return
    st.dataframe(answer_table(answers), hide_index=True, placeholder="—")
    for judge in dict.fromkeys(answer.judge for answer in answers):
        raw = next(answer.raw for answer in answers if answer.judge == judge)
        with st.expander(f"Raw reply of {escaped(judge, 60)}"):
            st.code(long_text(raw) or "(empty)", language=None, wrap_lines=True)
