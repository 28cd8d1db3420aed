"""The same from Python as from the command line: four typed functions, one script, one notebook."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import armillary
from tests.command import ROOT
from tests.submissions.test_starter import painted

CLIENT = ROOT / "flows" / "client"
NOTEBOOK = CLIENT / "armillary" / "examples" / "hand_in.ipynb"
COMMANDS = ("new", "check", "pack", "submit", "status")


def test_every_function_says_what_it_takes_and_what_it_gives() -> None:
    for name in COMMANDS:
        function = getattr(armillary, name)

        assert function.__doc__ and name in armillary.__all__
        assert "return" in function.__annotations__
        assert len(function.__annotations__) == function.__code__.co_argcount + (
            function.__code__.co_kwonlyargcount + 1
        )


def test_the_import_is_light_and_marked_as_typed() -> None:
    code = (
        "import sys, armillary; heavy = {'torch', 'prefect', 'streamlit', 'sqlmodel', 'numpy', "
        "'av', 'fastapi'} & set(sys.modules); sys.exit(','.join(sorted(heavy)) or 0)"
    )

    paths = {"PYTHONPATH": os.pathsep.join((str(ROOT), str(CLIENT)))}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | paths,
        check=False,
        capture_output=True,
        text=True,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert (CLIENT / "armillary" / "py.typed").exists()


def test_an_entry_is_begun_checked_and_packed(tmp_path: Path) -> None:
    folder = tmp_path / "my-entry"

    count = armillary.new("tailor", folder, subset="demo", modality="image", team="Owls")
    painted(folder)
    checked, packed = armillary.check(folder), armillary.pack(folder)

    assert count == len(checked.expected) == packed.files == 30
    assert packed.path == tmp_path / "my-entry.zip"
    assert armillary.check(packed.path).manifest == checked.manifest


@pytest.mark.parametrize(
    ("wish", "code"),
    [
        ({"suite": "tailr"}, "E_SUITE"),
        ({"subset": "dmo"}, "E_SUBSET"),
        ({"modality": "imge"}, "E_MODALITY"),
    ],
)
def test_a_wrong_name_is_refused_with_the_right_ones(
    wish: dict[str, str], code: str, tmp_path: Path
) -> None:
    wishes = {"suite": "tailor", "subset": "demo", "modality": "image", **wish}

    with pytest.raises(armillary.Refused) as refused:
        armillary.new(wishes.pop("suite"), tmp_path / "e", **typing.cast(typing.Any, wishes))

    (problem,) = refused.value.problems
    assert problem.code == code and "Did you mean" in problem.message
    assert not (tmp_path / "e").exists()


def test_the_notebook_is_whole_and_holds_no_results() -> None:
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))

    assert notebook["nbformat"] == 4
    assert {cell["cell_type"] for cell in notebook["cells"]} == {"markdown", "code"}
    assert not any(cell.get("outputs") for cell in notebook["cells"])
