"""A small home that has one of everything a command can be asked about: submission, run, team,
study, drafts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from flows.evaluate.door import receive
from flows.run.case import open_case
from infra.db import add_new, session
from infra.settings import Settings
from infra.tables import CurationCall, Draft
from infra.tables.findings import FailureRow
from infra.tables.study import Rater, Study
from submissions.teams.tokens import add_team, create
from tests.boards import stock
from tests.bundles import declaration, demo_samples, drawn_outputs

TEAM = "Owls"
STUDY = "pilot"
CURATION = "spring"
DRAFT = "draft-1"
RATER = "r-00000001"
TASK = "cut_rope"
MODE = "attribute_errors"


@dataclass(frozen=True, slots=True)
class Home:
    """Where it is, and how what is in it is called."""

    settings: Settings
    folder: Path
    submission: str
    run: str
    sample: str
    token_prefix: str
    manifest: Path

    def rows(self) -> dict[str, int]:
        """How many rows each table has."""
        from sqlalchemy import func, select
        from sqlmodel import SQLModel

        with session(self.settings.database) as db:
            tables = SQLModel.metadata.sorted_tables
            return {
                table.name: db.execute(select(func.count()).select_from(table)).scalar_one()
                for table in tables
            }


def fill(folder: Path, settings: Settings) -> Home:
    """Make the home; `folder` beside it is for the files of the tests."""
    stock(settings)
    submission = receive(
        settings, str(drawn_outputs(folder / "bundle.zip")), None, None
    ).submission_id
    run, sample = open_case(settings, submission).run.id, demo_samples()[0].id
    with session(settings.database) as db:
        add_new(db, FailureRow, [FailureRow(run_id=run, sample_id=sample).model_dump()])
        add_team(db, TEAM)
        db.flush()
        key = create(db, TEAM)
        add_new(db, Study, [_study()])
        add_new(
            db,
            Rater,
            [Rater(id=RATER, study_id=STUDY, number=1, token_sha256="0" * 64).model_dump()],
        )
        add_new(db, CurationCall, [_call()])
        add_new(db, Draft, [_draft()])
    manifest = folder / "manifest.json"
    manifest.write_text(json.dumps(declaration()), "utf-8")
    return Home(settings, folder, submission, run, sample, key.removeprefix("arm_")[:8], manifest)


def _study() -> dict[str, object]:
    return Study(
        id=STUDY,
        suite="tailor",
        version="1",
        protocol="tailor",
        title="Pilot",
        state="open",
        raters_per_item=3,
        session_items=10,
        minutes=30,
        seed=0,
        instructions="",
        consent="",
        consent_version="1",
    ).model_dump()


def _call() -> dict[str, object]:
    return CurationCall(
        id="call",
        curation=CURATION,
        step="tasks",
        subject="cut",
        status="done",
        model="writer-1",
        prompt_version="0",
    ).model_dump()


def _draft() -> dict[str, object]:
    return Draft(
        id=DRAFT,
        call_id="call",
        curation=CURATION,
        step=7,
        kind="question",
        task_id=TASK,
        field="entity",
        position=0,
        payload={"text": "Is there a rope?"},
        status="candidate",
    ).model_dump()
