"""The flow that writes a new bank: a language model proposes, people decide, the checks have the
last word.

Run it as often as you like under one name: what was answered is not asked again, and what people
decided stands.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any, Literal

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.task_runners import ThreadPoolTaskRunner
from prefect.utilities.annotations import quote
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import delete
from sqlmodel import Session, col, select

from evaluators.judges.http.budget import Budget
from evaluators.judges.http.endpoint import HttpJudgeConfig
from evaluators.suites.tailor import checks, task_files
from evaluators.suites.tailor.bank import Row, public
from evaluators.suites.tailor.curation import bank, review, steps
from evaluators.suites.tailor.curation.replies import (
    Contrary,
    Impossible,
    Instance,
    Unconventional,
)
from evaluators.suites.tailor.curation.review import (
    BankDraft,
    Decisions,
    DraftDecision,
    TaskDrafts,
    UnfinishedTask,
)
from evaluators.suites.tailor.curation.rubrics import SHARED, Common, Rubrics
from evaluators.suites.tailor.curation.steps import (
    TASKS_AN_ACTION,
    CannotCurate,
    Chosen,
    CurationQuestion,
    Task,
)
from evaluators.suites.tailor.curation.writer import CallOutcome as Reply
from evaluators.suites.tailor.curation.writer import Writer
from evaluators.suites.tailor.graph import AffordanceGraph, load
from evaluators.suites.tailor.wording import BankFinding
from flows.durable.progress import advance_progress, start_progress
from flows.suites.tailor_records import call_row, draft_row, record_id, write_records
from flows.workers.executor import cut
from infra import tables
from infra.db import add_new, session
from infra.settings import Settings
from leaderboard.queries.review_queue import offer

KEY = "ARMILLARY_LLM_KEY"
TOOL_STEPS = ("unconventional", "opposites", "impossible")
Payloads = dict[str, dict[str, Any]]
"""Usable replies by the key of their question."""


class CurationOptions(BaseModel):
    """What may be chosen beside the model. The limits are for one run; prices are for a million
    tokens."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    actions: tuple[str, ...] = ()
    tasks: int = Field(TASKS_AN_ACTION, ge=1)
    graph: Path | None = None
    folder: Path | None = None
    temperature: float | None = 0.7
    max_tokens: int = Field(8192, ge=1)
    limit_name: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    concurrency: int = Field(4, ge=1)
    tries: int = Field(4, ge=1)
    deadline: float = Field(300.0, gt=0)
    most_calls: int | None = None
    most_money: float | None = None
    price_in: float = 0.0
    price_out: float = 0.0
    again: bool = False


@dataclass(frozen=True, slots=True)
class Curated:
    """Where a curation stands after a run; the folder is written when there is something sound to
    write."""

    name: str
    calls: int
    failed: int
    unasked: int
    open: tuple[UnfinishedTask, ...]
    tasks: int
    findings: tuple[BankFinding, ...]
    folder: Path | None


@dataclass
class TailorCuration:
    """One run of the flow: what it works with and what it has counted."""

    name: str
    settings: Settings
    base_url: str
    model: str
    options: CurationOptions
    budget: Budget
    calls: int = 0
    asks: list[CurationQuestion] = field(default_factory=list)

    def config(self) -> HttpJudgeConfig:
        """The endpoint; the key is read here and now, and goes nowhere else."""
        same = (
            "temperature",
            "max_tokens",
            "limit_name",
            "concurrency",
            "tries",
            "deadline",
            "price_in",
            "price_out",
        )
        chosen = {name: getattr(self.options, name) for name in same}
        try:
            key = os.environ.get(KEY, "")
            return HttpJudgeConfig(
                self.base_url, self.model, revision=self.model, api_key=key, **chosen
            )
        except ValueError as error:
            raise CannotCurate(str(error)) from None

    def keep(self, reply: Reply) -> None:
        """Store a reply the moment it is complete; one that was never asked for leaves no row."""
        if reply.status != "budget":
            self.calls += 1
            with session(self.settings.database) as db:
                _store(db, self, reply)
        advance_progress(reply.ask.title)


@flow(name="curate", retries=0, persist_result=False)
def curate(name: str, base_url: str, model: str, options: CurationOptions | None = None) -> Curated:
    """Take a curation as far as the model's replies, the budget and people's decisions allow."""
    course = _course(name, base_url, model, options or CurationOptions())
    actions, graph = _actions(course.options), load(course.options.graph)
    chosen, open_ = _first_half(course, actions, graph)
    rows, later = _second_half(course, actions, chosen)
    new_bank = bank.assemble(actions, rows)
    bank_findings = checks.findings(new_bank) if rows else ()
    folder = course.options.folder if rows and not bank_findings else None
    if folder:
        task_files.write(new_bank, folder)
        with session(course.settings.database) as db:
            write_records(db, name, folder)
    open_tasks = (*open_, *later)
    return Curated(
        name, course.calls, *_tally(course), open_tasks, len(rows), bank_findings, folder
    )


def run_here(
    settings: Settings, name: str, base_url: str, model: str, options: CurationOptions
) -> Curated:
    """Run the flow in this process."""
    runner: Any = ThreadPoolTaskRunner(max_workers=settings.workers)
    curated: Curated = curate.with_options(task_runner=runner)(name, base_url, model, options)
    return curated


def _course(name: str, base_url: str, model: str, options: CurationOptions) -> TailorCuration:
    if not name.strip():
        raise CannotCurate(
            "The curation has no name. Give one, and the same again to go on with it."
        )
    calls, money = (
        inf if limit is None else limit for limit in (options.most_calls, options.most_money)
    )
    course = TailorCuration(
        name, Settings(), base_url, model, options, Budget(calls=calls, money=money)
    )
    course.config()
    return course


def _actions(options: CurationOptions) -> list[Row]:
    by_name = {str(row["action_name"]): row for row in public().actions}
    if unknown := [name for name in options.actions if name not in by_name]:
        raise CannotCurate(
            f"There is no action {unknown[0]!r}. The actions are {', '.join(by_name)}."
        )
    return [by_name[name] for name in options.actions or by_name]


def _first_half(
    course: TailorCuration, actions: Sequence[Row], graph: AffordanceGraph
) -> tuple[list[Chosen], list[UnfinishedTask]]:
    """Steps 1 to 4: tasks, tools, and what people chose of them."""
    first = [steps.ask_tasks(action, course.options.tasks) for action in actions]
    payloads = _answers(course, first)
    pairs = [(a, q) for a, q in zip(actions, first, strict=True) if q.key in payloads]
    tasks = [
        (bank_task, ask.key)
        for action, ask in pairs
        for bank_task in steps.tasks_of(action, payloads[ask.key])
    ]
    tools = _tools(course, [bank_task for bank_task, _ in tasks], graph)
    results = [_chosen(course, *of, tools[of[0].task_id]) for of in tasks]
    chosen = [result for result in results if isinstance(result, Chosen)]
    return chosen, [result for result in results if isinstance(result, UnfinishedTask)]


@dataclass(frozen=True, slots=True)
class ToolReplies:
    """What steps 2 and 3 wrote about one task, by step, and the key of each step's question."""

    payloads: Mapping[str, Mapping[str, Any]]
    sources: Mapping[str, str]


def _tools(
    course: TailorCuration, tasks: Sequence[Task], graph: AffordanceGraph
) -> dict[str, ToolReplies]:
    """Steps 2 and 3 for each task; opposites come first, and the graph is asked for those."""
    suited = {task_.task_id: steps.ask_unconventional(task_, graph) for task_ in tasks}
    contrary = {task_.task_id: steps.ask_opposites(task_) for task_ in tasks}
    payloads = _answers(course, [*suited.values()]) | _answers(course, [*contrary.values()])
    hopeless = {
        task_.task_id: steps.ask_impossible(
            task_, payloads[contrary[task_.task_id].key]["opposite_tool_attributes"], graph
        )
        for task_ in tasks
        if contrary[task_.task_id].key in payloads
    }
    payloads |= _answers(course, [*hopeless.values()])
    by_step = {"unconventional": suited, "opposites": contrary, "impossible": hopeless}
    return {task_.task_id: _tool_replies(by_step, task_.task_id, payloads) for task_ in tasks}


def _tool_replies(
    by_step: Mapping[str, Mapping[str, CurationQuestion]], task_id: str, payloads: Payloads
) -> ToolReplies:
    sources = {step: asks[task_id].key for step, asks in by_step.items() if task_id in asks}
    return ToolReplies(
        {step: payloads[key] for step, key in sources.items() if key in payloads}, sources
    )


def _chosen(
    course: TailorCuration, bank_task: Task, source: str, tools: ToolReplies
) -> Chosen | UnfinishedTask:
    if len(tools.payloads) < len(TOOL_STEPS):
        return UnfinishedTask(bank_task.task_id, "its tools are not written yet")
    tool_context = {"original_tool": bank_task.original_tool}
    drafts = review.first_round(
        bank_task,
        {"tasks": source, **tools.sources},
        Unconventional.model_validate(tools.payloads["unconventional"], context=tool_context),
        Contrary.model_validate(tools.payloads["opposites"]),
        Impossible.model_validate(tools.payloads["impossible"], context=tool_context),
    )
    return review.choose(bank_task, drafts, _queue(course, drafts))


def _second_half(
    course: TailorCuration, actions: Sequence[Row], chosen: Sequence[Chosen]
) -> tuple[list[bank.Rows], list[UnfinishedTask]]:
    """Steps 5 to 7: prompts, checklists, and what people left of them."""
    asks = [steps.ask_instances(choice) for choice in chosen]
    prompts = _answers(course, asks)
    written = [
        (
            choice,
            ask.key,
            [Instance.model_validate(row) for row in prompts[ask.key]["evaluation_instances"]],
        )
        for choice, ask in zip(chosen, asks, strict=True)
        if ask.key in prompts
    ]
    ready = _checklists(course, written)
    by_name = {row["action_name"]: row for row in actions}
    results = [_folded(course, by_name[drafts.task.action_name], drafts) for drafts in ready]
    finished_ids = {drafts.task.task_id for drafts in ready}
    missing = [
        UnfinishedTask(choice.task_id, "its prompts or checklists are not written yet")
        for choice in chosen
    ]
    rows = [result for result in results if isinstance(result, bank.Rows)]
    open_ = [result for result in results if isinstance(result, UnfinishedTask)]
    return rows, [*open_, *(task_ for task_ in missing if task_.task_id not in finished_ids)]


def _checklists(
    course: TailorCuration, written: Sequence[tuple[Chosen, str, list[Instance]]]
) -> list[TaskDrafts]:
    """Step 6: first what the five tools of a task share, then each tool's own."""
    shared = [steps.ask_common(chosen, instances) for chosen, _, instances in written]
    common_parts = {
        key: Common.model_validate(payload) for key, payload in _answers(course, shared).items()
    }
    own = [
        [steps.ask_rubrics(chosen, at, row, common_parts[ask.key]) for at, row in enumerate(rows)]
        if ask.key in common_parts
        else []
        for (chosen, _, rows), ask in zip(written, shared, strict=True)
    ]
    payloads = _answers(course, [ask for asks in own for ask in asks])
    ready = []
    for (chosen, source, rows), ask, asks in zip(written, shared, own, strict=True):
        if asks and all(rubric_question.key in payloads for rubric_question in asks):
            context = {
                "common": {part: getattr(common_parts[ask.key], part).questions for part in SHARED}
            }
            rubrics = [
                Rubrics.model_validate(payloads[rubric_question.key], context=context)
                for rubric_question in asks
            ]
            keys = {f"rubrics {at}": rubric_question.key for at, rubric_question in enumerate(asks)}
            sources = {"instances": source, "common": ask.key, **keys}
            ready.append(TaskDrafts(chosen, rows, common_parts[ask.key], rubrics, sources))
    return ready


def _folded(course: TailorCuration, action: Row, written: TaskDrafts) -> bank.Rows | UnfinishedTask:
    drafts = bank.noted(action, written, review.second_round(written))
    return bank.fold(written, drafts, _queue(course, drafts))


@task(
    retries=2,
    retry_delay_seconds=[1, 10],
    cache_policy=NO_CACHE,
    persist_result=False,
    log_prints=False,
)
def write_shard(course: TailorCuration, asks: Sequence[CurationQuestion]) -> None:
    """Ask what has no answer yet, a shard of questions at once."""
    Writer(course.config(), course.budget).write(_unanswered(course, asks), course.keep)


def _answers(course: TailorCuration, asks: Sequence[CurationQuestion]) -> Payloads:
    """The usable replies to these questions, after asking those that have none."""
    todo = _unanswered(course, asks)
    course.asks += asks
    if todo:
        start_progress(todo[0].title, len(todo))
    submit: Any = write_shard.submit
    futures = [
        submit(quote(course), quote(piece)) for piece in cut(todo, course.settings.shard_size)
    ]
    for future in futures:
        future.result()
    with session(course.settings.database) as db:
        payloads = {row.id: row.payload for row in _calls(db, course.name) if row.status == "done"}
    return {
        ask.key: payloads[_id(course, ask.key)] for ask in asks if _id(course, ask.key) in payloads
    }


def _unanswered(course: TailorCuration, asks: Iterable[CurationQuestion]) -> list[CurationQuestion]:
    """A reply that stayed bad counts as an answer, unless the failed ones are to be asked again."""
    final = ("done",) if course.options.again else ("done", "failed")
    with session(course.settings.database) as db:
        answered_ids = {row.id for row in _calls(db, course.name) if row.status in final}
    once = {ask.key: ask for ask in asks}
    return [ask for key, ask in once.items() if _id(course, key) not in answered_ids]


def _tally(course: TailorCuration) -> tuple[int, int]:
    """How many questions of this run have no usable reply, and how many were never put."""
    with session(course.settings.database) as db:
        states = {row.id: row.status for row in _calls(db, course.name)}
    call_states = [states.get(_id(course, ask.key)) for ask in course.asks]
    return sum(state in ("failed", "error") for state in call_states), call_states.count(None)


def _calls(db: Session, name: str) -> list[Any]:
    table = tables.CurationCall
    return list(
        db.execute(select(table.id, table.status, table.payload).where(table.curation == name))
    )


def _store(db: Session, course: TailorCuration, reply: Reply) -> None:
    """A usable reply is never replaced; a failure gives way to what comes after it."""
    table = tables.CurationCall
    call = call_row(course.name, course.model, course.options.temperature, reply)
    db.connection().execute(
        delete(table).where(col(table.id) == call.id, col(table.status) != "done")
    )
    add_new(db, table, [call.model_dump()])


def _queue(course: TailorCuration, drafts: Sequence[BankDraft]) -> Decisions:
    """Put a task's drafts in the queue, and read what was decided about them."""
    rows = {draft.key: draft_row(course.name, draft) for draft in drafts}
    with session(course.settings.database) as db:
        queued = offer(db, list(rows.values()))
    return {
        key: DraftDecision(queued[row["id"]].status, queued[row["id"]].words)
        for key, row in rows.items()
    }


def _id(course: TailorCuration, key: str) -> str:
    return record_id(course.name, key)
