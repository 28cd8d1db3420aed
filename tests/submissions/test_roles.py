"""A yardstick beside the ranking: its role is ours to give, and its run can never be ranked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flows.evaluate.door import receive
from flows.run.case import open_case
from infra.db import session
from infra.settings import Settings
from infra.tables import Submission
from submissions.format.errors import IntakeError
from submissions.teams.roles import ROLES
from tests.bundles import drawn_outputs


def test_only_an_entry_can_be_ranked(ready: Settings, tmp_path: Path) -> None:
    bundles = {
        role: drawn_outputs(tmp_path / f"{role}.zip", shift=number)
        for number, role in enumerate(ROLES)
    }

    ids = {
        role: receive(ready, str(path), None, None, role=role).submission_id
        for role, path in bundles.items()
    }
    runs = {role: open_case(ready, submission).run for role, submission in ids.items()}

    with session(ready.database) as db:
        kept = {role: db.get_one(Submission, submission).role for role, submission in ids.items()}
    assert kept == {role: role for role in ROLES}
    assert {role: run.eligible for role, run in runs.items()} == {
        role: role == "entry" for role in ROLES
    }
    assert all("never ranked" in run.why_not for role, run in runs.items() if role != "entry")


def test_a_manifest_cannot_name_its_role(ready: Settings, tmp_path: Path) -> None:
    bundle = drawn_outputs(tmp_path / "bundle.zip", role="ceiling")

    with pytest.raises(IntakeError) as refused:
        receive(ready, str(bundle), None, None)

    assert "role" in json.dumps([problem.where for problem in refused.value.problems])
