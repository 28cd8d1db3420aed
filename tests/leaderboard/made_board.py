"""A board to look at: the real catalogue, and entries whose answers a seeded dice gave."""

from __future__ import annotations

import hashlib
import io
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image, ImageDraw
from sqlmodel import Session, col

from evaluators.aggregate.cells import cells
from evaluators.aggregate.summaries import Summary, summaries
from evaluators.contracts import Answer, Cell, JudgeCard, Outcome, Output, Sample, Score
from evaluators.judges.card import fingerprint, request_key
from evaluators.suites import suite_named
from flows.publish.publish import rank
from flows.run.board_keys import board_key
from flows.run.catalogue import judge_row, load
from flows.run.score_rows import store_results
from infra import tables
from infra.db import add_new, migrate, session
from infra.settings import Settings
from infra.store import Store, blob_key, open_store
from infra.tables.operations import Change, Drift, Night
from infra.tables.results import question_key
from leaderboard.cache import on_publish
from submissions.teams.lifecycle import State, advance, record
from tests.boards import seen_by

START = datetime.fromisoformat("2026-11-02T02:00:00+00:00")
AUTO = JudgeCard("Dice judge", "auto", "dice", "1", "", "greedy", "8 uniform", "", "1")
PEOPLE = JudgeCard("Three people", "human", "people", "study 1", "", "", "", "", "1")
HOSTILE = (
    "<script>alert(1)</script>",
    '=HYPERLINK("http://x","y")',
    "abc\u202egnp.exe",
    "W" * 10_000,
    "![x](http://example.invalid/x.png) **bold** :red[red] $x^2$",
)


@dataclass(frozen=True, slots=True)
class Model:
    """One entry to make up: how often its answers are good, and what fails."""

    id: str
    name: str
    organisation: str
    trust: str
    skill: float
    partial: bool = False
    lost: int = 0
    open_weights: bool = True


MODELS = (
    Model("sub-aurora", "Aurora Video 2", "Northlight Lab", "A", 0.82),
    Model("sub-basalt", "Basalt-XL", "Quarry AI", "B", 0.74, open_weights=False),
    Model("sub-cirrus", "Cirrus 7B", "Northlight Lab", "A", 0.70, lost=3),
    Model("sub-dune00", "Dune (partial entry)", "Sand", "B", 0.60, partial=True),
)


_shared: list[Settings] = []


def shared(folders: pytest.TempPathFactory) -> Settings:
    """One filled board a test run, for all who only read it."""
    if not _shared:
        settings = settings_in(folders.mktemp("board"))
        make(settings)
        make_hostile(settings)
        _shared.append(settings)
    return _shared[0]


def make(settings: Settings, models: Sequence[Model] = MODELS) -> None:
    """Fill an empty database and store."""
    migrate(settings.database)
    store = open_store(settings.objects)
    with session(settings.database) as db:
        load(db)
        add_new(db, tables.Judge, [judge_row(AUTO), judge_row(PEOPLE)])
        for number, model in enumerate(models):
            _enter(db, store, model, START + timedelta(days=number))
        for model in models[:1]:
            _judge(db, model, PEOPLE, START + timedelta(days=9))
        _unfinished(db)
        if models:
            _nights(db)


def make_hostile(settings: Settings) -> None:
    """Add entries whose names want to be more than names."""
    store = open_store(settings.objects)
    with session(settings.database) as db:
        for number, text in enumerate(HOSTILE):
            model = Model(f"sub-hostile{number}", text, text, "B", 0.5)
            _enter(db, store, model, START + timedelta(days=20 + number))


@cache
def samples() -> tuple[Sample, ...]:
    """The samples every entry answers."""
    suite = suite_named("tailor")
    return tuple(sample for sample in suite.samples() if suite.subsets["demo"](sample))


def _enter(db: Session, store: Store, model: Model, at: datetime) -> None:
    add_new(db, tables.Submission, [_submission(model, at).model_dump()])
    record(db, model.id, "received", f"Received from {model.organisation[:50]}.")
    outputs = list(_outputs(store, model))
    add_new(db, tables.Output, [{"submission_id": model.id, **row} for row in outputs])
    _judge(db, model, AUTO, at + timedelta(hours=1))
    advance(db, model.id, State.PUBLISHED, "On the board of TailOR.")


def _submission(model: Model, at: datetime) -> tables.Submission:
    declared = {
        "name": model.name,
        "revision": "r1",
        "organisation": model.organisation,
        "licence": "CC0-1.0",
    }
    manifest: dict[str, Any] = {
        "model": {**declared, "open_weights": model.open_weights, "parameters": 1_300_000_000},
        "modalities": ["image", "video"],
        "partial": model.partial,
        "sampling": {"seed": 7, "steps": 30, "guidance": 5.0},
        "disclosure": {
            "trained_on_suite_data": "no",
            "statement": "No <b>data</b> of the suite was used.",
        },
        "files": [],
    }
    return tables.Submission(
        id=model.id,
        team=model.organisation,
        model=model.name,
        organisation=model.organisation,
        suite="tailor",
        suite_version=suite_named("tailor").version,
        subset="demo",
        kind="model" if model.trust == "A" else "outputs",
        trust=model.trust,
        state="scoring",
        bundle_sha256=hashlib.sha256(model.id.encode()).hexdigest(),
        manifest=manifest,
        created_at=at,
        updated_at=at,
    )


def _outputs(store: Store, model: Model) -> Iterator[dict[str, Any]]:
    clip = _clip(model)
    for number, sample in enumerate(samples()):
        if number < model.lost:
            yield {
                "sample_id": sample.id,
                "outcome": "model_failed",
                "reason": "out of memory",
                **_nothing(),
            }
            continue
        video = sample.facets.modality == "video"
        data = clip if video else _picture(model, sample)
        sha256 = hashlib.sha256(data).hexdigest()
        if not store.exists(blob_key(sha256)):
            store.put(blob_key(sha256), data)
        kind = "video/mp4" if video else "image/png"
        facts = {
            "media_sha256": sha256,
            "media_type": kind,
            "size": len(data),
            "record": {"seed": 7},
        }
        yield {"sample_id": sample.id, "outcome": "scored", "reason": "", **facts}


def _nothing() -> dict[str, Any]:
    return {"media_sha256": "", "media_type": "", "size": 0, "record": {}}


def _picture(model: Model, sample: Sample) -> bytes:
    seed = hashlib.sha256(f"{model.skill} {sample.id}".encode()).digest()
    image = Image.new("RGB", (160, 120), (seed[0], seed[1], seed[2]))
    draw = ImageDraw.Draw(image)
    draw.ellipse((20 + seed[3] % 40, 20, 90 + seed[3] % 40, 90), fill=(seed[4], seed[5], seed[6]))
    draw.rectangle((0, 90, 160, 120), fill=(90, 70, 50))
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def _clip(model: Model) -> bytes:
    file = io.BytesIO()
    seed = hashlib.sha256(str(model.skill).encode()).digest()
    with av.open(file, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=8)
        stream.width, stream.height, stream.pix_fmt = 160, 120, "yuv420p"
        for number in range(16):
            frame = np.full((120, 160, 3), (seed[0], seed[1], seed[2]), np.uint8)
            frame[40:80, number * 8 : number * 8 + 30] = (seed[3], seed[4], seed[5])
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        container.mux(stream.encode())
    return file.getvalue()


def _judge(db: Session, model: Model, card: JudgeCard, at: datetime) -> None:
    """Answer every question about every output, then score."""
    suite = suite_named("tailor")
    judge, board = fingerprint(card), board_key(suite, "demo", fingerprint(card))
    run = f"run-{model.id[4:]}-{card.kind}"
    add_new(db, tables.Run, [_run(run, model, judge, board, at).model_dump()])
    if card.kind == "auto":
        seen_by(db, board, judge)
    there = {row.sample_id: row for row in _rows(db, model)}
    made = _results(model.skill, model.lost, card.kind)
    for sample in samples():
        _store_answers(db, judge, sample, there[sample.id].media_sha256, made.answers[sample.id])
    with on_publish.kept_up(db, col(tables.Run.id) == run):
        store_results(db, run, made.scores, made.cells)
    rank(db, suite, _submission(model, at), _run(run, model, judge, board, at), made.summaries)


@dataclass(frozen=True, slots=True)
class Results:
    """What a judge said about an entry, and what that makes."""

    answers: dict[str, dict[str, Answer]]
    scores: list[Score]
    cells: list[Cell]
    summaries: tuple[Summary, ...]


@cache
def _results(skill: float, lost: int, kind: str) -> Results:
    suite = suite_named("tailor")
    assert suite.scoring is not None and suite.derive is not None
    dice = random.Random(f"{skill} {kind}")
    answers: dict[str, dict[str, Answer]] = {}
    scores: list[Score] = []
    for number, sample in enumerate(samples()):
        answers[sample.id] = _answers(dice, skill, sample) if number >= lost else {}
        outcome = Outcome.SCORED if number >= lost else Outcome.MODEL_FAILED
        scores += suite.scoring.score(sample, Output(sample.id, outcome), answers[sample.id])
    named = {score.metric for score in scores}
    made = cells(
        [metric for metric in suite.metrics if metric.name in named],
        samples(),
        scores,
        resamples=200,
    )
    return Results(
        answers, scores, list(made + suite.derive(made)), summaries(suite, samples(), scores)
    )


def _rows(db: Session, model: Model) -> list[tables.Output]:
    from sqlmodel import select

    return list(db.exec(select(tables.Output).where(tables.Output.submission_id == model.id)))


def _run(run: str, model: Model, judge: str, board: str, at: datetime) -> tables.Run:
    suite = suite_named("tailor")
    return tables.Run(
        id=run,
        submission_id=model.id,
        board=board,
        suite=suite.name,
        suite_version=suite.version,
        scorer_version=suite.scorer_version,
        subset="demo",
        judge=judge,
        state="published",
        eligible=not model.partial,
        why_not="handed in as partial" if model.partial else "",
        n_scored=60 - model.lost,
        n_expected=60,
        created_at=at,
        published_at=at,
    )


def _answers(dice: random.Random, skill: float, sample: Sample) -> dict[str, Answer]:
    hard = {"regular": 0.0, "unconventional": 0.18, "impossible": 0.3}[sample.facets.scenario]
    skill = skill - hard
    found = {}
    for question in sample.questions:
        if question.kind == "rating":
            value = str(max(0, min(5, round(5 * skill + dice.gauss(0, 0.8)))))
        else:
            value = "yes" if dice.random() < skill else dice.choice(("no", "no", "unclear"))
        found[question.id] = Answer(question.id, Outcome.SCORED, value, f"I see it {value}.")
    return found


@cache
def _request(sample_id: str) -> str:
    sample = next(sample for sample in samples() if sample.id == sample_id)
    return request_key(sample.prompt, sample.facets.modality, sample.questions)


def _store_answers(
    db: Session, judge: str, sample: Sample, media: str, answers: Mapping[str, Answer]
) -> None:
    if not answers:
        return
    request = _request(sample.id)
    reply = hashlib.sha256(f"{judge} {media} {request} 0".encode()).hexdigest()
    raw = "\n".join(f"{name}: {answer.value}" for name, answer in answers.items())
    add_new(
        db,
        tables.Reply,
        [tables.Reply(id=reply, judge=judge, media_sha256=media, raw=raw).model_dump()],
    )
    keys = {"judge": judge, "media_sha256": media, "repeat": 0, "reply_id": reply}
    add_new(
        db,
        tables.Verdict,
        [
            {
                **keys,
                "question_sha256": question_key(request, name),
                "outcome": str(answer.outcome),
                "value": answer.value,
                "reason": answer.reason,
            }
            for name, answer in answers.items()
        ],
    )


def _unfinished(db: Session) -> None:
    """One that waits and one that failed by its own fault."""
    for number, (name, state) in enumerate(
        (("Waiting model", "received"), ("Broken model", "judging"))
    ):
        model = Model(f"sub-open{number}", name, "Elsewhere", "B", 0.5)
        row = _submission(model, START + timedelta(days=8))
        row.state = state
        add_new(db, tables.Submission, [row.model_dump()])
        record(db, model.id, "received", "Received from Elsewhere.")
    text = "3 of 60 pictures cannot be read. Save them again as PNG and hand the bundle in anew."
    advance(db, "sub-open1", State.FAILED, text, fault="submitter", code="E_MEDIA")


def _nights(db: Session) -> None:
    """Three nights of asking the judge again; the last one moved two figures."""
    judge = fingerprint(AUTO)
    for number in range(3):
        night = START.date() + timedelta(days=10 + number)
        facts: dict[str, Any] = {
            "state": "done",
            "submissions": 4,
            "recomputed": 2,
            "moved": 2 * (number == 2),
            "seconds": 61.0,
        }
        add_new(db, Night, [Night(night=night, text="All parts answered.", **facts).model_dump()])
        shares = {"anchors": 0.97 - 0.05 * number, "repeats": 0.95}
        for what, share in shares.items():
            span: dict[str, Any] = {
                "agreement": share,
                "low": share - 0.03,
                "high": share + 0.02,
                "alarm": share < 0.9,
            }
            row = Drift(
                night=night,
                suite="tailor",
                judge=judge,
                what=what,
                outputs=20,
                questions=200,
                **span,
            )
            add_new(db, Drift, [row.model_dump()])
    for run, before, after in (("run-aurora-auto", 80.1, 79.6), ("run-basalt-auto", 71.0, 71.4)):
        at: dict[str, Any] = {
            "scenario": "*",
            "task": "*",
            "setting": "*",
            "modality": "*",
            "metric": "index",
            "suite": "tailor",
        }
        row_ = Change(
            night=night,
            run_id=run,
            submission_id=f"sub-{run[4:10]}",
            board="b",
            run_before=run,
            cause="judged again",
            before=before,
            after=after,
            **at,
        )
        add_new(db, Change, [row_.model_dump()])


def settings_in(folder: Path) -> Settings:
    """Settings that keep everything in a folder."""
    return Settings(home=folder)
