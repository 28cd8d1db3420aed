"""Trying the path costs nothing: the demo subset is not counted."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlmodel import select

from flows.run.catalogue import load
from infra.db import migrate, session
from infra.settings import Settings
from infra.tables import QuotaUse, Submission
from submissions.format.errors import IntakeError
from submissions.teams import quotas, tokens


@pytest.mark.parametrize(("subset", "counted"), [("demo", 0), ("full", 1)])
def test_only_what_is_not_free_is_counted(subset: str, counted: int, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, quota_scored=1)
    migrate(settings.database)
    with session(settings.database) as db:
        load(db)
        tokens.add_team(db, "Owls")
        for number in range(2):
            row = Submission(
                id=f"sub-{number}",
                team="Owls",
                model="m",
                organisation="o",
                suite="tailor",
                suite_version="2.0",
                subset=subset,
                kind="outputs",
                trust="B",
                state="received",
                bundle_sha256="",
            )
            db.add(row)
        db.flush()

        assert quotas.start(db, settings, "sub-0")
        uses = db.exec(select(QuotaUse)).all()

        assert len(uses) == counted
        if subset == "demo":
            quotas.check_quota(db, settings, "Owls", "tailor", "demo")
            assert quotas.start(db, settings, "sub-1")
        else:
            with pytest.raises(IntakeError):
                quotas.check_quota(db, settings, "Owls", "tailor", "full")
