"""The commands of TailOR: curating a bank with a language model, reviewing its drafts, and
correcting a failure mode."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from flows.cli.commands.tailor import bank, reading
from flows.cli.parameters.names import ACTION, DRAFT, RUN, CurationName, NameWithin
from flows.cli.parameters.paths import ExistingFile, NewFolder
from flows.cli.parameters.values import REASON, By, Name, NumberOrDefault, Pair, Url, Words
from flows.cli.terminal import AsJson, plain, progress, reporting_errors, say, show_rows

if TYPE_CHECKING:
    from flows.suites.tailor_curate import Curated

MOST_FINDINGS = 20
ENDPOINT = Url("an OpenAI-compatible endpoint")
GRAPH = ExistingFile("ConceptNet's assertions, plain or gzip", text=False)

tailor = typer.Typer(help="Curate an item bank, check and review it.", no_args_is_help=True)
tailor.command("check-bank")(bank.check_bank)
tailor.command("review-report")(bank.review_report)
tailor.command("items")(bank.items)
tailor.command("review-bank")(reading.review_bank)
tailor.command("review-export")(reading.review_export)


@tailor.command()
def curate(
    name: Annotated[
        str,
        typer.Argument(
            parser=Name("a curation"), help="The same name again goes on where it stopped."
        ),
    ],
    base_url: Annotated[
        str,
        typer.Option(
            parser=ENDPOINT, help="An OpenAI-compatible endpoint; its key is ARMILLARY_LLM_KEY."
        ),
    ],
    model: Annotated[
        str, typer.Option(parser=Words("the language model", 200), help="The language model.")
    ],
    to: Annotated[
        Path | None,
        typer.Option(
            parser=NewFolder("the bank"), help="Folder for the bank, written once it is sound."
        ),
    ] = None,
    action: Annotated[
        list[str] | None, typer.Option(parser=ACTION, help="An action; repeat it. Default: all 18.")
    ] = None,
    tasks: Annotated[int, typer.Option(min=1, max=1000, help="Tasks an action.")] = 20,
    graph: Annotated[
        Path | None,
        typer.Option(parser=GRAPH, help="ConceptNet's assertions instead of our own graph."),
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(
            parser=NumberOrDefault(0, 2), help="0 to 2, or default: as the endpoint does."
        ),
    ] = 0.7,
    max_tokens: Annotated[
        int, typer.Option(min=1, max=10_000_000, help="The longest reply.")
    ] = 8192,
    completion_tokens: Annotated[
        bool, typer.Option(help="Send the limit as max_completion_tokens.")
    ] = False,
    most_calls: Annotated[
        int | None, typer.Option(min=0, max=10**9, help="Calls in this run.")
    ] = None,
    most_money: Annotated[
        float | None, typer.Option(min=0, max=10**9, help="Money in this run, by the two prices.")
    ] = None,
    price_in: Annotated[float, typer.Option(min=0, max=10**6, help="For a million tokens.")] = 0.0,
    price_out: Annotated[float, typer.Option(min=0, max=10**6, help="For a million tokens.")] = 0.0,
    again: Annotated[bool, typer.Option(help="Ask again what failed.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a new item bank with a language model and people.

    Run it again after each round of review.
    """
    from flows.workers.executor import prepare

    with reporting_errors() as settings, progress():
        prepare(settings)
        from evaluators.suites.tailor.graph import check_file
        from flows.suites.tailor_curate import CurationOptions, run_here

        if graph:
            check_file(graph)
        chosen = CurationOptions.model_validate(
            {
                "actions": tuple(action or ()),
                "tasks": tasks,
                "graph": graph,
                "folder": to,
                "again": again,
                "temperature": temperature,
                "max_tokens": max_tokens,
                "limit_name": "max_completion_tokens" if completion_tokens else "max_tokens",
                "most_calls": most_calls,
                "most_money": most_money,
                "price_in": price_in,
                "price_out": price_out,
            }
        )
        curated = run_here(settings, name, base_url, model, chosen)
    _report(curated, as_json)


def _report(curated: Curated, as_json: bool) -> None:
    say(
        f"{curated.calls} calls; {curated.failed} without a usable reply, {curated.unasked} not "
        "asked (budget).",
        err=as_json,
    )
    rows = [
        {"task": task.task_id, "state": "out" if task.dropped else "open", "why": task.reason}
        for task in curated.open
    ]
    show_rows(rows, as_json)
    for finding in curated.findings[:MOST_FINDINGS]:
        say(plain(f"{finding.where}: {finding.problem}"), err=as_json)
    if curated.findings:
        say(
            f"{len(curated.findings)} findings: edit these drafts and run again. Nothing was "
            "written.",
            err=as_json,
        )
    written = f" Written: {plain(str(curated.folder))}" if curated.folder else ""
    say(f"{curated.tasks} tasks are ready.{written}", err=as_json)


@tailor.command()
def failure(
    run: Annotated[str, typer.Argument(parser=RUN)],
    sample: Annotated[str, typer.Argument(parser=NameWithin("sample"))],
    mode: Annotated[str, typer.Argument(parser=NameWithin("failure mode"))],
    by: By,
    reason: Annotated[str, typer.Option(parser=REASON, help="Why.")],
) -> None:
    """Decide which failure mode counts for a weak output.

    A person's decision replaces the judge's.
    """
    from flows.evaluate.failure_modes import decide

    with reporting_errors() as settings:
        decide(settings, run, sample, mode, by, reason)
        say(plain(f"{sample} counts as {mode} now."))


review = typer.Typer(help="Decide about the drafts of a curation.", no_args_is_help=True)
tailor.add_typer(review, name="review")
Ids = Annotated[
    list[str],
    typer.Argument(parser=DRAFT, help="Ids that the command `review list` shows."),
]
Why = Annotated[
    str, typer.Option("--reason", parser=REASON, help="Why; needed to edit and to drop.")
]
Status = Literal["candidate", "kept", "edited", "dropped"]
TASK = NameWithin("task")


@review.command("list")
def review_list(
    curation: CurationName,
    status: Status = "candidate",
    task: Annotated[str | None, typer.Option(parser=TASK, help="Only this task's drafts.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="How many are shown.")] = 50,
    as_json: AsJson = False,
) -> None:
    """Show drafts, and the questions that failed."""
    from infra.db import session
    from leaderboard.queries.review_queue import check_task, queue, unwritten

    with reporting_errors() as settings, session(settings.database) as db:
        if task is not None:
            check_task(db, curation, task)
        drafts = queue(db, curation, status, task or "", None, limit)
        rows = [
            {
                "id": draft.id,
                "where": draft.where,
                "words": str(dict(draft.words)),
                "checks": draft.note,
            }
            for draft in drafts
        ]
        show_rows(rows, as_json)
        for bad in unwritten(db, curation):
            line = f"{bad.status}: {bad.step} {bad.subject}, {bad.tries} tries: {bad.reason}"
            say(plain(line), err=as_json)


@review.command("keep")
def review_keep(
    ids: Ids,
    by: By,
    reason: Annotated[str | None, typer.Option(parser=REASON, help="Why, if you like.")] = None,
) -> None:
    """Let drafts stand as they were written."""
    from infra.db import session
    from leaderboard.queries.review_queue import keep

    with reporting_errors() as settings, session(settings.database) as db:
        say(f"Kept: {keep(db, ids, by, reason or '')}.")


@review.command("keep-rest")
def review_keep_rest(
    curation: CurationName,
    task: Annotated[str, typer.Argument(parser=TASK)],
    step: Annotated[
        Literal["4", "7"], typer.Argument(help="4: tasks and tools; 7: what is written about them.")
    ],
    by: By,
) -> None:
    """Let all undecided drafts of a task and step (4 or 7) stand."""
    from infra.db import session
    from leaderboard.queries.review_queue import check_task, keep_rest

    with reporting_errors() as settings, session(settings.database) as db:
        check_task(db, curation, task)
        say(f"Kept: {keep_rest(db, curation, task, int(step), by)}.")


@review.command("edit")
def review_edit(
    id: Annotated[str, typer.Argument(parser=DRAFT)],
    words: Annotated[
        list[str], typer.Argument(parser=Pair("a part of a draft"), help="key=text ...")
    ],
    by: By,
    reason: Why,
) -> None:
    """Let a draft stand in other words; a list has one line an entry."""
    from infra.db import session
    from leaderboard.queries.review_queue import edit

    with reporting_errors() as settings, session(settings.database) as db:
        edit(db, id, dict(word.partition("=")[::2] for word in words), by, reason)
        say("Edited.")


@review.command("drop")
def review_drop(ids: Ids, by: By, reason: Why) -> None:
    """Take drafts out."""
    from infra.db import session
    from leaderboard.queries.review_queue import drop

    with reporting_errors() as settings, session(settings.database) as db:
        say(f"Dropped: {drop(db, ids, by, reason)}.")
