"""A model behind an image API, generated here: blocked prompts are replaced, a broken run goes on,
private ids stay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean

import pytest
from fastapi.testclient import TestClient
from sqlmodel import select

from evaluators.contracts import FACETS, Outcome, Score
from evaluators.suites import suite_named
from flows.run.case import open_case
from infra.db import session
from infra.settings import Settings
from infra.store import open_store
from infra.tables import Output, Run
from leaderboard.api.app import create
from leaderboard.export.static_site import write
from submissions.intake.api_entry import enter
from submissions.intake.intake import PRIVATE
from tests.bundles import declaration, demo_samples
from tests.models.image_server import ImageServer, serve
from tests.suites.tailor import banks
from tests.suites.tailor.test_private import own

BLOCKED = 7


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ImageServer]:
    """An endpoint, and a private bank of five tasks beside it: fewer would tell too much about
    each."""
    banks.write(tmp_path / "private" / "tailor", own(5))
    with serve() as found:
        for name, value in (("URL", found.url), ("KEY", "sk-very-secret"), ("CONCURRENCY", "2")):
            monkeypatch.setenv(f"ARMILLARY_IMAGE_{name}", value)
        monkeypatch.setenv("ARMILLARY_PRIVATE", str(tmp_path / "private"))
        yield found


def entered(settings: Settings) -> str:
    """A model behind an API, for the demo subset."""
    endpoint = {"model": "painter-1", "snapshot": "2026-11-01"}
    with session(settings.database) as db:
        return enter(
            db, open_store(settings.objects), declaration(kind="api", endpoint=endpoint)
        ).submission_id


def outputs(settings: Settings, submission: str) -> dict[str, Output]:
    """Its rows by sample."""
    with session(settings.database) as db:
        return {
            row.sample_id: row
            for row in db.exec(select(Output).where(Output.submission_id == submission))
        }


def everything_public(settings: Settings, run: str, folder: Path) -> str:
    """All that the API says of a run and its entry, the exported files, and the log."""
    api = TestClient(create(Settings()))
    paths = [
        f"runs/{run}/{one}" for one in ("cells", "failures", "private", "samples?metric=index")
    ]
    said = [api.get(f"/v1/{path}").text for path in ("models", "runs", "status", *paths)]
    with session(settings.database) as db:
        written = write(db, folder)
    logs = [path.read_text("utf-8", "replace") for path in settings.home.rglob("*.log")]
    return "\n".join(
        [*said, *(Path(path).read_text("utf-8", "replace") for path in written), *logs]
    )


@pytest.mark.xdist_group("servers")
def test_blocked_prompts_are_replaced_and_private_ones_are_judged_and_never_shown(
    here: Settings, server: ImageServer, tmp_path: Path
) -> None:
    from flows.audit.verify import verify
    from flows.evaluate.flow import run_here
    from flows.evaluate.private_bank import private_scores

    samples = demo_samples()
    server.faults = {one.prompt: ["blocked!"] for one in samples[:BLOCKED]}
    submission = entered(here)
    run_here(submission, Settings())
    asked_before = set(server.asked)
    server.asked.clear()

    done = run_here(submission, Settings())

    found = outputs(here, submission)
    case = open_case(Settings(), submission)
    by_id = {one.id: one for one in suite_named("tailor").samples()}
    with session(here.database) as db:
        run = db.get_one(Run, done.run_id)
    private = [row for name, row in found.items() if name.startswith(PRIVATE)]
    assert (done.state, run.n_scored, run.n_expected) == ("published", 30, 30)
    assert "blocked 7 of its prompts (23%)" in run.why_not and run.eligible
    for one in samples[:BLOCKED]:
        other = by_id[str(found[one.id].record["replaced_by"])]
        assert (
            found[one.id].outcome == Outcome.BLOCKED and found[other.id].outcome == Outcome.SCORED
        )
        assert found[other.id].record["replaces"] == one.id
        assert (other.facets.scenario, other.facets.setting) == (
            one.facets.scenario,
            one.facets.setting,
        )
    assert samples[0].prompt in asked_before and not list(server.asked)
    assert len(private) == 50 and {row.outcome for row in private} == {Outcome.SCORED}
    assert {score.sample_id for score in private_scores(case).scores} == {
        row.sample_id for row in private
    }
    shown = everything_public(here, done.run_id, tmp_path / "site")
    assert PRIVATE not in shown and "sk-very" not in shown
    _aggregates_leave_with_a_gap(done.run_id, private_scores(case).scores)
    public = {row.media_sha256 for row in found.values() if row not in private}
    hidden = {row.media_sha256 for row in private} - public
    api = TestClient(create(Settings()))
    assert hidden and {api.get(f"/v1/media/{one}").status_code for one in hidden} == {404}
    assert verify(Settings(), submission).differences == ()


def _aggregates_leave_with_a_gap(run: str, scores: Sequence[Score]) -> None:
    rows = TestClient(create(Settings())).get(f"/v1/runs/{run}/private").json()
    (whole,) = [
        row
        for row in rows
        if row["metric"] == "physical_realism" and {row[name] for name in FACETS} == {"*"}
    ]
    values = [score.value for score in scores if score.metric == "physical_realism"]
    assert whole["value"] == pytest.approx(fmean(value for value in values if value is not None))
    assert (whole["n_scored"], whole["n_expected"]) == (50, 50)
    assert whole["gap_low"] < whole["gap"] < whole["gap_high"]
    assert whole["marked"] == (whole["gap"] > 2 * whole["gap_error"])
