"""The verdict on a judge: its exam, and rows that must do badly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evaluators.contracts import Outcome, Output, Question, Request, Sample
from evaluators.judges.exam.exam import ExamBounds
from evaluators.judges.exam.sight import Lead, SanityRow, sanity_row, surely_above, verdict
from evaluators.judges.scripted import ScriptedJudge, by_hash
from evaluators.media import read_image, sha256_file, write_png
from evaluators.statistics.intervals import Floats
from evaluators.suites.tailor.bank import samples
from evaluators.suites.tailor.exam import EXAM
from evaluators.suites.tailor.sanity import DRAWN, draw_row, yardsticks
from evaluators.suites.tailor.scoring import score
from tests.exams.judges import by_key, result

SEES = result(EXAM, by_key)
TASKS = np.arange(30)


def lead(value: float, *, sure: bool | None) -> Lead:
    return Lead(value, value - 1, 30, sure)


def test_a_judge_without_an_exam_is_not_examined_whatever_the_rows_say() -> None:
    outcome = verdict(None, ExamBounds(), [SanityRow("Black", (lead(9.0, sure=True),))])

    assert outcome.sight == "not examined"


def test_a_row_that_ties_or_beats_the_entries_makes_a_judge_blind() -> None:
    for value in (0.2, -3.0):
        outcome = verdict(SEES, EXAM.bounds, [SanityRow("Black", (lead(value, sure=False),))])

        assert outcome.sight == "blind"
        assert "'Black'" in outcome.reasons[0]


def test_a_junk_entry_does_not_blind_the_judge_of_a_board_that_has_a_good_one() -> None:
    leads = (lead(0.0, sure=False), lead(40.0, sure=True))

    assert verdict(SEES, EXAM.bounds, [SanityRow("Black", leads)]).sight == "sees"


def test_a_board_too_small_to_be_sure_fails_a_judge_only_if_the_row_is_not_behind() -> None:
    ahead, behind = (
        verdict(SEES, EXAM.bounds, [SanityRow("Black", (lead(value, sure=None),))])
        for value in (12.0, -0.5)
    )

    assert (ahead.sight, behind.sight) == ("sees", "blind")


def test_a_lead_is_sure_when_it_is_large_beside_its_spread_between_tasks() -> None:
    random = np.random.default_rng(0)
    entry, black = random.normal(60, 10, 30), random.normal(30, 10, 30)

    assert surely_above(entry, black, TASKS).sure is True
    assert surely_above(black, entry, TASKS).sure is False
    assert surely_above(black, entry, TASKS, higher=False).sure is True
    assert surely_above(entry, entry + random.normal(0, 5, 30), TASKS).sure is False


def test_equal_scores_are_no_lead() -> None:
    equal = np.full(30, 100.0)

    compared = surely_above(equal, equal, TASKS)

    assert (compared.value, compared.sure) == (0.0, False)


def test_with_five_tasks_nothing_is_sure() -> None:
    compared = surely_above(np.linspace(90.0, 94.0, 5), np.zeros(5), np.arange(5))

    assert (compared.clusters, compared.sure) == (5, None)


def test_samples_without_a_value_are_left_out_of_the_pairs() -> None:
    entry, black = np.linspace(50.0, 52.0, 30), np.zeros(30)
    entry[:20] = np.nan

    assert surely_above(entry, black, TASKS).clusters == 10


def test_the_best_of_many_equal_entries_is_not_sure_by_luck() -> None:
    random = np.random.default_rng(1)
    lucky = 0
    for _ in range(30):
        black, *entries = random.normal(50, 10, (13, 30))
        lucky += (
            verdict(SEES, EXAM.bounds, [sanity_row("Black", entries, black, TASKS)]).sight == "sees"
        )

    assert lucky <= 4


@pytest.fixture(scope="module")
def pictures() -> list[Sample]:
    """A picture of each of twelve tasks."""
    by_task = {s.cluster: s for s in samples() if s.facets.modality == "image"}
    return list(by_task.values())[:12]


def test_a_judge_that_passes_the_exam_but_is_taken_in_by_a_text_card_is_blind(
    pictures: list[Sample], tmp_path: Path
) -> None:
    card = draw_row(DRAWN[2], pictures, tmp_path / "card")
    noise = draw_row(DRAWN[1], pictures, tmp_path / "noise")
    outputs = {sample.id: plain(sample, tmp_path / "entry") for sample in pictures}
    entry = values(ScriptedJudge(reads_cards), pictures, outputs)
    tasks = np.arange(len(pictures))

    rows = [
        sanity_row(title, [entry], values(ScriptedJudge(reads_cards), pictures, row), tasks)
        for title, row in (("card", card), ("noise", noise))
    ]
    outcome = verdict(SEES, EXAM.bounds, rows)

    assert outcome.sight == "blind"
    assert any("'card'" in reason for reason in outcome.reasons)


def test_the_same_board_under_a_judge_that_prefers_pictures_passes(
    pictures: list[Sample], tmp_path: Path
) -> None:
    card = draw_row(DRAWN[2], pictures, tmp_path / "card")
    outputs = {sample.id: plain(sample, tmp_path / "entry") for sample in pictures}
    entry, row = (values(ScriptedJudge(likes_colour), pictures, files) for files in (outputs, card))

    rows = [sanity_row("card", [entry], row, np.arange(len(pictures)))]

    assert verdict(SEES, EXAM.bounds, rows).sight == "sees"


def test_rows_that_must_lose_are_sanity_rows_without_the_right_things_in_the_picture() -> None:
    titles = {row.title for row in yardsticks() if row.role == "sanity"}

    assert set(EXAM.must_lose) < titles
    spared = titles - set(EXAM.must_lose)
    assert spared == {"First frame, held still (clip)", "Frames in another order (clip)"}


def reads_cards(request: Request, question: Question) -> str:
    """Yes to what is nearly all white; anything to the rest."""
    if read_image(request.media).mean() > 200:
        return "5" if question.kind == "rating" else "yes"
    return by_hash(request, question)


def likes_colour(request: Request, question: Question) -> str:
    """Yes to colours, with an exception here and there; no to what is black and white."""
    colourful = float(np.ptp(read_image(request.media).mean(axis=(0, 1)))) > 10
    if question.kind == "rating":
        return "4" if colourful else "1"
    return "yes" if colourful and by_hash(request, question) != "unclear" else "no"


def plain(sample: Sample, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    tint = 60 + len(sample.id) % 50
    return write_png(np.full((48, 64, 3), (180, tint, 40), np.uint8), folder / f"{sample.id}.png")


def values(judge: ScriptedJudge, pictures: list[Sample], files: dict[str, Path]) -> Floats:
    """The index of each sample, scored as on the board."""
    requests = [
        Request(s.id, files[s.id], sha256_file(files[s.id]), "image", s.prompt, s.questions)
        for s in pictures
    ]
    indices = []
    for sample, reply in zip(pictures, judge.judge(requests), strict=True):
        answers = {answer.question_id: answer for answer in reply.answers}
        scored = score(sample, Output(sample.id, Outcome.SCORED, files[sample.id]), answers)
        indices.append(next(s.value for s in scored if s.metric == "index"))
    return np.array(indices, np.float64)
