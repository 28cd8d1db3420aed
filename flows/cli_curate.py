"""The commands for curating a bank: asking a language model, and deciding about what it wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flows.terminal import plain, progress, say, table, told


def curate(
    name: Annotated[str, typer.Argument(help="The same name again goes on where it stopped.")],
    base_url: Annotated[str, typer.Option(help="An OpenAI-compatible endpoint; its key is ARMILLARY_LLM_KEY.")],
    model: Annotated[str, typer.Option(help="The language model.")],
    to: Annotated[Path | None, typer.Option(help="Folder for the bank, written once it is sound.")] = None,
    action: Annotated[list[str] | None, typer.Option(help="An action; repeat it. Default: all 18.")] = None,
    tasks: Annotated[int, typer.Option(help="Tasks an action.")] = 20,
    graph: Annotated[Path | None, typer.Option(help="ConceptNet's assertions instead of our own graph.")] = None,
    temperature: Annotated[str, typer.Option(help="A number, or default: whatever the endpoint takes.")] = "0.7",
    max_tokens: int = 8192,
    completion_tokens: Annotated[bool, typer.Option(help="Send the limit as max_completion_tokens.")] = False,
    most_calls: Annotated[int | None, typer.Option(help="Calls in this run.")] = None,
    most_money: Annotated[float | None, typer.Option(help="Money in this run, by the two prices.")] = None,
    price_in: Annotated[float, typer.Option(help="For a million tokens.")] = 0.0,
    price_out: Annotated[float, typer.Option(help="For a million tokens.")] = 0.0,
    again: Annotated[bool, typer.Option(help="Ask again what failed.")] = False,
) -> None:
    """Write a new TailOR bank with a language model and people; run it again after each round of review."""
    from flows.engine import prepare

    with told() as settings, progress():
        prepare(settings)
        from flows.curate import Options, run_here

        chosen = Options.model_validate({
            "actions": tuple(action or ()), "tasks": tasks, "graph": graph, "folder": to, "again": again,
            "temperature": None if temperature == "default" else temperature, "max_tokens": max_tokens,
            "limit_name": "max_completion_tokens" if completion_tokens else "max_tokens",
            "most_calls": most_calls, "most_money": most_money, "price_in": price_in, "price_out": price_out,
        })  # fmt: skip
        done = run_here(settings, name, base_url, model, chosen)
    say(f"{done.asked} calls; {done.failed} without a usable reply, {done.unasked} not asked (budget).")
    table([{"task": one.task_id, "state": "out" if one.dropped else "open", "why": one.reason} for one in done.open])
    for finding in done.findings[:20]:
        say(plain(f"{finding.where}: {finding.what}"))
    if done.findings:
        say(f"{len(done.findings)} findings: edit these drafts and run again. Nothing was written.")
    say(f"{done.tasks} tasks are ready." + (f" Written: {plain(str(done.folder))}" if done.folder else ""))


review = typer.Typer(help="Decide about the drafts of a curation.", no_args_is_help=True)
Ids = Annotated[list[str], typer.Argument(help="Ids from `armillary review list`.")]
By = Annotated[str, typer.Option("--by", help="Who decides.")]
Why = Annotated[str, typer.Option("--reason", help="Why; needed to edit and to drop.")]


@review.command("list")
def review_list(curation: str, status: str = "candidate", task: str = "", most: int = 50) -> None:
    """Show drafts, and the questions that failed."""
    from infra.db import session
    from leaderboard.reviewing import queue, unwritten

    with told() as settings, session(settings.database) as db:
        rows = queue(db, curation, status, task, None, most)
        table([{"id": one.id, "where": one.where, "words": str(dict(one.words)), "checks": one.note} for one in rows])
        for bad in unwritten(db, curation):
            say(plain(f"{bad.status}: {bad.step} {bad.subject}, {bad.tries} tries: {bad.reason}"))


@review.command("keep")
def review_keep(ids: Ids, by: By, reason: Why = "") -> None:
    """Let drafts stand as they were written."""
    from infra.db import session
    from leaderboard.reviewing import keep

    with told() as settings, session(settings.database) as db:
        say(f"Kept: {keep(db, ids, by, reason)}.")


@review.command("keep-rest")
def review_keep_rest(curation: str, task: str, step: int, by: By) -> None:
    """Let all undecided drafts of a task and step (4 or 7) stand."""
    from infra.db import session
    from leaderboard.reviewing import keep_rest

    with told() as settings, session(settings.database) as db:
        say(f"Kept: {keep_rest(db, curation, task, step, by)}.")


@review.command("edit")
def review_edit(id: str, words: Annotated[list[str], typer.Argument(help="key=text ...")], by: By, reason: Why) -> None:
    """Let a draft stand in other words; a list has one line an entry."""
    from infra.db import session
    from leaderboard.reviewing import edit

    with told() as settings, session(settings.database) as db:
        edit(db, id, dict(word.partition("=")[::2] for word in words), by, reason)
        say("Edited.")


@review.command("drop")
def review_drop(ids: Ids, by: By, reason: Why) -> None:
    """Take drafts out."""
    from infra.db import session
    from leaderboard.reviewing import drop

    with told() as settings, session(settings.database) as db:
        say(f"Dropped: {drop(db, ids, by, reason)}.")
