"""The door: a checked bundle becomes a submission, once, however often it is handed in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlmodel import Session, col, select

from infra.db import claim
from infra.store import Store, bundle_key, report_key
from infra.tables import Sample, Submission, Suite, now
from submissions.bundle.answers import SUFFIXES, AnswerRule
from submissions.bundle.check import Catalogue, CheckedBundle, SuiteFacts
from submissions.format.errors import Problem
from submissions.format.manifest import Manifest
from submissions.intake.entry import check_entry, contents_key, note_same_bytes
from submissions.teams.lifecycle import State, record
from submissions.teams.roles import Role

PRIVATE = "private."
"""Ids that begin so stay on the server; at the door there are no such samples."""
TRUST = {"model": "A", "api": "A", "outputs": "B"}


@dataclass(frozen=True, slots=True)
class Received:
    """The answer at the door."""

    submission_id: str
    duplicate: bool
    warnings: tuple[Problem, ...]


def accept(
    db: Session,
    store: Store,
    bundle: Path,
    checked: CheckedBundle,
    team: str | None = None,
    closes: Mapping[str, datetime] | None = None,
    role: Role = "entry",
) -> Received:
    """Keep a bundle that was checked and open its submission; the same bundle of the same team is
    the same submission.

    `team` is whose token brought it, if one did; `closes` says until when suites take submissions;
    `role` is ours to give, no manifest names it.
    """
    check_entry(db, checked.manifest, team, closes or {})
    sha256 = store.put_file(_staged(bundle), bundle)
    submission_id = submission_key(checked.manifest, sha256)
    store.put(report_key(submission_id), _report(checked))
    row = new_row(checked.manifest, submission_id, sha256, role)
    new = claim(db, Submission, row.model_dump())
    if new:
        text = (
            f"Received from {row.team}: {row.model}, {row.kind}, {len(checked.expected)} samples "
            f"of {row.suite}."
        )
        record(db, submission_id, State.RECEIVED, text, actor=row.team)
        note_same_bytes(db, row)
    return Received(submission_id, not new, checked.warnings)


def catalogue(db: Session) -> Catalogue:
    """What the suites expect, from their rows."""
    suites = db.exec(select(Suite).order_by(col(Suite.position))).all()
    return {suite.name: _suite_facts(db, suite) for suite in suites}


KNOWN: dict[tuple[str, str, str, str], SuiteFacts] = {}
"""What was read before, by database, suite, version and the hash of its items; a handful of entries
in a process."""


def _suite_facts(db: Session, suite: Suite) -> SuiteFacts:
    key = (str(db.get_bind().engine.url), suite.name, suite.version, suite.items_sha256)
    if key not in KNOWN:
        KNOWN[key] = _read_facts(db, suite)
    return KNOWN[key]


def _read_facts(db: Session, suite: Suite) -> SuiteFacts:
    columns = (
        Sample.id,
        Sample.modality,
        Sample.subsets,
        Sample.scenario,
        Sample.task,
        Sample.setting,
    )
    ours = (Sample.suite == suite.name, Sample.version == suite.version)
    open_to_all = ~col(Sample.id).startswith(PRIVATE, autoescape=True)
    rows = (
        db.connection()
        .execute(select(*columns).where(*ours, open_to_all).order_by(col(Sample.position)))  # type: ignore[call-overload]
        .all()
    )
    query = select(Sample.id, Sample.questions).where(*ours, col(Sample.modality).in_(SUFFIXES))
    questions = {
        name: sample_questions[0] for name, sample_questions in db.exec(query) if sample_questions
    }
    subsets = {
        name: frozenset(row.id for row in rows if name in row.subsets) for name in suite.subsets
    }
    items = {row.id: row.modality for row in rows}
    rules = {row.id: _rule(row, questions.get(row.id, {})) for row in rows}
    return SuiteFacts(suite.name, suite.version, tuple(suite.accepts), items, subsets, rules)


def _rule(row: Any, question: Mapping[str, Any]) -> AnswerRule:
    """A sample's facets; where it asks for a value instead of media, its first question says which
    are possible."""
    low, high = question.get("low"), question.get("high")
    return AnswerRule(
        scenario=row.scenario,
        task=row.task,
        setting=row.setting,
        modality=row.modality,
        options=tuple(question.get("options") or ()),
        low=0.0 if low is None else low,
        high=1.0 if high is None else high,
    )


def submission_key(manifest: Manifest, sha256: str) -> str:
    """One id for one bundle of one team."""
    seed = json.dumps([manifest.team, manifest.suite, manifest.suite_version, sha256])
    return f"sub-{hashlib.sha256(seed.encode()).hexdigest()[:12]}"


def _staged(bundle: Path) -> str:
    digest = hashlib.sha256()
    with bundle.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    return bundle_key(digest.hexdigest())


def _report(checked: CheckedBundle) -> bytes:
    media = {sample: asdict(facts) for sample, facts in checked.media.items()}
    warnings = [asdict(warning) for warning in checked.warnings]
    return json.dumps({"media": media, "warnings": warnings}, sort_keys=True).encode()


def new_row(manifest: Manifest, submission_id: str, sha256: str, role: Role) -> Submission:
    """What was declared, as a row that has just come in."""
    moment = now()
    return Submission(
        id=submission_id,
        team=manifest.team,
        model=manifest.model.name,
        organisation=manifest.model.organisation,
        suite=manifest.suite,
        suite_version=manifest.suite_version,
        subset=manifest.subset,
        kind=manifest.kind,
        trust=TRUST[manifest.kind],
        role=role,
        state=State.RECEIVED,
        bundle_sha256=sha256,
        contents_sha256=contents_key(manifest),
        manifest=manifest.model_dump(mode="json"),
        created_at=moment,
        updated_at=moment,
    )
