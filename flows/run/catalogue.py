"""Copies what the code declares (suites, metrics, samples, figures) into rows that the page and the
door read."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import delete
from sqlmodel import Session, col

from evaluators.contracts import JudgeCard, Published, Rating, Sample, Suite
from evaluators.judges.card import fingerprint, request_key
from evaluators.suites import all_suites
from flows.run import passages
from flows.run.board_keys import items_sha256, question_fields
from infra import tables
from infra.db import add_new, put
from infra.fields import fields_of
from infra.tables.study import StudyProtocol
from leaderboard.queries import addresses
from submissions.bundle.answers import AnswerRule
from submissions.bundle.check import Catalogue, SuiteFacts

PAPER_TEAM = "published figures"


def from_code() -> Catalogue:
    """What the suites expect, straight from the code: for checking a bundle where there is no
    database."""
    return {suite.name: _facts(suite) for suite in all_suites()}


def _facts(suite: Suite) -> SuiteFacts:
    samples = suite.samples()
    subsets = {
        name: frozenset(s.id for s in samples if in_subset(s))
        for name, in_subset in suite.subsets.items()
    }
    items = {s.id: s.facets.modality for s in samples}
    rules = {
        s.id: AnswerRule(
            s.facets.scenario, s.facets.task, s.facets.setting, modality=s.facets.modality
        )
        for s in samples
    }
    return SuiteFacts(suite.name, suite.version, suite.accepts, items, subsets, rules)


def load(db: Session) -> None:
    """Bring the catalogue rows in step with the code; running it again changes nothing."""
    for position, suite in enumerate(all_suites()):
        stored = db.get(tables.Suite, suite.name)
        fresh = stored is None or stored.items_sha256 != items_sha256(suite)
        put(db, tables.Suite, [_suite_row(suite, position)])
        put(db, tables.Metric, [_metric_row(suite, number) for number in range(len(suite.metrics))])
        if fresh:
            put(
                db,
                tables.Sample,
                [_sample_row(suite, number, s) for number, s in enumerate(suite.samples())],
            )
        if suite.rating:
            put(db, StudyProtocol, [_protocol_row(suite.name, suite.rating)])
        _load_published(db, suite)
        addresses.recount(db, suite.name)
    passages.load(db)


def _suite_row(suite: Suite, position: int) -> dict[str, Any]:
    samples = suite.samples()
    return {
        "name": suite.name,
        "position": position,
        "version": suite.version,
        "scorer_version": suite.scorer_version,
        "items_sha256": items_sha256(suite),
        "title": suite.title,
        "sentence": suite.sentence,
        "paper": _link(suite),
        "ranked": suite.ranked,
        "facet_titles": dict(suite.facet_titles),
        "subsets": {
            name: sum(in_subset(s) for s in samples) for name, in_subset in suite.subsets.items()
        },
        "accepts": list(suite.accepts),
        "facts": [asdict(fact) for fact in suite.paper.facts()] if suite.paper else [],
    }


def _protocol_row(name: str, rating: Rating) -> dict[str, Any]:
    return {"name": name, "adjudicated": rating.adjudicated, "examples": list(rating.examples)}


def _link(suite: Suite) -> str:
    return suite.paper.link if suite.paper else ""


def _metric_row(suite: Suite, number: int) -> dict[str, Any]:
    metric = suite.metrics[number]
    columns = ("name", "title", "unit", "direction", "worst", "best", "explain", "headline")
    return {
        "suite": suite.name,
        "position": number,
        **{name: getattr(metric, name) for name in columns},
    }


def _sample_row(suite: Suite, position: int, sample: Sample) -> dict[str, Any]:
    return {
        "suite": suite.name,
        "version": suite.version,
        "id": sample.id,
        "position": position,
        **fields_of(sample.facets),
        "cluster": sample.cluster,
        "request_sha256": request_key(sample.prompt, sample.facets.modality, sample.questions),
        "prompt": sample.prompt,
        "questions": [question_fields(question) for question in sample.questions],
        "subsets": [name for name, in_subset in suite.subsets.items() if in_subset(sample)],
    }


def judge_row(card: JudgeCard) -> dict[str, Any]:
    """A judge's card as a row."""
    return {
        "fingerprint": fingerprint(card),
        "name": card.name,
        "kind": card.kind,
        "card": asdict(card),
    }


def _load_published(db: Session, suite: Suite) -> None:
    """Figures from papers: trust level C, one submission a model, one run for the judge's and one
    for the people's."""
    figures = suite.paper.published() if suite.paper else ()
    models = dict.fromkeys(figure.model for figure in figures)
    add_new(db, tables.Submission, [_paper_submission(suite, model) for model in models])
    for evaluator in ("auto", "human"):
        chosen = [figure for figure in figures if figure.evaluator == evaluator]
        if chosen:
            judge = judge_row(_paper_judge(suite, evaluator))
            add_new(db, tables.Judge, [judge])
            _load_runs(db, suite, judge["fingerprint"], chosen)


def _load_runs(db: Session, suite: Suite, judge: str, figures: Sequence[Published]) -> None:
    runs = {
        model: _paper_run(suite, model, judge)
        for model in dict.fromkeys(figure.model for figure in figures)
    }
    ids = [run["id"] for run in runs.values()]
    add_new(db, tables.Run, list(runs.values()))
    db.connection().execute(delete(tables.Cell).where(col(tables.Cell.run_id).in_(ids)))
    add_new(db, tables.Cell, list(_paper_cells(runs, figures)))


def _paper_submission(suite: Suite, model: str) -> dict[str, Any]:
    moment = tables.now()
    return tables.Submission(
        id=_paper_id(suite, model),
        team=PAPER_TEAM,
        model=model,
        organisation="",
        suite=suite.name,
        suite_version="paper",
        subset="paper",
        kind="published",
        trust="C",
        state="published",
        bundle_sha256="",
        manifest={"link": _link(suite)},
        created_at=moment,
        updated_at=moment,
    ).model_dump()


def _paper_judge(suite: Suite, evaluator: str) -> JudgeCard:
    who = "people" if evaluator == "human" else "automatic"
    return JudgeCard(
        f"{suite.title} paper, {who}",
        "paper",
        evaluator,
        _link(suite),
        "",
        "",
        "",
        "",
        "published-1",
    )


def _paper_run(suite: Suite, model: str, judge: str) -> dict[str, Any]:
    moment = tables.now()
    return tables.Run(
        id=f"{_paper_id(suite, model)}-{judge[:6]}",
        submission_id=_paper_id(suite, model),
        board=f"paper-{suite.name}-{judge[:6]}",
        suite=suite.name,
        suite_version="paper",
        scorer_version="paper",
        subset="paper",
        judge=judge,
        state="published",
        eligible=False,
        why_not="taken from a paper: shown, never ranked with entries that we judged",
        created_at=moment,
        published_at=moment,
    ).model_dump()


def _paper_cells(
    runs: dict[str, dict[str, Any]], figures: Sequence[Published]
) -> Iterator[dict[str, Any]]:
    for figure in figures:
        yield {
            "run_id": runs[figure.model]["id"],
            "metric": figure.metric,
            **fields_of(figure.facets),
            "value": figure.value,
            "spread": figure.spread,
            "why_empty": "",
            "source": figure.source,
            "note": figure.note,
        }


def _paper_id(suite: Suite, model: str) -> str:
    """Readable, and distinct for names that differ only in signs."""
    slug = re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-")[:40]
    return f"paper-{suite.name}-{slug}-{hashlib.sha256(model.encode()).hexdigest()[:6]}"
