"""Operators' commands about teams: the inbox, who may submit, and the tokens for the API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli.parameters.names import SCOPE, TEAM, TOKEN_PREFIX, TeamName
from flows.cli.parameters.values import CONTACT, Name
from flows.cli.terminal import AsJson, fail, reporting_errors, say, show_rows

if TYPE_CHECKING:
    from submissions.intake.inbox import Taken

teams = typer.Typer(help="Teams that may use the API.", no_args_is_help=True)
tokens = typer.Typer(help="Tokens with which teams use the API.", no_args_is_help=True)


def intake(as_json: AsJson = False) -> None:
    """Hand in what teams dropped into the S3 inbox.

    ARMILLARY_INBOX names it.
    """
    from flows.workers.executor import prepare

    with reporting_errors() as settings:
        prepare(settings)
        from flows.operate.inbox import sweep

        if not settings.inbox:
            fail("There is no inbox. Set ARMILLARY_INBOX to s3://bucket/prefix.")
        rows = [
            {
                "team": drop.team,
                "what": drop.uri,
                "state": drop.state,
                "id": drop.submission_id or _first_problem(drop),
            }
            for drop in sweep(settings)
        ]
        show_rows(rows, as_json)


def _first_problem(drop: Taken) -> str:
    return drop.problems[0].code if drop.problems else ""


@teams.command("add")
def team_add(
    name: Annotated[str, typer.Argument(parser=Name("a team"))],
    contact: Annotated[
        str | None, typer.Option(parser=CONTACT, help="An e-mail address for notices.")
    ] = None,
) -> None:
    """Add a team."""
    from infra.db import session
    from submissions.teams.tokens import add_team

    with reporting_errors() as settings, session(settings.database) as db:
        say("Added." if add_team(db, name, contact or "") else "It is there already.")


@teams.command("block")
def team_block(name: TeamName, undo: bool = False) -> None:
    """Block a team, or unblock it with --undo."""
    from infra.db import session
    from submissions.teams.tokens import set_blocked

    with reporting_errors() as settings, session(settings.database) as db:
        set_blocked(db, name, not undo)
        say("Open again." if undo else "Blocked.")


@teams.command("quota")
def team_quota(name: TeamName, as_json: AsJson = False) -> None:
    """Show what a team has left in each suite."""
    from sqlmodel import col, select

    from infra.db import session
    from infra.tables import Suite
    from submissions.teams.quotas import allowance

    with reporting_errors() as settings, session(settings.database) as db:
        suites = db.exec(select(Suite.name).order_by(col(Suite.position))).all()
        quotas = {suite: allowance(db, settings, name, suite) for suite in suites}
        rows = [
            {
                "suite": suite,
                "scored": quota.used,
                "left": quota.left if quota.limited else "no limit",
                "running": quota.running,
                "next free": quota.renews_at or "",
            }
            for suite, quota in quotas.items()
        ]
        show_rows(rows, as_json)


@tokens.command("create")
def token_create(
    team: TeamName,
    scope: Annotated[
        list[str] | None,
        typer.Option(parser=SCOPE, help="read, submit, annotate, operate; repeat it."),
    ] = None,
    days: Annotated[float, typer.Option(min=0.01, max=365, help="How long it is valid.")] = 90,
) -> None:
    """Make a token; it is shown only once."""
    from infra.db import session
    from submissions.teams.tokens import create

    with reporting_errors() as settings, session(settings.database) as db:
        say(create(db, team, scope or ["read", "submit"], days))


@tokens.command("revoke")
def token_revoke(prefix: Annotated[str, typer.Argument(parser=TOKEN_PREFIX)]) -> None:
    """Revoke a token."""
    from infra.db import session
    from submissions.teams.tokens import revoke

    with reporting_errors() as settings, session(settings.database) as db:
        say(f"{revoke(db, prefix)} revoked.")


@tokens.command("list")
def token_list(
    team: Annotated[str | None, typer.Argument(parser=TEAM)] = None, as_json: AsJson = False
) -> None:
    """List tokens by their first characters."""
    from infra.db import session
    from submissions.teams.tokens import listed

    with reporting_errors() as settings, session(settings.database) as db:
        rows = [
            {
                "prefix": token.prefix,
                "team": token.team,
                "scopes": ", ".join(token.scopes),
                "expires": token.expires_at,
                "revoked": token.revoked_at or "",
                "last used": token.last_used_at or "",
            }
            for token in listed(db, team)
        ]
        show_rows(rows, as_json)
