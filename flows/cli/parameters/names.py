"""Names of options and arguments that have to exist: suites and their parts, and rows of the
database."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flows.cli.parameters.paths import ExistingFile
from flows.cli.parameters.values import Checked, Shape, printable
from flows.cli.terminal import refuse, reporting_errors

if TYPE_CHECKING:
    from sqlmodel import Session

    from evaluators.contracts import Suite

MOST_COMPARED = 5000
"""How many stored names are compared to suggest a similar one."""
MOST_LISTED = 5


@dataclass(frozen=True, slots=True)
class NameInCode:
    """A name from a list in the code."""

    noun: str
    names: Callable[[], Iterable[str]]

    def __call__(self, value: str) -> str:
        """The name, if it is on the list."""
        return _named(self.noun, value, self.names())


@dataclass(frozen=True, slots=True)
class NameInDatabase:
    """A name that a row of the database has, in one of several columns.

    With `by_prefix`, the beginning of a name stands for it if no other name begins so.
    """

    noun: str
    columns: Callable[[], tuple[Any, ...]]
    next_step: str
    by_prefix: bool = False

    def __call__(self, value: str) -> str:
        """The name, if there is such a row."""
        from infra.db import session
        from submissions.format.suggestions import no_such

        name = printable(value, f"the {self.noun}")
        with reporting_errors() as settings, session(settings.database) as db:
            columns = self.columns()
            if _stored(db, columns, lambda column: column == name, 1):
                return name
            longer = self._beginning_with(db, columns, name) if self.by_prefix else []
            names = [] if longer else _stored(db, columns, None, MOST_COMPARED)
        if len(longer) == 1:
            return longer[0]
        if longer:
            refuse(_ambiguous(self.noun, name, longer))
        refuse(no_such(self.noun, name, names, self.next_step))

    def _beginning_with(self, db: Session, columns: tuple[Any, ...], prefix: str) -> list[str]:
        """SQLite compares LIKE without regard to case, so the cases are compared here."""
        names = _stored(
            db, columns, lambda column: column.startswith(prefix, autoescape=True), MOST_COMPARED
        )
        return [name for name in names if name.startswith(prefix)]


@dataclass(frozen=True, slots=True)
class NameWithin:
    """A name inside something else that is named too, such as a suite's metric; the command checks
    that it exists there."""

    noun: str

    def __call__(self, value: str) -> str:
        """The name, if it can be one."""
        return printable(value, f"the {self.noun}")


@dataclass(frozen=True, slots=True)
class SubmissionOrReceipt:
    """The id of a submission, or a receipt's file."""

    submission: NameInDatabase
    receipt: ExistingFile

    def __call__(self, value: str) -> str:
        """The id or the path."""
        if value.endswith(".json") or "/" in value or os.path.isfile(value):
            return str(self.receipt(value))
        return self.submission(value)


def _stored(
    db: Session, columns: tuple[Any, ...], where: Callable[[Any], Any] | None, limit: int
) -> list[str]:
    """Different values of the columns, so many at most of each column."""
    from sqlmodel import select

    names: list[str] = []
    for column in columns:
        query = select(column).distinct().limit(limit)
        names += map(str, db.exec(query if where is None else query.where(where(column))))
    return names


def _ambiguous(noun: str, prefix: str, names: list[str]) -> str:
    from submissions.format.errors import shown

    listed = ", ".join(sorted(names)[:MOST_LISTED])
    return (
        f"{len(names)} {noun}s begin with {shown(prefix)}: {listed}"
        f"{', …' if len(names) > MOST_LISTED else ''}. Write more of the id."
    )


def subset_of(suite: Suite, subset: str) -> str:
    """The subset, if the suite has it."""
    return _named("subset", subset, suite.subsets, suite.name)


def modality_of(suite: Suite, modality: str) -> str:
    """The modality, if the suite has samples in it; `*` stands for all."""
    own = dict.fromkeys(sample.facets.modality for sample in suite.samples())
    return _named("modality", modality, ["*", *own], suite.name)


def _named(noun: str, value: str, names: Iterable[str], within: str = "") -> str:
    """The name, if it is on the list; `within` is the suite that a --subset or --modality is of."""
    from submissions.format.suggestions import no_such

    existing, name = list(names), printable(value, f"the {noun}")
    if name not in existing:
        message = no_such(noun, name, existing, within=within)
        raise typer.BadParameter(message, param_hint=f"'--{noun}'" if within else None)
    return name


def _suites() -> Iterable[str]:
    from evaluators.suites import suite_names

    return suite_names()


def _actions() -> Iterable[str]:
    from evaluators.suites.tailor.bank import public

    return [str(row["action_name"]) for row in public().actions]


def _bank_tasks() -> Iterable[str]:
    """The names of the files, so that a task whose file cannot be read can be named too."""
    from evaluators.suites.tailor.bank import task_names

    return task_names()


def _universe_subsets() -> Iterable[str]:
    from evaluators.suites import suite_named

    return suite_named("universe").subsets


def _environments() -> Iterable[str]:
    from evaluators.worlds.doom.places import PLACES

    return [place.name for place in PLACES]


def _scopes() -> Iterable[str]:
    from submissions.teams.tokens import SCOPES

    return SCOPES


def _rollout_subsets() -> Iterable[str]:
    from evaluators.suites import suite_named

    return suite_named("universe_worlds").subsets


def _policy_networks() -> Iterable[str]:
    return ("eyes", "annotator", "blurred", "clone", "clone_few")


def _training_modes() -> Iterable[str]:
    from flows.suites.sc3_train import MODES

    return MODES


def _columns(module: str, *names: str) -> Callable[[], tuple[Any, ...]]:
    """Columns of a module of tables, such as Team.name; the module is imported when they are asked
    for."""

    def columns() -> tuple[Any, ...]:
        from importlib import import_module
        from operator import attrgetter

        tables = import_module(module)
        return tuple(attrgetter(name)(tables) for name in names)

    return columns


def _judge(name: str) -> None:
    from flows.workers.judges import check_judge

    check_judge(name)


def _policy_server(text: str) -> None:
    from flows.suites.sc3_rollouts import read_servers

    read_servers([text])


def _world(text: str) -> None:
    from flows.suites.sc3_worlds import check_world

    check_world(text)


def _robot_suites() -> Iterable[str]:
    from evaluators.suites import base_name, suite_names

    return [name for name in suite_names() if base_name(name) == "sc3"]


def _hub(text: str) -> None:
    from submissions.intake.hub import read_hub

    read_hub(text)


def _frame_rule(text: str) -> None:
    from flows.suites.universe_adapt import read_frame_rule

    read_frame_rule(text)


def _scenario(text: str) -> None:
    from evaluators.suites.liva.cases.drafting import check_scenario

    check_scenario(text)


SUITE = NameInCode("suite", _suites)
UNIVERSE_SUBSET = NameInCode("subset of universe", _universe_subsets)
ROLLOUT_SUBSET = NameInCode("subset of universe_worlds", _rollout_subsets)
ACTION = NameInCode("action of TailOR", _actions)
BANK_TASK = NameInCode("task of TailOR", _bank_tasks)
ENVIRONMENT = NameInCode("environment", _environments)
SCOPE = NameInCode("scope", _scopes)
POLICY_NETWORK = NameInCode("network of the policies", _policy_networks)
TRAINING_MODE = NameInCode("mode that can be left out", _training_modes)

SUBMISSION = NameInDatabase(
    "submission",
    _columns("infra.tables", "Submission.id"),
    "`armillary status` lists them all.",
    by_prefix=True,
)
RUN = NameInDatabase("run", _columns("infra.tables", "Run.id"), "The API lists them: /v1/runs.")
TEAM = NameInDatabase(
    "team", _columns("infra.tables", "Team.name"), "Add it: armillary operate team add NAME."
)
RATED_TEAM = NameInDatabase(
    "team",
    _columns("infra.tables", "Team.name", "Submission.team"),
    "`armillary status` names the teams.",
)
TOKEN_PREFIX = NameInDatabase(
    "key that begins so",
    _columns("infra.tables", "Token.prefix"),
    "`armillary operate token list` shows them.",
)
CURATION = NameInDatabase(
    "curation",
    _columns("infra.tables", "CurationCall.curation"),
    "Begin one with `armillary tailor curate`, or `armillary liva photos`.",
)
DRAFT = NameInDatabase(
    "draft", _columns("infra.tables", "Draft.id"), "The command `review list` shows the ids."
)
STUDY = NameInDatabase(
    "study", _columns("infra.tables.study", "Study.id"), "`armillary study list` shows them."
)
RATER_OR_STUDY = NameInDatabase(
    "rater or study",
    _columns("infra.tables.study", "Rater.id", "Study.id"),
    "`armillary study export` names the raters.",
)
RECEIPT = ExistingFile("a receipt from an export's receipts folder, or name a submission's id")
SUBMISSION_OR_RECEIPT = SubmissionOrReceipt(SUBMISSION, RECEIPT)

JUDGE = Checked("the judge", _judge)
POLICY_SERVER = Checked("the policy server", _policy_server)
WORLD = Checked("the world model", _world)
DEVICE = Shape("a device", r"(cpu|mps|cuda|xpu)(:\d{1,3})?", "cuda or cuda:1")
ROBOT_SUITE = NameInCode("suite of robots", _robot_suites)
HUB = Checked("the model on a hub", _hub)
FRAME_RULE = Checked("the frame rule", _frame_rule)
SCENARIO = Checked("the scenario", _scenario)

SuiteName = Annotated[str, typer.Argument(parser=SUITE)]
SubmissionId = Annotated[
    str, typer.Argument(parser=SUBMISSION, help="Its id, or the beginning of it.")
]
StudyId = Annotated[str, typer.Argument(parser=STUDY)]
TeamName = Annotated[str, typer.Argument(parser=TEAM)]
CurationName = Annotated[str, typer.Argument(parser=CURATION)]
