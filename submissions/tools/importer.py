"""Bundles from folders that were made without a manifest: files named by TailOR's rule, or any
names and a CSV."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from submissions.bundle.pack import pack_outputs
from submissions.format.errors import IntakeError, Problem, shown
from submissions.format.suggestions import did_you_mean

NAME = re.compile(
    r"task(?P<task>\d+)_(?P<slug>.+?)_inst(?P<instance>\d+)_(?P<scenario>regular|unconventional"
    r"|impossible)"
    r"_(?P<tool>.+)_(?P<setting>predictive|descriptive)_(?P<modality>image|video)\.\w+"
)
RULE = "task<id>_<slug>_inst<k>_<type>_<tool>_<setting>_<modality>.<ext>"
LEFT_OVERS = ("Thumbs.db", "desktop.ini")
COLUMNS = ("sample", "file")
TASK_COLUMNS = ("number", "task")
Address = tuple[str, int, str, str]
"""Task, instance, setting, modality."""


@dataclass(frozen=True, slots=True)
class ImportableSample:
    """What the importer has to know of a sample: which of a task's instances it is, and its
    facets."""

    sample: str
    task: str
    instance: int
    scenario: str
    tool: str
    setting: str
    modality: str


def in_order(items: Sequence[ImportableSample], first: int = 1) -> dict[int, str]:
    """The tasks numbered as they come: the mapping to use when nobody gives another."""
    return dict(enumerate(dict.fromkeys(item.task for item in items), first))


def read_tasks(table: Path, items: Sequence[ImportableSample]) -> dict[int, str]:
    """Another numbering of the tasks, from a CSV with the columns number and task."""
    task_ids = {item.task for item in items}
    rows = _rows(table, TASK_COLUMNS)
    bad = [
        (line, row)
        for line, row in rows
        if not row["number"].isdecimal() or row["task"] not in task_ids
    ]
    if bad:
        hint = "A line is a whole number and one of our task ids."
        raise IntakeError(
            [
                Problem("E_IMPORT_TASK", f"line {line}", f"Got {shown(tuple(row.values()))}.", hint)
                for line, row in bad
            ]
        )
    return {int(row["number"]): row["task"] for _, row in rows}


def import_named(
    to: Path,
    declaration: Mapping[str, Any],
    folder: Path,
    items: Sequence[ImportableSample],
    tasks: Mapping[int, str] | None = None,
) -> Path:
    """Bundle a folder whose files are named by the authors' rule; `tasks` maps their numbers to our
    task ids."""
    samples_by_address = {
        (item.task, item.instance, item.setting, item.modality): item for item in items
    }
    numbers = in_order(items) if tasks is None else tasks
    matches = [(path, _match(path, samples_by_address, numbers)) for path in _files(folder)]
    problems = [result for _, result in matches if isinstance(result, Problem)]
    outputs = [
        (path.name, item.sample, path)
        for path, item in matches
        if isinstance(item, ImportableSample)
    ]
    return _bundle(to, declaration, outputs, problems, folder)


def import_listed(
    to: Path, declaration: Mapping[str, Any], folder: Path, table: Path, samples: Set[str]
) -> Path:
    """Bundle the files that a CSV with the columns sample and file names, each file by its path in
    the folder."""
    rows = _rows(table, COLUMNS)
    problems = [
        problem
        for line, row in rows
        for problem in _row_problems(f"line {line}", row, folder, samples)
    ]
    bad = {problem.where for problem in problems}
    outputs = [
        (f"line {line}", row["sample"], folder / row["file"])
        for line, row in rows
        if f"line {line}" not in bad
    ]
    return _bundle(to, declaration, outputs, problems, table)


def named_by_sample(folder: Path, samples: Set[str]) -> bool:
    """Whether files of a folder are called by the samples' ids."""
    return any(path.stem in samples for path in _files(folder))


def import_by_sample(
    to: Path, declaration: Mapping[str, Any], folder: Path, samples: Set[str]
) -> Path:
    """Bundle a folder whose files are called by the samples' ids."""
    paths = _files(folder)
    taken = {path.stem for path in paths}
    problems = [
        Problem(
            "E_ITEM_UNKNOWN",
            shown(path.name),
            f"There is no sample {shown(path.stem)}.",
            did_you_mean(path.stem, samples - taken) or "`armillary samples SUITE` lists the ids.",
        )
        for path in paths
        if path.stem not in samples
    ]
    outputs = [(path.name, path.stem, path) for path in paths if path.stem in samples]
    return _bundle(to, declaration, outputs, problems, folder)


def _bundle(
    to: Path,
    declaration: Mapping[str, Any],
    outputs: Sequence[tuple[str, str, Path]],
    problems: list[Problem],
    source: Path,
) -> Path:
    """Pack what was found, unless anything at all is wrong with it."""
    problems += _twins(outputs)
    if not outputs and not problems:
        problems.append(
            Problem(
                "E_IMPORT_EMPTY",
                shown(str(source)),
                "There is nothing to import.",
                "Check the path.",
            )
        )
    if problems:
        raise IntakeError(problems)
    return pack_outputs(to, declaration, {sample: path for _, sample, path in outputs})


def _twins(outputs: Sequence[tuple[str, str, Path]]) -> Iterator[Problem]:
    first: dict[str, str] = {}
    for where, sample, _ in outputs:
        if sample in first:
            yield Problem(
                "E_ITEM_DUPLICATE",
                where,
                f"{first[sample]} is for {sample} too.",
                "Keep one of them.",
            )
        first.setdefault(sample, where)


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise IntakeError(
            [
                Problem(
                    "E_NO_FILE", shown(str(folder)), "There is no such folder.", "Check the path."
                )
            ]
        )
    paths = (
        path
        for path in folder.iterdir()
        if path.name not in LEFT_OVERS and not path.name.startswith(".")
    )
    return sorted(paths)


def _match(
    path: Path, samples_by_address: Mapping[Address, ImportableSample], tasks: Mapping[int, str]
) -> ImportableSample | Problem:
    """The sample that a file is for, or what keeps it from being for any."""
    name_parts = NAME.fullmatch(path.name)
    if not name_parts or not path.is_file():
        return Problem(
            "E_IMPORT_NAME",
            shown(path.name),
            "The name does not follow the rule.",
            f"Name it {RULE}.",
        )
    task = tasks.get(int(name_parts["task"]))
    if task is None:
        numbers = f"{min(tasks)} to {max(tasks)}" if tasks else "none"
        hint = f"Known are {numbers}; give a table that maps your numbers to our tasks."
        return Problem(
            "E_IMPORT_TASK", shown(path.name), f"There is no task {name_parts['task']}.", hint
        )
    item = samples_by_address.get(
        (task, int(name_parts["instance"]), name_parts["setting"], name_parts["modality"])
    )
    if item is None:
        address = (name_parts["instance"], name_parts["setting"], name_parts["modality"])
        message = f"{task} has no instance {', '.join(address)}."
        return Problem(
            "E_ITEM_UNKNOWN", shown(path.name), message, "Instances are numbered from 0 to 4."
        )
    return _disagreement(path.name, name_parts, item) or item


def _disagreement(name: str, name_parts: re.Match[str], item: ImportableSample) -> Problem | None:
    """A name that says another type or tool belongs to another prompt, whatever its numbers are."""
    if name_parts["scenario"] != item.scenario:
        message = (
            f"It says {name_parts['scenario']}; instance {item.instance} of {item.task} is "
            f"{item.scenario}."
        )
        return Problem(
            "E_IMPORT_TYPE", shown(name), message, "Check the numbers, or the table of tasks."
        )
    if _plain(name_parts["tool"]) != _plain(item.tool):
        message = (
            f"It says {shown(name_parts['tool'])}; instance {item.instance} of {item.task} uses "
            f"{item.tool!r}."
        )
        return Problem(
            "E_IMPORT_TOOL", shown(name), message, "Check the numbers, or the table of tasks."
        )
    return None


def _plain(text: str) -> str:
    return "".join(re.findall(r"[a-z0-9]+", text.lower()))


def _rows(table: Path, columns: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    """The rows with their line numbers; every row has the columns."""
    try:
        with table.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream)
            absent = [name for name in columns if name not in (reader.fieldnames or ())]
            rows = [
                (reader.line_num, {name: row.get(name) or "" for name in columns}) for row in reader
            ]
    except FileNotFoundError:
        raise _refused("E_NO_FILE", table, "There is no such file.", "Check the path.") from None
    except (UnicodeDecodeError, csv.Error):
        raise _refused(
            "E_CSV", table, "This is not a CSV in UTF-8.", "Save it as CSV, UTF-8."
        ) from None
    if absent:
        raise _refused(
            "E_CSV_COLUMNS",
            table,
            f"No column {', '.join(absent)}.",
            f"The first line is {','.join(columns)}.",
        )
    return rows


def _refused(code: str, table: Path, message: str, hint: str) -> IntakeError:
    return IntakeError([Problem(code, shown(str(table)), message, hint)])


def _row_problems(
    where: str, row: Mapping[str, str], folder: Path, sample_ids: Set[str]
) -> Iterator[Problem]:
    if row["sample"] not in sample_ids:
        hint = (
            did_you_mean(row["sample"], sample_ids)
            or "List the ids with `armillary samples SUITE`."
        )
        yield Problem("E_ITEM_UNKNOWN", where, f"There is no sample {shown(row['sample'])}.", hint)
    file = folder / row["file"]
    if not row["file"] or not file.resolve().is_relative_to(folder.resolve()):
        message = f"{shown(row['file'])} does not lie in the folder."
        yield Problem("E_IMPORT_PATH", where, message, "Give the path inside the folder.")
    elif not file.is_file():
        yield Problem(
            "E_FILE_MISSING",
            where,
            f"There is no file {shown(row['file'])}.",
            "Check the column file.",
        )
