"""Banks that an operator mounts: each a suite of its own under the rules of its suite."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evaluators.suites.banks import BANKS_PATH, UnsoundBankCard, mounted_banks, read_card
from evaluators.suites.liva.cases.folder import OWN
from tests.command import ROOT, Machine

CARD = {"suite": "liva", "name": "our_kitchens", "version": "1.2", "title": "Our kitchens"}


def bank_of(folder: Path, cases: tuple[str, ...] = ("kitchen_case04",), **fields: Any) -> Path:
    """A bank of some of our drawn cases, as a lab would lay it out."""
    folder.mkdir()
    for case in cases:
        shutil.copy(OWN / f"{case}.png", folder)
        text = (OWN / f"{case}.yaml").read_text("utf-8")
        (folder / f"{case}.yaml").write_text(text.replace("intention: ", "intention: Please "))
    (folder / "bank.json").write_text(json.dumps({**CARD, **fields}), "utf-8")
    return folder


def _printed(path: str, code: str) -> subprocess.CompletedProcess[str]:
    environment = Machine(Path(), {BANKS_PATH: path}).environment
    command = [sys.executable, "-c", f"from evaluators.suites import *\n{code}"]
    return subprocess.run(
        command, cwd=ROOT, env=environment, timeout=60, check=False, capture_output=True, text=True
    )


def test_a_bank_is_a_suite_with_its_own_samples_and_boards(tmp_path: Path) -> None:
    folder = bank_of(tmp_path / "kitchens")
    code = """
from flows.run.board_keys import board_key
from flows.run.scoring_code import code_sha256
from evaluators.suites.liva.bank import case_of
mine, ours = suite_named("liva.our_kitchens"), suite_named("liva")
print(suite_names()[-1], mine.version, mine.title, len(mine.samples()), sorted(mine.subsets))
print(board_key(mine, "full", "judge") != board_key(ours, "full", "judge"))
print(code_sha256(mine.name) == code_sha256("liva"))
print({case_of(sample).folder.name for sample in mine.samples()})
print({case_of(sample).folder.name for sample in ours.samples()})
"""

    printed = _printed(str(folder), code)

    assert printed.stdout.splitlines() == [
        "liva.our_kitchens 1.2 L-IVA: Our kitchens 4 "
        "['closed_loop', 'full', 'no_reflect', 'open_loop', 'single_clip']",
        "True",
        "True",
        "{'kitchens'}",
        "{'cases'}",
    ], printed.stderr


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": "Our Kitchens"}, "lower case letters"),
        ({"version": ""}, "as in 1.0"),
        ({"title": " "}, "a line of at most 80"),
        ({"extra": 1}, "exactly suite, name, version, title"),
    ],
)
def test_a_card_that_says_something_else_is_refused_in_words(
    tmp_path: Path, fields: dict[str, Any], message: str
) -> None:
    folder = bank_of(tmp_path / "kitchens", **fields)

    with pytest.raises(UnsoundBankCard, match=message):
        read_card(folder)


def test_a_folder_without_a_card_and_two_banks_of_one_name_are_refused(tmp_path: Path) -> None:
    first, second = bank_of(tmp_path / "a"), bank_of(tmp_path / "b")

    with pytest.raises(UnsoundBankCard, match=r"There is no .*bank\.json"):
        mounted_banks(str(tmp_path))
    with pytest.raises(UnsoundBankCard, match=r"two banks 'liva\.our_kitchens'"):
        mounted_banks(f"{first}:{second}")


def test_a_bank_for_a_suite_that_takes_none_is_refused(tmp_path: Path) -> None:
    folder = bank_of(tmp_path / "kitchens", suite="nothing")

    assert "takes no banks" in _printed(str(folder), "all_suites()").stderr
