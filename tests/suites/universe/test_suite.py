"""The suite: what is asked, how answers are scored, and what stands there to measure against."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from evaluators.aggregate.cells import cells
from evaluators.contracts import ALL, Facets, Outcome, Output, Sample
from evaluators.suites.universe import SUITE, baselines
from evaluators.suites.universe.bank import CLIPS, SPACE, clip_of, clips, questions_of
from evaluators.suites.universe.producing import Answers
from evaluators.suites.universe.scoring import score

SAMPLES = SUITE.samples()
HOME = [sample for sample in SAMPLES if SUITE.subsets["home"](sample)]
SEEN = {"action_recognition": SPACE.actions, "character_recognition": SPACE.characters}


def sample(kind: str) -> Sample:
    return next(one for one in SAMPLES if one.id.endswith(kind))


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


def test_every_clip_has_eight_questions_and_environments_are_eight() -> None:
    assert len(SAMPLES) == 8 * sum(CLIPS.values())
    assert set(Counter(one.cluster for one in SAMPLES).values()) == {8}
    assert {one.facets.scenario for one in SAMPLES} == {
        f"environment_{number}" for number in range(1, 9)
    }


def test_the_eighth_environment_is_the_first_at_low_resolution() -> None:
    low, home = clips()["environment_8.000"], clips()["environment_1.000"]

    assert low.frames().shape == (14, 128, 128, 3)
    assert home.frames().shape == (14, 180, 300, 3)
    assert low.play.environment == home.play.environment


def test_the_truth_of_a_sample_is_what_is_played_in_its_clip() -> None:
    for one in SAMPLES[:64]:
        played = clip_of(one).play
        truth = {"ar_oe": played.turns[0].action, "cr_oe": played.character}.get(
            one.id.rpartition(".")[2]
        )

        assert truth is None or one.reference["answer"] == truth
        assert one.prompt in {pair.question for pair in questions_of(clip_of(one))}


def test_a_right_answer_is_worth_100_however_it_is_written() -> None:
    one = sample("ar_oe")
    found = {
        s.metric: s.value
        for s in score(one, said(one, f" {str(one.reference['answer']).upper()}."), {})
    }

    assert found["em_normalised"] == found["rouge_f1"] == found["rouge1"] == found["rougel"] == 100
    assert found["em_strict"] == 0


def test_a_wrong_answer_gets_no_match_but_the_words_it_shares() -> None:
    one = next(
        s for s in SAMPLES if s.id.endswith("ar_oe") and s.reference["answer"] == "evading left"
    )
    found = {s.metric: s.value for s in score(one, said(one, "evading right"), {})}

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
    assert value(only_open, "em_normalised", "action_recognition") == pytest.approx(25)


def test_chance_is_near_what_the_menus_allow_and_is_the_same_every_time() -> None:
    found = baselines.chance(HOME)

    assert found == baselines.chance(HOME)
    assert 3 < (value(found, "score", "action_recognition", "open_ended") or 0) < 24
    assert 1 < (value(found, "score", "character_recognition", "open_ended") or 0) < 17
    assert all(found[one.id] in baselines.menu(one) for one in HOME)


def test_the_majority_class_is_the_most_frequent_label_of_training() -> None:
    seen = {
        "action_recognition": ["jumping up", "evading left", "jumping up"],
        "character_recognition": ["Kulu"],
    }

    found = baselines.majority(HOME, seen)

    assert found[sample("ar_mc").id] == "jumping up"
    assert found[sample("cr_oe").id] == "Kulu"
    assert found[sample("ar_binary_neg").id] == "yes"


def test_clip_score_takes_the_label_of_most_frames_and_of_equals_the_nearer_one() -> None:
    assert baselines.nearest(np.array([[0.1, 0.2], [0.1, 0.2], [0.9, 0.0]])) == 1
    assert baselines.nearest(np.array([[0.1, 0.2], [0.9, 0.0]])) == 0


def test_clip_score_answers_all_questions_of_a_clip_from_one_choice() -> None:
    four = [one for one in SAMPLES if one.cluster == "environment_1.000"]

    found = baselines.clip_score(four, lambda frames, texts: np.eye(len(texts))[[2] * len(frames)])

    assert found[four[3].id] == SPACE.actions[2]
    assert found[four[7].id] == SPACE.characters[2]
    assert {found[four[i].id] for i in (0, 1, 4, 5)} <= {"yes", "no"}


def test_an_answer_about_a_clip_is_a_text_file_and_an_empty_one_is_the_models_failure(
    tmp_path: Path,
) -> None:
    asked_together: list[int] = []

    def answer(frames: np.ndarray, questions: list[str]) -> list[str]:
        asked_together.append(len(questions))
        return ["yes", " "] * (len(questions) // 2)

    made = list(Answers(answer, {"frames_rule": "uniform-2"}).generate(SAMPLES[:16], tmp_path))  # type: ignore[arg-type]

    assert asked_together == [8, 8]
    assert made[0].file is not None and made[0].file.read_text() == "yes"
    assert made[1].outcome is Outcome.MODEL_FAILED
    assert made[0].beside == made[7].beside != made[8].beside
    assert made[0].beside["clip"].is_file()
