"""One submission in work: everything its stages need, loaded once."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlmodel import Session, select

from evaluators.contracts import Outcome, Sample, Suite
from evaluators.judges.card import request_key
from evaluators.suites import suite_named
from flows.run.board_keys import board_key
from flows.run.catalogue import judge_row
from flows.workers.judges import JudgeOptions, open_judge, requests_at_once
from flows.workers.specs import WorkerPlace
from infra import db as database
from infra import tables
from infra.db import add_new
from infra.settings import Settings
from infra.store import Store, open_store, report_key
from submissions.format.errors import shown
from submissions.teams.lifecycle import Fault
from submissions.teams.roles import WHY_UNRANKED


class Stopped(Exception):
    """The evaluation cannot go on; says whose fault it is and what to do next."""

    def __init__(self, code: str, fault: Fault, text: str) -> None:
        super().__init__(text)
        self.code, self.fault, self.text = code, fault, text

    def explain(self) -> str:
        """The code, what happened, and whose turn it is now."""
        ours = self.fault == "ours"
        whose = (
            "This is our fault, it costs you nothing."
            if ours
            else "This is for the submitter to fix."
        )
        return f"{self.code}: {self.text} {whose}"


class Withdrawn(Stopped):
    """The submission's team has taken it back while it was in work."""

    def __init__(self) -> None:
        super().__init__(
            "E_WITHDRAWN", "submitter", "Its team has taken it back; nothing more is done for it."
        )


class NoSuchSubmission(Exception):
    """There is no submission of that id; the message says how to find the right one."""


@dataclass(frozen=True)
class EvaluationCase:
    """A submission, its suite, and the run that evaluates it under today's rules.

    `chosen` are other samples than those the submission should answer: replacements, or an
    operator's private ones. `judged_at_once` is how many samples a shard of judging holds, where
    the judge wants another number than usual.
    """

    settings: Settings
    submission: tables.Submission
    suite: Suite
    run: tables.Run
    chosen: tuple[Sample, ...] | None = None
    judged_at_once: int | None = None

    @cached_property
    def samples(self) -> tuple[Sample, ...]:
        """The samples this submission should answer; in place of one that a filter blocked stands
        its replacement."""
        if self.chosen is not None:
            return self.chosen
        in_subset = self.suite.subsets[self.submission.subset]
        modalities = self.submission.manifest["modalities"]
        bank = {sample.id: sample for sample in self.suite.samples()}
        return tuple(
            bank[self.stand_in(sample.id)]
            for sample in bank.values()
            if in_subset(sample) and sample.facets.modality in modalities
        )

    def stand_in(self, sample_id: str) -> str:
        """The sample that is scored in place of this one: itself, unless it was blocked and
        replaced."""
        while sample_id in self.replaced:
            sample_id = self.replaced[sample_id]
        return sample_id

    @cached_property
    def replaced(self) -> dict[str, str]:
        """Blocked samples and what was drawn in their place; nothing for outputs that were made
        elsewhere and of which none is declared to be blocked."""
        if self.submission.kind == "outputs" and not self.submission.manifest.get("blocked"):
            return {}
        table = tables.Output
        query = select(table.sample_id, table.record).where(
            table.submission_id == self.submission.id, table.outcome == Outcome.BLOCKED
        )
        with database.session(self.settings.database) as db:
            return {
                name: record["replaced_by"]
                for name, record in db.exec(query)
                if "replaced_by" in record
            }

    @cached_property
    def requests(self) -> dict[str, str]:
        """The hash of what is asked about each sample."""
        return {
            sample.id: request_key(sample.prompt, sample.facets.modality, sample.questions)
            for sample in self.samples
        }

    @cached_property
    def place(self) -> WorkerPlace:
        """Where a worker finds the objects and folders that its shards need."""
        settings = self.settings
        shelf, private = (
            str(path.resolve()) if path else "" for path in (settings.shelf, settings.private)
        )
        return WorkerPlace(
            store=settings.objects,
            endpoint=settings.s3_endpoint,
            work=str(settings.work),
            device=settings.device,
            shelf=shelf,
            private=private,
            submission=self.submission.id,
        )

    @cached_property
    def store(self) -> Store:
        """The object store."""
        return open_store(self.settings.objects, self.settings.s3_endpoint)

    @cached_property
    def report(self) -> dict[str, Any]:
        """What the door found in the bundle."""
        report: dict[str, Any] = json.loads(self.store.get(report_key(self.submission.id)))
        return report


def find_submission(settings: Settings, submission_id: str) -> tables.Submission:
    """The submission of that id, if there is one."""
    with database.session(settings.database) as db:
        submission = db.get(tables.Submission, submission_id)
    if submission is None:
        raise NoSuchSubmission(
            f"There is no submission {shown(submission_id)}. `armillary status` lists them all."
        )
    return submission


def open_case(settings: Settings, submission_id: str) -> EvaluationCase:
    """Load a submission and open its run; the same rules give the same run."""
    submission = find_submission(settings, submission_id)
    with database.session(settings.database) as db:
        suite = suite_named(submission.suite)
        if suite.version != submission.suite_version:
            raise Stopped(
                "E_SUITE_VERSION",
                "ours",
                f"{suite.name} is at version {suite.version} now, this was handed in for "
                f"{submission.suite_version}. "
                "Evaluate it with the release of that version.",
            )
        run = _open_run(db, settings, submission, suite)
        at_once = requests_at_once(settings, settings.shard_size)
        return EvaluationCase(settings, submission, suite, run, judged_at_once=at_once)


def _open_run(
    db: Session, settings: Settings, submission: tables.Submission, suite: Suite
) -> tables.Run:
    options = JudgeOptions.of(settings, suite.judging)
    row_of_judge = judge_row(
        suite.own_judge or open_judge(settings.judge, settings.device, options).card
    )
    judge = str(row_of_judge["fingerprint"])
    add_new(db, tables.Judge, [row_of_judge])
    board = board_key(suite, submission.subset, judge)
    run_id = f"run-{hashlib.sha256(f'{submission.id} {board}'.encode()).hexdigest()[:12]}"
    partial = bool(submission.manifest["partial"])
    row = tables.Run(
        id=run_id,
        submission_id=submission.id,
        board=board,
        suite=suite.name,
        suite_version=suite.version,
        scorer_version=suite.scorer_version,
        subset=submission.subset,
        judge=judge,
        state="open",
        eligible=not partial and submission.role == "entry",
        why_not="handed in as partial" if partial else WHY_UNRANKED[submission.role],
    )
    add_new(db, tables.Run, [row.model_dump()])
    return db.get_one(tables.Run, run_id)
