"""The inbox in S3: every drop ends in received or rejected, with a report beside it, once."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete
from sqlmodel import select

from flows.operate.inbox import sweep
from infra.db import session
from infra.settings import Settings
from infra.store import Store, open_store
from infra.tables import QuotaUse, Submission, Team
from infra.tables.intake import Drop
from submissions.format.errors import IntakeError
from submissions.intake import inbox
from submissions.teams import tokens
from tests.bundles import declaration
from tests.servers.s3 import S3Server
from tests.submissions.bad.case import Case, bundle, pictures
from tests.submissions.bad.costly import heavy_bundle, slow_bundle
from tests.submissions.bad.models import folder
from tests.submissions.bad.table import ONE_A_ROW, made

TEAM = "Test team"
pytestmark = pytest.mark.filterwarnings("ignore:Duplicate name")


@dataclass(frozen=True)
class Box:
    """An empty inbox of a machine, and the store it is."""

    settings: Settings
    store: Store

    def drop(self, name: str, path: Path, team: str = TEAM) -> None:
        self.store.put_file(f"{team}/{name}", path)

    def report(self, name: str, team: str = TEAM) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.store.get(f"{team}/{name}.report.json"))
        return found

    def rows(self, table: type[Any]) -> list[Any]:
        with session(self.settings.database) as db:
            query = (
                select(table).where(Submission.trust != "C")
                if table is Submission
                else select(table)
            )
            return list(db.exec(query))


@pytest.fixture
def box(door: Settings, s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Box]:
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    address = f"s3://{s3_server.fresh_bucket()}/inbox"
    settings = door.model_copy(update={"inbox": address, "s3_endpoint": s3_server.endpoint})
    with session(settings.database) as db:
        tokens.add_team(db, TEAM)
    yield Box(settings, open_store(address, s3_server.endpoint))
    with session(settings.database) as db:
        for table in (Drop, QuotaUse, Team):
            db.connection().execute(delete(table))


def test_the_inbox_gives_each_input_its_code(box: Box, shelf: Path) -> None:
    """The table of bad inputs, third way: all dropped, one sweep, a report each."""
    for case in ONE_A_ROW:
        box.drop(_name(case), made(case, shelf))

    done = {taken.uri.rpartition("/")[2]: taken for taken in sweep(box.settings)}

    assert len(done) == len(ONE_A_ROW)
    wrong = [case.id for case in ONE_A_ROW if not _as_told(case, asdict(done[_name(case)]))]
    assert wrong == []
    beside = {one.key for one in box.store.list(f"{TEAM}/")}
    assert all(
        f"{TEAM}/{_name(case)}{end}" in beside for case in ONE_A_ROW for end in inbox.REPORTS
    )
    assert all(_as_told(case, box.report(_name(case))) for case in ONE_A_ROW[::10])
    received = sum(not case.code.startswith("E_") for case in ONE_A_ROW)
    assert len(box.rows(Submission)) == received and len(box.rows(Drop)) == len(ONE_A_ROW)


def _name(case: Case) -> str:
    return f"row-{case.row}.zip"


def _as_told(case: Case, report: dict[str, Any]) -> bool:
    state = "rejected" if case.code.startswith("E_") else "received"
    codes = {problem["code"] for problem in report["problems"]}
    return report["state"] == state and codes == ({case.code} if case.code else set())


def test_drops_that_hang_or_swallow_their_reader_are_reported_and_the_next_is_taken(
    box: Box, tmp_path: Path
) -> None:
    bounds = {"intake_cpu_seconds": 0.5, "intake_memory": 512 << 20, "intake_wall_seconds": 60.0}
    tight = box.settings.model_copy(update=bounds)
    box.drop("a.zip", slow_bundle(tmp_path / "a.zip"))
    box.drop("b.zip", heavy_bundle(tmp_path / "b.zip"))
    box.drop("c.zip", bundle(tmp_path / "c.zip", pictures(2)))

    taken = {Path(one.uri).name: one for one in sweep(tight)}

    codes = {name: [problem.code for problem in one.problems] for name, one in taken.items()}
    assert codes == {"a.zip": ["E_INTAKE_TIME"], "b.zip": ["E_INTAKE_MEMORY"], "c.zip": []}
    assert taken["c.zip"].state == "received" and len(box.rows(Submission)) == 1
    assert box.report("a.zip")["problems"][0]["code"] == "E_INTAKE_TIME"


def test_a_team_that_drops_much_keeps_no_other_waiting(
    box: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with session(box.settings.database) as db:
        tokens.add_team(db, "Zebras")
    (tmp_path / "bad.zip").write_bytes(b"no zip at all")
    for name in ("1.zip", "2.zip", "3.zip"):
        box.drop(name, tmp_path / "bad.zip")
    box.drop("z.zip", tmp_path / "bad.zip", "Zebras")

    monkeypatch.setattr("flows.operate.inbox._spent", deque[tuple[float, str, float]]())
    with monkeypatch.context() as hurried:
        hurried.setattr("flows.operate.inbox.SWEEP_SECONDS", 0.0)
        one_each = [[Path(one.uri).name for one in sweep(box.settings)] for _ in range(2)]
    box.drop("y.zip", tmp_path / "bad.zip", "Zebras")
    rest = {Path(one.uri).name for one in sweep(box.settings)}

    assert one_each == [["1.zip"], ["z.zip"]]
    assert rest == {"2.zip", "y.zip", "3.zip"}


def test_a_drop_that_takes_hours_and_is_tried_again_comes_after_the_others(
    box: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with session(box.settings.database) as db:
        tokens.add_team(db, "Ants")
    (tmp_path / "bad.zip").write_bytes(b"no zip at all")
    box.drop("slow.zip", tmp_path / "bad.zip", "Ants")
    for name in ("1.zip", "2.zip"):
        box.drop(name, tmp_path / "bad.zip")
    hours_ago = [(time.monotonic() - 7200, "Ants", 360.0)]
    monkeypatch.setattr("flows.operate.inbox._spent", deque(hours_ago))

    assert [Path(one.uri).name for one in sweep(box.settings)] == ["1.zip", "2.zip", "slow.zip"]


def test_a_second_sweep_does_nothing_and_the_same_bytes_again_are_the_same_submission(
    box: Box, spot: Path
) -> None:
    bundle(spot, pictures(2))
    box.drop("x.zip", spot)
    first = sweep(box.settings)

    nothing = sweep(box.settings)
    box.drop("copy.zip", spot)
    second = sweep(box.settings)

    assert [one.state for one in first + second] == ["received", "received"] and nothing == []
    assert first[0].submission_id == second[0].submission_id and len(box.rows(Submission)) == 1
    said = box.store.get(f"{TEAM}/x.zip.report.txt").decode()
    assert f"Received as {first[0].submission_id}." in said


def test_a_sweep_that_died_before_its_row_was_written_is_repeated_without_harm(
    box: Box, spot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle(spot, pictures(2))
    box.drop("x.zip", spot)

    def dies(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(inbox, "add_new", dies)
        with pytest.raises(KeyboardInterrupt):
            sweep(box.settings)
    again = sweep(box.settings)

    assert [one.state for one in again] == ["received"]
    assert len(box.rows(Submission)) == 1 and len(box.rows(Drop)) == 1


def test_a_folder_that_is_no_team_s_and_a_manifest_of_another_team_are_rejected(
    box: Box, spot: Path
) -> None:
    bundle(spot, pictures(2))
    box.drop("x.zip", spot, team="Nobody")
    with session(box.settings.database) as db:
        tokens.add_team(db, "Others")
    box.drop("x.zip", spot, team="Others")

    sweep(box.settings)

    assert box.report("x.zip", "Nobody")["problems"][0]["code"] == "E_TEAM_UNKNOWN"
    assert box.report("x.zip", "Others")["problems"][0]["code"] == "E_TEAM"
    assert box.rows(Submission) == []


def test_a_store_that_fails_leaves_the_drop_for_later(
    box: Box, spot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from botocore.exceptions import EndpointConnectionError

    bundle(spot, pictures(2))
    box.drop("x.zip", spot)

    class Away:
        def head_object(self, **_: str) -> None:
            raise EndpointConnectionError(endpoint_url="http://127.0.0.1")

    with monkeypatch.context() as patch:
        patch.setattr("submissions.intake.remote._client", lambda _endpoint: Away())
        away = sweep(box.settings)
    back = sweep(box.settings)

    assert [one.state for one in away] == ["later"] and [one.state for one in back] == ["received"]


def test_a_name_that_is_no_key_is_rejected_and_keeps_nobody_waiting(
    box: Box, spot: Path, s3_server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    from infra.store.boto import connect

    bundle(spot, pictures(2))
    bucket = box.settings.inbox.split("/")[2]
    connect(s3_server.endpoint).put_object(
        Bucket=bucket, Key=f"inbox/{TEAM}//a.zip", Body=b"x", Metadata={}
    )
    box.drop("b.zip", spot)
    monkeypatch.setattr(
        "submissions.intake.inbox.report_text", lambda taken: 1 / 0 if taken.submission_id else ""
    )

    first = {one.uri.rpartition("/")[2]: one.state for one in sweep(box.settings)}
    monkeypatch.undo()
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    second = {one.uri.rpartition("/")[2]: one.state for one in sweep(box.settings)}

    assert first == {"a.zip": "rejected", "b.zip": "later"} and second == {"b.zip": "received"}


def test_a_model_s_folder_is_taken_when_its_declaration_is_there(box: Box, tmp_path: Path) -> None:
    for name, data in folder().items():
        box.store.put(f"{TEAM}/painter/{name.removeprefix('model/')}", data)
    before = sweep(box.settings)
    said = declaration(kind="model")
    box.store.put(f"{TEAM}/painter/armillary.json", json.dumps(said).encode())

    after = sweep(box.settings)

    assert before == [] and sweep(box.settings) == []
    assert [(one.state, one.problems) for one in after] == [("received", ())]
    assert box.report("painter/armillary.json")["state"] == "received"
    assert box.rows(Submission)[0].kind == "model"


def test_a_team_may_ask_for_one_bundle_at_once(box: Box, spot: Path) -> None:
    bundle(spot, pictures(2))
    box.drop("x.zip", spot)
    uri = f"{box.settings.inbox}/{TEAM}/x.zip"

    taken = inbox.hand_in_now(box.settings, TEAM, uri)

    assert taken.state == "received" and sweep(box.settings) == []
    for bad, code in (
        (uri + "x", "E_S3_UNREADABLE"),
        ("s3://elsewhere/Others/x.zip", "E_S3_FORBIDDEN"),
    ):
        with pytest.raises(IntakeError) as refused:
            inbox.hand_in_now(box.settings, TEAM, bad)
        assert refused.value.problems[0].code == code
