"""Judges of the real classes sit exams with real media."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluators.contracts import Question, Request
from evaluators.judges.exam.competence import competence
from evaluators.judges.exam.sight import verdict
from evaluators.judges.exam.sitting import sit
from evaluators.judges.scripted import ScriptedJudge
from evaluators.media import probe
from evaluators.suites.tailor.exam.clips import CLIPS
from evaluators.suites.tailor.exam.photographs import PHOTOGRAPHS
from evaluators.suites.tailor.exam.pictures import PICTURES
from tests.exams.judges import EXAMS, by_key, rule
from tests.exams.pixels import PixelReader


@pytest.mark.parametrize("name", EXAMS)
def test_media_are_there_when_asked_about_and_gone_afterwards(name: str, tmp_path: Path) -> None:
    exam = EXAMS[name]
    looked: list[Path] = []
    answer = rule(exam, by_key)

    def look(request: Request, question: Question) -> str:
        facts = probe(request.media)
        assert facts.kind == request.modality and facts.frames == (
            16 if facts.kind == "video" else 1
        )
        looked.append(request.media)
        return answer(request, question)

    marked = sit(exam, ScriptedJudge(look), tmp_path, exam.items()[:25])

    assert len(set(looked)) == 25
    assert not any(path.exists() for path in looked) and not list(tmp_path.iterdir())
    assert all(mark.answer == mark.right for mark in marked if not mark.twin)


def test_a_judge_that_has_only_pixels_to_go_by_sees() -> None:
    exam, families = EXAMS["tailor"], (*PICTURES, PHOTOGRAPHS, CLIPS[0])
    names = {family.name for family in families}
    items = [item for item in exam.items() if not item.twin and item.scene["name"] in names]

    reached = competence(
        sit(exam, ScriptedJudge(PixelReader(families).answer), items=items), exam.menu
    )

    assert reached.n == 260
    assert reached.agreement.value is not None and reached.agreement.value > 0.97
    assert verdict(reached, exam.bounds).sight == "sees"


@pytest.mark.parametrize("name", EXAMS)
def test_a_model_with_random_weights_is_found_blind(name: str, tmp_path: Path) -> None:
    from evaluators.models.small import make_paligemma
    from evaluators.models.vlm.judge import VlmJudge

    exam = EXAMS[name]
    judge = VlmJudge(make_paligemma(tmp_path / "model"), frames="uniform-4")

    reached = competence(sit(exam, judge, tmp_path, exam.items()[::3]), exam.menu)

    assert reached.answer_rate == 1.0
    assert verdict(reached, exam.bounds).sight == "blind"
