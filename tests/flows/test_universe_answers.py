"""A model that nobody can hand in answers UNIVERSE's questions in words, over a stop and a failure,
and its answers become a bundle."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from evaluators.contracts import Answer, Outcome, Question, Reply, Request
from evaluators.media import read_frames
from evaluators.models.vlm.adapter import packaged_base
from evaluators.suites import suite_named
from evaluators.suites.universe.bank import in_demo
from flows.run.catalogue import from_code
from flows.suites.judges.answers import ask
from infra.settings import Settings
from submissions.bundle.check import check
from submissions.tools.import_answers import import_answers
from tests.bundles import declaration
from tests.command import Machine

DEMO = [sample.id for sample in suite_named("universe").samples() if in_demo(sample)]


@dataclass
class FarModel:
    """Answers every question in words, but for those that fail; it keeps what it was asked."""

    fails: Callable[[Question], bool] = lambda _question: False
    asked: list[Request] = field(default_factory=list)
    frames: set[int] = field(default_factory=set)

    def judge(self, requests: Sequence[Request]) -> Iterator[Reply]:
        for request in requests:
            self.asked.append(request)
            self.frames.add(len(read_frames(request.media)))
            yield Reply(request.sample_id, tuple(map(self._answer, request.questions)))

    def _answer(self, question: Question) -> Answer:
        if self.fails(question):
            return Answer(question.id, Outcome.JUDGE_ERROR, reason="overloaded")
        return Answer(question.id, Outcome.SCORED, f"about {question.text[:9]}")


def test_answers_go_on_where_they_stopped_and_become_a_bundle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = FarModel(fails=lambda question: question.id == DEMO[0]), FarModel()
    models = iter([first, second])
    monkeypatch.setattr("flows.suites.judges.answers.open_judge", lambda *_given: next(models))
    file = tmp_path / "answers.jsonl"

    before = ask(file, "http:m@1", "demo", Settings())
    cut = file.read_text().splitlines()
    file.write_text("\n".join([*cut[:-1], cut[-1][:20]]))
    after = ask(file, "http:m@1", "demo", Settings())
    known = {sample.id for sample in suite_named("universe").samples()}
    about = declaration(
        suite="universe", suite_version=suite_named("universe").version, modalities=["text"]
    )
    made = check(import_answers(tmp_path / "bundle.zip", about, file, known), from_code())

    assert (before, after) == ((23, 1), (2, 0))
    assert first.frames == {14}
    assert {q.kind for request in first.asked for q in request.questions} == {"open"}
    assert {q.id for request in second.asked for q in request.questions} == {
        DEMO[0],
        json.loads(cut[-1])["sample"],
    }
    assert len(made.media) == len(made.expected) == 24


def test_a_model_in_a_folder_is_asked_by_the_command(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    judge = f"vlm:{packaged_base()}"

    said = Machine(tmp_path / "home").run(
        "universe", "answers", str(file), "--judge", judge, "--subset", "demo"
    )

    assert "24 answers written, 0 missing" in said and "universe import" in said
    assert {json.loads(line)["sample"] for line in file.read_text().splitlines()} == set(DEMO)
