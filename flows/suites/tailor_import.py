"""Bundles from outputs without a manifest: by the samples' ids or a list for every suite, by their
names where a suite has a rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluators.contracts import Suite
from evaluators.suites import suite_named, suite_names
from submissions.bundle.declarations import read_declaration
from submissions.format.errors import refusal, shown
from submissions.format.suggestions import no_such
from submissions.tools.importer import (
    ImportableSample,
    import_by_sample,
    import_listed,
    import_named,
    named_by_sample,
    read_tasks,
)

WITH_A_RULE = "tailor"
"""The suite whose authors name their files by a rule."""
OWN_COMMANDS = {
    "universe": "For answers in JSON lines use `armillary universe import`.",
    "sc3": "For what `armillary sc3 rollout` wrote use `armillary sc3 pack`.",
}


@dataclass(frozen=True, slots=True)
class Outputs:
    """A folder of outputs, its manifest, and what tells which sample a file is for."""

    folder: Path
    manifest: Path
    listed: Path | None = None
    tasks: Path | None = None
    suite: str | None = None


def bundle(outputs: Outputs, to: Path) -> Path:
    """Write the bundle; anything wrong with the outputs is told before."""
    declaration = read_declaration(outputs.manifest)
    suite = _suite(outputs, declaration)
    if outputs.listed and outputs.tasks:
        message = "--tasks numbers the tasks in file names; --listed leaves the names aside."
        raise refusal("E_ARGUMENTS", shown(str(outputs.tasks)), message, "Give one of the two.")
    samples = {sample.id for sample in suite.samples()}
    if outputs.listed:
        return import_listed(to, declaration, outputs.folder, outputs.listed, samples)
    if not outputs.tasks and named_by_sample(outputs.folder, samples):
        return import_by_sample(to, declaration, outputs.folder, samples)
    if suite.name != WITH_A_RULE:
        message = (
            f"{suite.title} has no rule for the names of files, so nothing tells which sample "
            "each is for."
        )
        hint = (
            "Call each file by its sample's id, or list them in a CSV with the columns sample and "
            "file: --listed FILE. "
            f"{OWN_COMMANDS.get(suite.name, '')}"
        )
        raise refusal("E_IMPORT_LAYOUT", f"suite {suite.name}", message, hint.strip())
    items = items_of(suite)
    tasks = read_tasks(outputs.tasks, items) if outputs.tasks else None
    return import_named(to, declaration, outputs.folder, items, tasks)


def items_of(suite: Suite) -> list[ImportableSample]:
    """One item a sample of TailOR: its place in the bank, its tool, its facets."""
    return [
        ImportableSample(
            sample.id,
            sample.cluster,
            int(sample.id.split(".")[1]),
            sample.facets.scenario,
            str(sample.reference["tool"]),
            sample.facets.setting,
            sample.facets.modality,
        )
        for sample in suite.samples()
    ]


def _suite(outputs: Outputs, declaration: Mapping[str, Any]) -> Suite:
    """The suite that the manifest names; one that was named beside it has to be the same."""
    name, where = declaration.get("suite", outputs.suite), shown(str(outputs.manifest))
    if not isinstance(name, str) or name not in suite_names():
        message = no_such("suite", str(name), suite_names())
        raise refusal("E_SUITE", where, message, "Write its name under `suite` in the manifest.")
    if outputs.suite not in (None, name):
        message = f"The manifest is for the suite {name}, --suite says {outputs.suite}."
        raise refusal("E_SUITE", where, message, "Leave --suite, or correct the manifest.")
    return suite_named(name)
