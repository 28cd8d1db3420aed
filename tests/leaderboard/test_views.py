"""Every page draws, on a full board, an empty one and none at all; and the choice is in its
address."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra.db import migrate
from infra.settings import Settings
from tests.leaderboard.pages import VIEWS, models_of, opened, tables_of, whole_app, words_of


@pytest.mark.parametrize("view", VIEWS)
def test_every_page_draws_on_a_full_board(view: str, at_board: Settings) -> None:
    page = opened(view)

    assert not page.exception
    assert page.title[0].value


@pytest.mark.parametrize("view", VIEWS)
def test_every_page_draws_on_a_board_without_rows(
    view: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARMILLARY_HOME", str(tmp_path))
    migrate(Settings().database)

    page = opened(view)

    assert not page.exception
    assert page.title[0].value


def test_without_a_database_the_page_says_what_to_do_and_makes_none(at_nothing: Settings) -> None:
    page = whole_app()

    assert not page.exception
    assert "armillary init" in words_of(page)
    assert not at_nothing.home.exists()


def test_the_ranking_puts_the_whole_choice_into_its_address(at_board: Settings) -> None:
    page = opened("ranking", suite="sc3")

    assert page.query_params["scenario"] == "in_distribution"
    assert page.query_params["task"] == "pooled"
    assert page.query_params["metric"] == "pearson_r"


def test_a_link_restores_the_choice(at_board: Settings) -> None:
    page = opened(
        "ranking",
        suite="tailor",
        metric="physical_realism",
        scenario="impossible",
        by="human",
        q="aurora",
    )

    shown = {button.label for button in page.menu_button}
    assert shown >= {
        "Metric: **Physical realism ↑**",
        "Scenario: **Impossible**",
    }
    assert page.selectbox(key="pick-by").value == "human"
    assert page.text_input[0].value == "aurora"


def test_choosing_another_suite_moves_to_where_it_has_figures(at_board: Settings) -> None:
    page = opened("ranking", suite="tailor", scenario="impossible", task="cut")

    page.segmented_control[0].set_value("sc3").run()

    assert not page.exception
    assert page.query_params["suite"] == "sc3"
    assert page.query_params["task"] == "pooled"


def test_choosing_another_metric_keeps_what_it_can_of_the_address(at_board: Settings) -> None:
    page = opened(
        "ranking",
        suite="sc3",
        metric="psnr",
        scenario="out_of_distribution",
        setting="offline",
        modality="video",
    )

    page.menu_button(key="menu-metric").click("pearson_r").run()

    assert page.query_params["scenario"] == "out_of_distribution"
    assert page.query_params["setting"] == "offline"
    assert page.query_params["task"] == "pooled"


def test_an_empty_address_says_where_figures_are(at_board: Settings) -> None:
    page = opened(
        "ranking",
        suite="sc3",
        metric="pearson_r",
        scenario="*",
        task="*",
        setting="*",
        modality="*",
    )

    assert "Nothing stands at this address" in words_of(page)
    page.button(key="offer-0").click().run()
    assert "Nothing stands at this address" not in words_of(page)


def test_ranked_entries_and_published_figures_stand_in_tables_of_their_own(
    at_board: Settings,
) -> None:
    page = opened(
        "ranking",
        suite="tailor",
        metric="instruction_adherence",
        scenario="regular",
        setting="predictive",
        modality="video",
    )

    judged, published = tables_of(page)
    assert judged[0]["Rank"].startswith("1")
    assert "Sora-2" not in models_of(judged)
    assert "Sora-2" in models_of(published)
    assert "Rank" not in published[0]
    assert {row["Source"].split("|")[0] for row in published} == {
        "TailOR (arXiv 2606.24256), Table 2"
    }


def test_a_partial_entry_is_shown_without_a_rank_and_says_why(at_board: Settings) -> None:
    judged = tables_of(opened("ranking", suite="tailor", scenario="*", task="*"))[0]

    row = next(row for row in judged if "Dune (partial entry)" in row["Model"])
    assert row["Rank"] == "–"
    assert "handed in as partial" in row["Model"]


def test_samples_come_in_pages_of_twenty_four(at_board: Settings) -> None:
    page = opened("samples", run="run-aurora-auto")

    assert "60 samples, page 1 of 3" in words_of(page)
    page.pagination[0].set_value(3).run()
    assert "page 3 of 3" in words_of(page)


def test_one_sample_shows_prompt_questions_answers_and_raw_reply(at_board: Settings) -> None:
    page = opened("samples", run="run-aurora-auto", sample="cut_garden_twine.0.predictive.image")

    answers = page.dataframe[0].value
    assert "Thick brown jute twine" in words_of(page)
    assert list(answers.columns[:4]) == ["Part", "Question", "Dice judge", "Reason of Dice judge"]
    assert "Three people" in answers.columns
    assert "entity_1: " in words_of(page)


def test_failures_say_why_there_is_no_picture(at_board: Settings) -> None:
    page = opened("samples", run="run-cirrus-auto", show="failures")

    assert "3 samples" in words_of(page)
    assert "out of memory" in words_of(page)


def test_where_judge_and_people_differ_can_be_listed(at_board: Settings) -> None:
    differing = opened("samples", run="run-aurora-auto", show="disagreements")
    alone = opened("samples", run="run-basalt-auto", show="disagreements")

    assert "60 samples" in words_of(differing)
    assert "0 samples" in words_of(alone)


def test_a_failed_submission_says_whose_fault_and_what_to_do(at_board: Settings) -> None:
    page = opened("submit", id="sub-open1")

    assert "E\\_MEDIA" in page.error[0].value
    assert "Save them again as PNG" in words_of(page)
    assert "mended by you" in page.error[0].value


def test_comparing_two_entries_gives_a_paired_difference(at_board: Settings) -> None:
    page = opened("compare", runs="run-aurora-auto,run-dune00-auto")

    row = page.dataframe[0].value.iloc[0]
    assert row["Difference"] > 0
    assert row["From"] < row["Difference"] < row["To"]


def test_the_grid_of_a_paper_marks_the_best_of_judge_and_people(at_board: Settings) -> None:
    grid = opened("papers", suite="tailor").dataframe[0].value

    first = grid[
        (grid["Setting"] == "Predictive")
        & (grid["Modality"] == "Video")
        & (grid["Model"] == "Sora-2")
    ].iloc[0]
    assert first["Regular · Instruction adherence"] == "●66 / ◆83"


def test_the_last_night_is_told_on_the_front_page_and_in_full_on_the_system_page(
    at_board: Settings,
) -> None:
    front, system = words_of(opened("overview")), opened("system")

    assert "2 figures moved" in front
    assert "80\\.1 → 79\\.6" in front
    assert set(system.dataframe[1].value["Model"]) == {"Aurora Video 2", "Basalt-XL"}


def test_a_judges_page_has_alpha_with_its_interval_and_a_line_of_drift(at_board: Settings) -> None:
    page = opened("judges")

    shown = {one.label: one for one in page.metric}
    assert " to " in shown["Krippendorff's alpha"].delta
    assert "Drift" in words_of(page)


def test_methods_hold_the_judges_prompts_and_the_changelog(at_board: Settings) -> None:
    text = words_of(opened("methods", suite="tailor"))

    assert "Prompts of the judges" in text and "Changelog" in text
    assert "SHA-256" in text


def test_open_and_closed_weights_can_be_told_apart(at_board: Settings) -> None:
    closed = tables_of(opened("ranking", suite="tailor", scenario="*", weights="closed"))[0]

    assert models_of(closed) == ["Basalt-XL"]


def test_two_facets_at_once_are_drawn_for_one_entry(at_board: Settings) -> None:
    page = opened("gaps", suite="universe")

    assert not page.exception
    assert "Two facets at once" in words_of(page)


def test_the_remembered_board_stands_when_the_database_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    from tests.leaderboard.made_board import make

    monkeypatch.setenv("ARMILLARY_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("leaderboard.cache.reader.KEEP_SECONDS", 0.0)
    make(Settings(), ())
    before = whole_app()
    shutil.rmtree(tmp_path / "home")

    after = before.run()

    assert not after.exception
    assert "What you see is the board as it was" in words_of(after)
    assert "TailOR" in words_of(after)
