"""The commands that keep TailOR's bank good: checks for its authors, and what its readers found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli.parameters.names import BANK_TASK
from flows.cli.parameters.paths import ExistingFolder
from flows.cli.terminal import AsJson, plain, reporting_errors, say, show_rows

if TYPE_CHECKING:
    from evaluators.suites.tailor.upkeep.drawing import SampleReading, SampleReadTwice
    from evaluators.suites.tailor.upkeep.items import ItemStatistic
    from evaluators.suites.tailor.upkeep.reading import ReviewReport

RECORDS = ExistingFolder("the records of a review")
FINDINGS = 1
"""The status of a check that found something."""


def check_bank(
    task: Annotated[
        str | None, typer.Option(parser=BANK_TASK, help="Only what concerns this task.")
    ] = None,
    hints: Annotated[bool, typer.Option(help="Also what is only worth a look.")] = True,
    layout: Annotated[bool, typer.Option(help="First bring the files into their layout.")] = False,
) -> None:
    """Print everything that is wrong with the open bank.

    The status is 1 if anything is.
    """
    from evaluators.suites.tailor.bank import DATA, read
    from evaluators.suites.tailor.checks import public_findings
    from evaluators.suites.tailor.soundness.whole import report
    from evaluators.suites.tailor.task_files import write

    with reporting_errors():
        bank = read(DATA)
        if layout:
            write(bank, Path(str(DATA)))
        findings = report(bank, public_findings)
    findings = findings.about(task) if task else findings
    for finding in findings.faults:
        say(plain(f"{finding.where}: {finding.problem}"))
    for finding in findings.hints if hints else ():
        say(plain(f"look: {finding.where}: {finding.problem}"))
    say(f"{len(findings.faults)} findings; {len(findings.hints)} to look at.")
    if findings.faults:
        raise typer.Exit(FINDINGS)


def review_report(
    more: Annotated[
        Path | None,
        typer.Option("--records", parser=RECORDS, help="Records beside the open bank's own."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show how far the readers of the open bank agree, by category, and what was settled.

    Language models and people stand apart.
    """
    from evaluators.suites.tailor.upkeep.drawing import read_twice, readings
    from evaluators.suites.tailor.upkeep.reading import by_kind_of_reader
    from evaluators.suites.tailor.upkeep.records import BadRecord, records

    with reporting_errors():
        others = records(more) if more else ()
        if more and not others:
            raise BadRecord(f"{more} holds no records. Name a folder of <task>.<reader>.jsonl.")
        reports = by_kind_of_reader(list(dict.fromkeys((*records(), *others))))
        samples_read = readings()
    rows = [row for who, review in reports.items() for row in _agreement_rows(who, review)]
    show_rows(rows, as_json)
    for who, review in reports.items():
        say(_readers_line(who, review), err=as_json)
    for reading in samples_read:
        say(_sample_line(reading), err=as_json)
    for sample in read_twice(samples_read):
        say(_twice_line(sample), err=as_json)


def _readers_line(who: str, review: ReviewReport) -> str:
    readers = ", ".join(f"{plain(name)} {count}" for name, count in review.readers.items())
    return (
        f"By a {who}: {sum(review.readers.values())} readings, {review.read_twice} tasks read "
        f"twice, {review.closed} closed. Tasks a reader: {readers or 'nobody yet'}."
    )


def _twice_line(sample: SampleReadTwice) -> str:
    low, high = sample.interval
    kappa = "none" if sample.kappa is None else f"{sample.kappa:.2f}"
    return (
        f"Sample {plain(sample.seed[:8])} of bank {plain(sample.bank)}, read whole by two: a "
        f"material fault to the one in {sample.each[0]}, to the other in {sample.each[1]}, to both "
        f"in {sample.both} of {sample.prompts} prompts ({low:.1%} to {high:.1%}), to either in "
        f"{sample.either}; kappa {kappa}.{_settled_words(sample)}"
    )


def _settled_words(sample: SampleReadTwice) -> str:
    if sample.settled_interval is None:
        return ""
    low, high = sample.settled_interval
    return f" A third settles {sample.settled} as material ({low:.1%} to {high:.1%})."


def _sample_line(reading: SampleReading) -> str:
    low, high = reading.interval
    material, faulty = len(reading.material), len(reading.faulty)
    faults = ", ".join(f"{plain(name)} {n}" for name, n in sorted(reading.categories.items()))
    blind = f", read blind beside others ({plain(reading.blind)} time)" if reading.blind else ""
    return (
        f"Fresh sample {plain(reading.seed[:8])} of bank {plain(reading.bank)}{blind}, by a "
        f"{plain(reading.by)}: {material} of {reading.prompts} prompts with a material fault "
        f"({low:.1%} to {high:.1%}), {faulty} with any: {faults}."
    )


def items(
    task: Annotated[
        str | None, typer.Option(parser=BANK_TASK, help="Only this task's questions.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="How many are shown.")] = 40,
    as_json: AsJson = False,
) -> None:
    """Show how each question does on judged outputs, worst first.

    Computed from all stored verdicts of published entries; the page "Items" shows the same.
    """
    from flows.suites.tailor_items import compute

    with reporting_errors() as settings:
        statistics = compute(settings)
    chosen = [row for row in statistics if not task or row.instance.startswith(f"{task}.")]
    show_rows([_item_row(row) for row in chosen[:limit]], as_json)
    flagged = sum(bool(row.flags) for row in chosen)
    say(f"{len(chosen)} questions with answers, {flagged} to look at.", err=as_json)


def _item_row(row: ItemStatistic) -> dict[str, object]:
    return {
        "instance": row.instance,
        "question": row.question,
        "why": ", ".join(row.flags),
        "answers": row.n,
        "entries": row.entries,
        "not met": round(row.difficulty, 2),
        "discrimination": _rounded(row.discrimination),
        "judges differ": _rounded(row.disagreement),
        "fell": round(row.fallen, 2),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)


def _agreement_rows(who: str, review: ReviewReport) -> list[dict[str, object]]:
    """A row a category, none where nobody of this kind has read anything."""
    return [
        {
            "by": who,
            "category": row.category,
            "prompts read twice": row.prompts,
            "faulty to the first": row.first,
            "to the second": row.second,
            "to both": row.both,
            "kappa": _rounded(row.kappa),
            **{f"settled: {name}": n for name, n in review.decisions[row.category].items()},
        }
        for row in review.agreement
        if review.readers
    ]
