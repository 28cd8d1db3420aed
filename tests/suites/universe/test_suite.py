"""The suite: what is asked, how answers are scored, and what stands there to measure against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from evaluators.aggregate.cells import cells
from evaluators.contracts import ALL, Facets, Outcome, Output, Sample
from evaluators.media import Pixels
from evaluators.suites.universe import SUITE, baselines
from evaluators.suites.universe.bank import FILE, SPACE, read_rows
from evaluators.suites.universe.producing import Answers
from evaluators.suites.universe.scoring import score
from evaluators.worlds.doom import truth
from evaluators.worlds.doom.places import place_named

SAMPLES = SUITE.samples()
ROWS = list(read_rows(FILE))
HOME = [sample for sample in SAMPLES if SUITE.subsets["home"](sample)]
SEEN = {"action_recognition": SPACE.actions, "character_recognition": SPACE.characters}


def sample(task: str, form: str, answer: str = "") -> Sample:
    return next(
        one
        for one in HOME
        if (one.facets.task, one.facets.setting) == (f"{task}_recognition", form)
        and answer in ("", one.reference["answer"])
    )


def said(one: Sample, words: str) -> Output:
    return Output(one.id, Outcome.SCORED, record={"value": words})


def value(answers: dict[str, str], metric: str, task: str = ALL, form: str = ALL) -> float | None:
    """A cell of the adaptation environment for these answers."""
    scores = [
        one for s in HOME for one in score(s, said(s, answers[s.id]), {}) if one.metric == metric
    ]
    wanted = Facets("environment_1", task, form, "text")
    found = cells([one for one in SUITE.metrics if one.name == metric], HOME, scores, resamples=0)
    return next(cell.value for cell in found if cell.facets == wanted)


def test_a_clip_has_two_yes_no_questions_or_four_others_and_environments_are_eight() -> None:
    formats: dict[str, list[str]] = {}
    for one in SAMPLES:
        formats.setdefault(one.cluster, []).append(one.facets.setting)

    assert {tuple(sorted(kinds)) for kinds in formats.values()} == {
        ("binary",) * 2,
        ("multiple_choice",) * 2 + ("open_ended",) * 2,
    }
    assert Counter(row.clip.environment for row in ROWS) == {
        "environment_1": 128,
        **{f"environment_{number}": 32 for number in range(2, 9)},
    }


def test_every_action_occurs_as_often_as_any_other_in_every_environment() -> None:
    for number in range(1, 9):
        here = [row for row in ROWS if row.clip.environment == f"environment_{number}"]

        assert len(set(Counter(row.action for row in here).values())) == 1
        assert max(Counter(row.character for row in here).values()) <= 11


def test_the_eighth_environment_is_the_first_at_low_resolution() -> None:
    low, home = (
        next(row for row in ROWS if row.clip.environment == f"environment_{n}") for n in (8, 1)
    )

    assert low.clip.frames().shape == (14, 128, 128, 3)
    assert home.clip.frames().shape == (14, 180, 300, 3)
    assert place_named("environment_8").map == place_named("environment_1").map


def test_the_truth_of_a_sample_is_what_the_game_says_of_its_clip() -> None:
    row = next(row for row in ROWS if not row.binary)
    played = row.clip.played()

    controls, states = (rows[row.clip.take] for rows in (played.controls, played.states))

    assert truth.action_of(controls, states) == row.action
    assert truth.character_of(states) == row.character
    assert {row.action, row.character} == {
        one.reference["answer"] for one in SAMPLES if one.cluster == row.id
    }


def test_a_right_answer_is_worth_100_however_it_is_written() -> None:
    one = sample("action", "open_ended", "moving left")
    found = {
        s.metric: s.value
        for s in score(one, said(one, f" {str(one.reference['answer']).upper()}."), {})
    }

    assert found["em_normalised"] == found["rouge_f1"] == found["rouge1"] == found["rougel"] == 100
    assert found["em_strict"] == 0


def test_a_wrong_answer_gets_no_match_but_the_words_it_shares() -> None:
    one = sample("action", "open_ended", "moving left")
    found = {s.metric: s.value for s in score(one, said(one, "moving right"), {})}

    assert found["em_normalised"] == found["rouge_f1"] == 0
    assert found["rouge1"] == pytest.approx(50)


def test_all_right_is_100_and_a_constant_yes_is_exactly_50() -> None:
    truth = {one.id: str(one.reference["answer"]) for one in HOME}

    assert value(truth, "score") == 100
    assert (
        value(baselines.majority(HOME, SEEN), "em_normalised", "action_recognition", "binary") == 50
    )
    assert (
        value(baselines.majority(HOME, SEEN), "rouge_f1", "character_recognition", "binary") == 50
    )


def test_the_task_score_weighs_the_three_formats_alike() -> None:
    only_open = {
        one.id: str(one.reference["answer"]) if one.facets.setting == "open_ended" else "?"
        for one in HOME
    }

    assert value(only_open, "score", "action_recognition") == pytest.approx(100 / 3)
    assert value(only_open, "em_normalised", "action_recognition") == pytest.approx(100 / 3)


def test_chance_is_near_what_the_menus_allow_and_is_the_same_every_time() -> None:
    found = baselines.chance(HOME)

    assert found == baselines.chance(HOME)
    assert 3 < (value(found, "score", "action_recognition", "open_ended") or 0) < 24
    assert 1 < (value(found, "score", "character_recognition", "open_ended") or 0) < 17
    assert all(found[one.id] in baselines.menu(one) for one in HOME)


def test_the_majority_class_is_the_most_frequent_label_of_training() -> None:
    seen = {
        "action_recognition": ["jumping", "moving left", "jumping"],
        "character_recognition": ["Imp"],
    }

    found = baselines.majority(HOME, seen)

    assert found[sample("action", "multiple_choice").id] == "jumping"
    assert found[sample("character", "open_ended").id] == "Imp"
    assert found[sample("action", "binary", "no").id] == "yes"


def test_clip_score_takes_the_label_of_most_frames_and_of_equals_the_nearer_one() -> None:
    assert baselines.nearest(np.array([[0.1, 0.2], [0.1, 0.2], [0.9, 0.0]])) == 1
    assert baselines.nearest(np.array([[0.1, 0.2], [0.9, 0.0]])) == 0


def test_clip_score_answers_all_questions_of_a_clip_from_one_choice() -> None:
    menus = sample("action", "multiple_choice").cluster
    four = [one for one in SAMPLES if one.cluster == menus]
    binary = [one for one in SAMPLES if one.cluster == sample("action", "binary").cluster]

    def third(frames: Pixels, texts: Sequence[str]) -> NDArray[np.float64]:
        return np.eye(len(texts))[[2] * len(frames)]

    found = baselines.clip_score([*four, *binary], third)

    assert {found[one.id] for one in four} == {SPACE.actions[2], SPACE.characters[2]}
    assert {found[one.id] for one in binary} <= {"yes", "no"}


def test_an_answer_about_a_clip_is_a_text_file_and_an_empty_one_is_the_models_failure(
    tmp_path: Path,
) -> None:
    names = (sample("action", "binary").cluster, sample("action", "open_ended").cluster)
    six = [one for name in names for one in SAMPLES if one.cluster == name]
    asked_together: list[int] = []

    def answer(frames: np.ndarray, questions: list[str]) -> list[str]:
        asked_together.append(len(questions))
        return ["yes", " "] * (len(questions) // 2)

    made = list(Answers(answer, {"frames_rule": "uniform-2"}).generate(six, tmp_path))  # type: ignore[arg-type]

    assert asked_together == [2, 4]
    assert made[0].file is not None and made[0].file.read_text() == "yes"
    assert made[1].outcome is Outcome.MODEL_FAILED
    assert made[0].beside == made[1].beside != made[2].beside
    assert made[0].beside["clip"].is_file()
