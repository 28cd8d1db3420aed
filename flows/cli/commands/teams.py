"""The operator's commands for the door: teams, and the keys with which they hand things in over the
API."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli.parameters.names import SCOPE, TEAM, TOKEN_PREFIX, SubmissionId, TeamName
from flows.cli.parameters.paths import NewFolder
from flows.cli.parameters.values import CONTACT, Name
from flows.cli.terminal import fail, plain, say, table, told

if TYPE_CHECKING:
    from infra.settings import Settings
    from submissions.intake.inbox import Taken

teams = typer.Typer(help="Teams that may use the API.", no_args_is_help=True)
tokens = typer.Typer(help="Their keys.", no_args_is_help=True)


def intake() -> None:
    """Hand in what teams have dropped into the inbox in S3 (ARMILLARY_INBOX)."""
    from flows.workers.executor import prepare

    with told() as settings:
        prepare(settings)
        from flows.operate.inbox import sweep

        if not settings.inbox:
            fail("There is no inbox. Set ARMILLARY_INBOX to s3://bucket/prefix.")
        done = sweep(settings)
        table(
            [
                {
                    "team": one.team,
                    "what": one.uri,
                    "state": one.state,
                    "id": one.submission_id or _first(one),
                }
                for one in done
            ]
        )


def report(
    submission_id: SubmissionId,
    most: Annotated[
        int, typer.Option(min=1, max=100_000, help="How many files are shown, the worst first.")
    ] = 20,
    docs: Annotated[
        Path | None,
        typer.Option(
            parser=NewFolder("the pages"),
            help="Also write Great Expectations' own pages into this folder.",
        ),
    ] = None,
) -> None:
    """Show what the gates between the stages found in a submission, file by file, the worst
    first."""
    from infra.store import open_store
    from submissions.gates.report import kept, summary, worst

    with told() as settings:
        found = kept(open_store(settings.objects, settings.s3_endpoint), submission_id)
        if not found:
            fail(f"No gate has seen {submission_id} yet. `armillary status` lists the submissions.")
        table(summary(found))
        lines = worst(found, most)
        if lines:
            table(lines)
        if docs:
            say(f"Written: {plain(str(_docs(settings, submission_id, docs)))}")


def _docs(settings: Settings, submission_id: str, folder: Path) -> Path:
    from flows.workers.executor import prepare

    prepare(settings)
    from flows.evaluate import gates
    from flows.publish.publish import stored_scores
    from flows.run.case import open_case
    from submissions.gates.expectations import write_docs

    case = open_case(settings, submission_id)
    published = gates.before_publication(case, stored_scores(case))
    seen = (gates.after_intake(case), gates.after_generation(case), published)
    return write_docs(seen, folder)


def _first(taken: Taken) -> str:
    return taken.problems[0].code if taken.problems else ""


@teams.command("add")
def team_add(
    name: Annotated[str, typer.Argument(parser=Name("a team"))],
    contact: Annotated[
        str | None, typer.Option(parser=CONTACT, help="An e-mail address for notices.")
    ] = None,
) -> None:
    """Enter a team."""
    from infra.db import session
    from submissions.teams.tokens import add_team

    with told() as settings, session(settings.database) as db:
        say("Entered." if add_team(db, name, contact or "") else "It is there already.")


@teams.command("block")
def team_block(name: TeamName, undo: bool = False) -> None:
    """Shut the door to a team, or open it again."""
    from infra.db import session
    from submissions.teams.tokens import set_blocked

    with told() as settings, session(settings.database) as db:
        set_blocked(db, name, not undo)
        say("Open again." if undo else "Blocked.")


@teams.command("quota")
def team_quota(name: TeamName) -> None:
    """Show what a team has left in each suite."""
    from sqlmodel import col, select

    from infra.db import session
    from infra.tables import Suite
    from submissions.teams.quotas import allowance

    with told() as settings, session(settings.database) as db:
        suites = db.exec(select(Suite.name).order_by(col(Suite.position))).all()
        found = [(suite, allowance(db, settings, name, suite)) for suite in suites]
        table(
            [
                {
                    "suite": suite,
                    "scored": one.used,
                    "left": one.left if one.limited else "no limit",
                    "running": one.running,
                    "next free": one.renews_at or "",
                }
                for suite, one in found
            ]
        )


@tokens.command("create")
def token_create(
    team: TeamName,
    scope: Annotated[
        list[str] | None,
        typer.Option(parser=SCOPE, help="read, submit, annotate, operate; repeat it."),
    ] = None,
    days: Annotated[
        float, typer.Option(min=0.01, max=365, help="How long it opens the door.")
    ] = 90,
) -> None:
    """Make a key; it is shown this once."""
    from infra.db import session
    from submissions.teams.tokens import create

    with told() as settings, session(settings.database) as db:
        say(create(db, team, scope or ["read", "submit"], days))


@tokens.command("revoke")
def token_revoke(prefix: Annotated[str, typer.Argument(parser=TOKEN_PREFIX)]) -> None:
    """Make a key useless."""
    from infra.db import session
    from submissions.teams.tokens import revoke

    with told() as settings, session(settings.database) as db:
        say(f"{revoke(db, prefix)} revoked.")


@tokens.command("list")
def token_list(team: Annotated[str | None, typer.Argument(parser=TEAM)] = None) -> None:
    """Show the keys by their first characters."""
    from infra.db import session
    from submissions.teams.tokens import listed

    with told() as settings, session(settings.database) as db:
        table(
            [
                {
                    "prefix": key.prefix,
                    "team": key.team,
                    "scopes": ", ".join(key.scopes),
                    "expires": key.expires_at,
                    "revoked": key.revoked_at or "",
                    "last used": key.last_used_at or "",
                }
                for key in listed(db, team)
            ]
        )
