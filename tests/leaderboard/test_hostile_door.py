"""Sixty hostile names and texts handed in at the door, put on the board, and read on the page, in
files and the API."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlmodel import col

from evaluators.judges.card import fingerprint
from evaluators.suites import suite_named
from flows.evaluate.door import receive
from flows.run.catalogue import judge_row, load
from infra import tables
from infra.db import add_new, migrate, session
from infra.settings import Settings
from leaderboard.api.app import create
from leaderboard.cache import on_publish
from leaderboard.export.text import as_csv
from leaderboard.queries import ranking
from leaderboard.queries.ranking import BoardAddress
from submissions.format.errors import IntakeError
from submissions.teams.lifecycle import State, advance
from tests.boards import seen_by
from tests.bundles import drawn_outputs
from tests.leaderboard.made_board import AUTO
from tests.leaderboard.pages import opened, strange_html, words_of
from tests.leaderboard.test_hostile import ALL

START = ("=", "+", "-", "@", "\t", "\r")


@pytest.fixture(scope="module")
def handed(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Settings, dict[str, str], list[IntakeError]]:
    """A board on which every text stands that the door let through, and what it said to the
    others."""
    folder = tmp_path_factory.mktemp("hostile")
    settings = Settings(home=folder / "home")
    migrate(settings.database)
    taken: dict[str, str] = {}
    refused: list[IntakeError] = []
    with session(settings.database) as db:
        load(db)
        add_new(db, tables.Judge, [judge_row(AUTO)])
    for number, text in enumerate(ALL):
        for name in (text, f"Plain name {number}"):
            try:
                taken[_handed_in(settings, folder / f"{number}.zip", name, text, number)] = text
                break
            except IntakeError as error:
                refused.append(error)
    return settings, taken, refused


def _handed_in(settings: Settings, path: Path, name: str, text: str, number: int) -> str:
    """The text as a name too, where the door allows it; else as what the team says of its model."""

    def edit(manifest: dict[str, Any], members: dict[str, bytes]) -> None:
        kept = manifest["files"][:1]
        manifest.update(
            files=kept,
            partial=True,
            model={**manifest["model"], "name": name, "organisation": name},
        )
        manifest["disclosure"]["statement"] = text
        for other in set(members) - {kept[0]["path"]}:
            del members[other]

    bundle = drawn_outputs(path, edit, shift=number)
    with session(settings.database) as db:
        entry = receive(settings, str(bundle), None, None).submission_id
        _publish(db, entry, number)
    return entry


def _publish(db: Any, entry: str, number: int) -> None:
    suite = suite_named("tailor")
    run = tables.Run(
        id=f"run-{entry}",
        submission_id=entry,
        board="b",
        suite="tailor",
        suite_version=suite.version,
        subset="demo",
        scorer_version=suite.scorer_version,
        judge=fingerprint(AUTO),
        state="published",
        eligible=True,
        published_at=tables.now(),
    )
    seen_by(db, run.board, run.judge)
    at: dict[str, Any] = dict.fromkeys(ranking.FACETS, "*")
    cell = tables.Cell(
        run_id=run.id,
        metric=suite.metrics[0].name,
        value=float(number),
        n_scored=1,
        n_expected=1,
        **at,
    )
    with on_publish.kept_up(db, col(tables.Run.id) == run.id):
        add_new(db, tables.Run, [run.model_dump()])
        add_new(db, tables.Cell, [cell.model_dump()])
    advance(db, entry, State.PUBLISHED, "On the board.")


def test_the_door_takes_names_as_text_or_says_what_is_wrong_with_them(
    handed: tuple[Settings, dict[str, str], list[IntakeError]],
) -> None:
    _, taken, refused = handed

    assert len(set(taken.values())) >= 40
    assert len(taken) + len(refused) >= len(ALL)
    assert all(
        problem.code.startswith("E_") and problem.hint
        for error in refused
        for problem in error.problems
    )
    assert max(len(problem.message) for error in refused for problem in error.problems) < 1000


def test_what_was_let_through_is_inert_in_csv_json_and_api(
    handed: tuple[Settings, dict[str, str], list[IntakeError]],
) -> None:
    settings, taken, _ = handed
    with session(settings.database) as db:
        rows = [
            one for one in ranking.ranking(db, "tailor", None, BoardAddress()) if one.trust != "C"
        ]

    cells = [cell for line in csv.reader(io.StringIO(as_csv(rows), newline="")) for cell in line]
    answer = TestClient(create(settings)).get("/v1/suites/tailor/ranking")

    assert {one.submission_id for one in rows} == set(taken)
    assert not [cell for cell in cells if cell.lstrip().startswith(START)]
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("view", ["overview", "ranking", "model", "compare", "submit", "system"])
def test_what_was_let_through_is_text_on_the_page(
    view: str,
    handed: tuple[Settings, dict[str, str], list[IntakeError]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings, taken, _ = handed
    monkeypatch.setenv("ARMILLARY_HOME", str(settings.home))
    hostile = next(entry for entry, text in taken.items() if text == "[a](javascript:alert(1))")

    page = opened(view, id=hostile)

    assert not page.exception
    assert not [element for element in page.markdown if element.allow_html]
    assert "<img" not in words_of(page).replace("\\<img", "")
    assert "\u202e" not in words_of(page)
    assert strange_html(page) == []
    assert not [html for html in page.get("html") if "\u202e" in html.proto.body]
    for frame in (table.value for table in page.dataframe):
        texts = [str(value) for column in frame.columns for value in frame[column]]
        assert not [text for text in texts if len(text) > 400 or "\u202e" in text or "\n" in text]
