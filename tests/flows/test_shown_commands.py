"""Every command line that a document, a page or a message shows is one that can be typed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evaluators.models import small
from evaluators.suites import suite_named
from flows.cli.app import app
from flows.cli.starter import new_entry
from flows.evaluate.door import receive
from infra.settings import Settings
from submissions.tools.starter import EntryFacts
from tests.bundles import drawn_outputs
from tests.command import ROOT, WIDE
from tests.command_lines import CommandLine, faults, in_document, in_module, in_text
from tests.flows.command_tree import commands
from tests.submissions.test_starter import painted

DOCUMENTS = (
    *sorted(ROOT.glob("*.md")),
    ROOT / "submissions" / "README.md",
    ROOT / "infra" / "README.md",
    ROOT / "infra" / "SCALING.md",
    *sorted((ROOT / "evaluators" / "suites").glob("*/README.md")),
)
PACKAGES = ("flows", "evaluators", "leaderboard", "submissions", "infra")
HARMLESS = ("samples", "schema", "check", "board", "status", "doctor")
"""Commands that only read, and take a second at most."""
SUBMISSION_ID = re.compile(r"^(sub-[0-9a-f]{12}|ID)$")


def shown_in_code() -> Iterator[CommandLine]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield from in_module(path)
        for ending in ("js", "sh", "yaml"):
            for path in sorted((ROOT / package).rglob(f"*.{ending}")):
                yield from in_text(str(path.relative_to(ROOT)), path.read_text("utf-8"))
    yield from in_text("Makefile", (ROOT / "Makefile").read_text("utf-8"))


DOCUMENTED = [line for path in DOCUMENTS for line in in_document(path)]
IN_CODE = list(shown_in_code())
RUN = sorted(
    {
        line.words
        for line in DOCUMENTED
        if line.words[0] in HARMLESS and not faults(replace(line, place="block"))
        if "--server" not in line.words and "--media" not in line.words
    }
)
"""Harmless command lines that leave no required value out, ask no server and write no files:
UNIVERSE's clips are played for minutes (tests/suites/universe hands some out)."""


@pytest.mark.parametrize("line", DOCUMENTED, ids=str)
def test_a_document_shows_commands_that_exist_with_options_that_exist(line: CommandLine) -> None:
    assert faults(line) == []


def test_messages_and_pages_name_commands_that_exist() -> None:
    wrong = [f"{line}: {fault}" for line in IN_CODE for fault in faults(line)]

    assert wrong == []


def test_command_lines_are_found_in_every_kind_of_place() -> None:
    assert {line.place for line in DOCUMENTED} == {"block", "inline"}
    assert {line.place for line in IN_CODE} == {"inline", "prose"}
    assert {line.words[0] for line in DOCUMENTED} >= {"submit", "evaluate", "operate", "study"}
    assert any(line.source.endswith("uploader.js") for line in IN_CODE)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("armillary deploy", "no command 'deploy'"),
        ("armillary operate deplo", "no command 'deplo'"),
        ("armillary check a.zip b.zip", "no place for 'b.zip'"),
        ("armillary check --strict a.zip", "--strict"),
        ("armillary check", "bundle is missing"),
    ],
)
def test_a_line_that_cannot_be_typed_is_a_fault(line: str, fault: str) -> None:
    found = faults(CommandLine("here", tuple(line.split()[1:]), "block"))

    assert any(fault in text for text in found), found


@pytest.mark.parametrize("words", RUN, ids=" ".join)
def test_a_harmless_command_of_a_document_runs(
    words: tuple[str, ...], ready: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    drawn_outputs(tmp_path / "my-bundle.zip")
    if "my-entry" in words:
        facts = EntryFacts("tailor", suite_named("tailor").version, "demo", "Owls", "Owl", "a@b.c")
        new_entry(tmp_path / "my-entry", facts, "image")
        painted(tmp_path / "my-entry")
    submission = receive(ready, "my-bundle.zip", None, None).submission_id
    real = {"SUITE": "tailor"}
    if "DIR" in words:
        small.make_text_to_image(tmp_path / "DIR")

    typed = [submission if SUBMISSION_ID.match(word) else real.get(word, word) for word in words]
    result = CliRunner(env={"COLUMNS": WIDE}).invoke(app, typed)

    assert result.exit_code in ((0, 1) if words[0] == "doctor" else (0,)), result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize("path", [command.path for command in commands(app)])
def test_every_command_explains_itself(path: str) -> None:
    result = CliRunner(env={"COLUMNS": "80"}).invoke(app, [*path.split(), "--help"])

    assert result.exit_code == 0, result.output
    assert f"armillary {path}" in " ".join(result.output.split())
