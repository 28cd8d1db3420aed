"""A lesson in the words of the board of worlds is, token by token, what a judge reads there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evaluators.contracts import Request, Sample
from evaluators.media import read_frames, write_mp4
from evaluators.models.adapt.batches import Judged, Lesson
from evaluators.models.adapt.chat import teacher_of
from evaluators.models.vlm.adapter import packaged_base
from evaluators.models.vlm.judge import VlmJudge
from evaluators.suites.universe.bank import SPACE
from evaluators.suites.universe.boards.worlds.bank import CHOICE, YES_NO, samples, subject_of
from evaluators.suites.universe.boards.worlds.scoring import label_of
from evaluators.suites.universe.mixture import board_words
from evaluators.suites.universe.questions import BINARY, DESCRIPTION, OPEN, TASKS
from tests.models.published_vlms import make_published


@pytest.fixture(params=["packaged", "smolvlm", "qwen2_5_vl"])
def base(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "packaged":
        return packaged_base()
    return make_published(request.param, tmp_path / request.param)


def as_lessons_ask(sample: Sample) -> list[tuple[str, str, tuple[str, ...]]]:
    """Question, answer and menu of what lessons would ask about the same, in the board's words."""
    asked = []
    for task in TASKS:
        if sample.facets.setting == CHOICE:
            found = board_words(task, "open_ended", OPEN[task], SPACE)
            asked.append((found.text, label_of(sample, subject_of(task)), found.menu))
            continue
        for question in sample.questions:
            if any(question.text == BINARY[task].format(label=one) for one in SPACE.of(task)):
                found = board_words(task, "binary", question.text, SPACE)
                asked.append((found.text, "yes", found.menu))
    return asked


@pytest.mark.parametrize("kind", [YES_NO, CHOICE])
def test_the_tokens_of_a_lesson_are_those_that_the_judge_of_the_board_reads(
    kind: str, base: Path, tmp_path: Path
) -> None:
    sample = next(sample for sample in samples() if sample.facets.setting == kind)
    noise = np.random.default_rng(0).integers(0, 256, (4, 32, 32, 3), dtype=np.uint8)
    clip = write_mp4(noise, tmp_path / "clip.mp4", 10)
    judge = VlmJudge(base, frames="uniform-4")
    questions = as_lessons_ask(sample)
    lesson = Lesson(
        read_frames(clip),
        tuple((text, answer) for text, answer, _ in questions),
        Judged(DESCRIPTION, tuple(menu for _, _, menu in questions)),
    )

    taught = teacher_of(judge.family.model, judge.family.processor).packer.read(lesson)
    request = Request(sample.id, clip, "", "video", sample.prompt, sample.questions)
    read = judge._prepare(request)

    assert not read.problem and len(taught.questions) == len(sample.questions)
    assert getattr(taught, "prefix", ()) == getattr(read.clip, "prefix", ())
    assert [asked for asked, _ in taught.questions] == [ask.tokens for ask in read.clip.asks]
    for (_, answer), (_, words, menu), told in zip(
        taught.questions, questions, read.menus, strict=True
    ):
        assert told.options == menu
        assert answer[: len(told.tokens[menu.index(words)])] == told.tokens[menu.index(words)]
