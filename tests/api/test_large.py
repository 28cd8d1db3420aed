"""Bundles of two gibibytes and more: promised, found again, and kept as numbers of their true
size."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update
from sqlmodel import select

from infra.db import session
from infra.tables import Output, Submission, Upload, now
from tests.submissions.bad.case import bundle, pictures

from .conftest import ON_BOTH, Desk
from .handing_in import create, finish, hand_in, promise, send

pytestmark = ON_BOTH
SIZES = (2**31 - 1, 2**31, 2**32 + 1, 64 * 2**30)


@pytest.mark.parametrize("size", SIZES)
def test_an_upload_may_be_of_any_size_within_the_limit(size: int, desk: Desk, spot: Path) -> None:
    body = {**promise(bundle(spot, pictures(2))), "size": size}

    first = create(desk, body)
    again = create(desk, body)
    asked = desk.client.get(
        f"/v1/submissions/uploads/{first.json()['upload']['id']}", headers=desk.headers()
    )

    assert (first.status_code, again.status_code, asked.status_code) == (201, 200, 200)
    upload = asked.json()["upload"]
    assert upload["size"] == size == sum(part["size"] for part in upload["parts"])
    with session(desk.settings.database) as db:
        assert db.exec(select(Upload.size)).one() == size


@pytest.mark.parametrize("size", [2**63 - 1, 2**63, 10**30])
def test_a_size_beyond_the_limit_is_refused_by_the_limit(size: int, desk: Desk, spot: Path) -> None:
    answer = create(desk, {**promise(bundle(spot, pictures(2))), "size": size})

    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "E_TOO_LARGE")


def test_what_a_team_promises_at_once_is_bounded_and_what_is_dropped_counts_no_more(
    desk: Desk, spot: Path
) -> None:
    bundle(spot, pictures(2))

    def promised(number: int) -> tuple[int, str]:
        answer = create(desk, promise(spot, size=2 << 30), f"key-number-{number}")
        return answer.status_code, answer.json().get("error", {}).get("code", "")

    answers = [promised(number) for number in range(60)]
    assert answers == [(201, "")] * 32 + [(429, "E_QUOTA")] * 28

    with session(desk.settings.database) as db:
        db.connection().execute(update(Upload).values(expires_at=now() - timedelta(seconds=1)))
    assert promised(60) == (201, "")


def test_what_a_team_has_under_way_is_bounded_whenever_it_was_promised(
    desk: Desk, tmp_path: Path
) -> None:
    one_at_a_time = desk.settings.model_copy(update={"quota_waiting": 1})
    desk.client.app.state.settings = one_at_a_time  # type: ignore[attr-defined]
    paths = [bundle(tmp_path / f"{count}.zip", pictures(count)) for count in (1, 2, 3)]
    uploads = [
        create(desk, promise(path), f"key-number-{number}").json()["upload"]
        for number, path in enumerate(paths[:2])
    ]
    for upload, path in zip(uploads, paths, strict=False):
        send(desk, upload, path.read_bytes())

    first, second = (finish(desk, upload["id"]) for upload in uploads)
    third = create(desk, promise(paths[2]), "key-number-2")
    desk.client.post(f"/v1/submissions/{first.json()['submission']}/cancel", headers=desk.headers())
    again = finish(desk, uploads[1]["id"])

    assert [one.status_code for one in (first, second, third, again)] == [202, 429, 429, 202]
    assert "wait or are in work" in third.json()["error"]["message"]


@pytest.mark.parametrize("number", [0, -1, 2**31, 2**63, 10**30])
def test_a_part_that_there_cannot_be_is_not_found(number: int, desk: Desk, spot: Path) -> None:
    upload: dict[str, Any] = create(desk, promise(bundle(spot, pictures(2)))).json()["upload"]

    answer = desk.client.put(
        f"/v1/submissions/uploads/{upload['id']}/parts/{number}",
        content=b"x",
        headers=desk.headers(**{"Content-Type": "application/zip"}),
    )

    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "E_NOT_FOUND")


def test_an_output_of_three_gibibytes_keeps_its_size(desk: Desk, spot: Path) -> None:
    handed = hand_in(desk, bundle(spot, pictures(2))).json()["submission"]

    with session(desk.settings.database) as db:
        db.add(Output(submission_id=handed, sample_id="a", outcome="scored", size=3 << 30))
    with session(desk.settings.database) as db:
        row = db.exec(select(Output)).one()
        db.delete(row)

    assert row.size == 3 << 30
    with session(desk.settings.database) as db:
        assert db.get(Submission, handed) is not None
