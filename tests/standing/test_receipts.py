"""A receipt is canonical, and its numbers come out again from an export on a machine that has
nothing else."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
from pathlib import Path

import pytest
import rfc8785

from flows.audit import receipt_files
from flows.audit.audit import audit
from flows.publish.canonical import canonical
from flows.publish.seal_chain import seal_catalogue
from flows.run import catalogue
from flows.run.scoring_code import code_sha256
from infra.db import migrate, session
from infra.tables.standing import Receipt
from leaderboard.export import static_site
from tests.command import Machine
from tests.standing.judged import enter

RUN = "run-one"


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An export of two entries."""
    folder = tmp_path_factory.mktemp("export")
    url = f"sqlite:///{tmp_path_factory.mktemp('home') / 'test.db'}"
    migrate(url)
    with session(url) as db:
        catalogue.load(db)
        seal_catalogue(db)
        for name, skill in (("one", 0.9), ("two", 0.4)):
            enter(db, name, skill)
        assert audit(db).findings == ()
        assert receipt_files.write(db, folder) == 2
        static_site.write(db, folder)
        kept = db.get_one(Receipt, RUN)
        assert kept.sha256 == hashlib.sha256(kept.text.encode()).hexdigest()
    return folder


def test_a_receipt_is_canonical_and_names_inputs_outputs_judge_code_and_environment(
    exported: Path,
) -> None:
    data = (exported / "receipts" / f"{RUN}.json").read_bytes()

    receipt = json.loads(data)

    assert rfc8785.dumps(receipt) == data
    assert receipt["code"]["evaluators_sha256"] == code_sha256("tailor")
    assert {
        "inputs",
        "outputs",
        "judge",
        "numbers",
        "environment",
        "suite",
        "board",
    } <= receipt.keys()


def test_an_export_copied_to_an_empty_machine_verifies(exported: Path, tmp_path: Path) -> None:
    copied = Path(shutil.copytree(exported, tmp_path / "copy"))
    home = tmp_path / "nothing here"

    said = Machine(home).run("verify", str(copied / "receipts" / f"{RUN}.json"))

    assert "All agree with the receipt" in said
    assert not (home / "armillary.db").exists()


def test_the_exports_head_is_that_of_the_chain(exported: Path) -> None:
    head = json.loads((exported / "audit.json").read_text())

    assert len(head["head"]) == 64
    assert head["links"] > 20


def test_a_number_or_an_answer_that_was_changed_in_the_copy_is_found(
    exported: Path, tmp_path: Path
) -> None:
    copied = Path(shutil.copytree(exported / "receipts", tmp_path / "receipts"))
    cells, records = copied / f"{RUN}.cells.jsonl", copied / f"{RUN}.records.jsonl.gz"

    cells.write_text(cells.read_text().replace('"n_scored":30', '"n_scored":31', 1))
    assert len(receipt_files.check(copied / f"{RUN}.json").differences) == 2

    shutil.copy(exported / "receipts" / cells.name, cells)
    text = gzip.decompress(records.read_bytes()).decode().replace('"no"', '"yes"', 1)
    records.write_bytes(gzip.compress(text.encode()))
    assert any(
        "records" in line for line in receipt_files.check(copied / f"{RUN}.json").differences
    )


def test_what_is_no_receipt_is_told_in_words(exported: Path, tmp_path: Path) -> None:
    strange, lonely = tmp_path / "strange.json", tmp_path / f"{RUN}.json"
    strange.write_text("[1]")
    shutil.copy(exported / "receipts" / f"{RUN}.json", lonely)

    with pytest.raises(receipt_files.NoReceipt, match="is no receipt"):
        receipt_files.check(strange)
    with pytest.raises(receipt_files.NoReceipt, match="missing beside"):
        receipt_files.check(lonely)


@pytest.mark.parametrize("suite", [{}, {"suite": {"name": "tailr"}}])
def test_a_receipt_that_lacks_a_part_is_none(
    suite: dict[str, dict[str, str]], tmp_path: Path
) -> None:
    path = tmp_path / "receipt.json"
    path.write_bytes(rfc8785.dumps({"schema": 1, "run": RUN, **suite}))

    with pytest.raises(receipt_files.NoReceipt, match="is no receipt"):
        receipt_files.check(path)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        (f"{RUN}.records.jsonl.gz", b"no gzip", "cut off or damaged"),
        (f"{RUN}.records.jsonl.gz", gzip.compress(b"{", mtime=0), "records .* are not JSON lines"),
        (f"{RUN}.cells.jsonl", b"[]", "cells .* are no objects"),
    ],
)
def test_a_damaged_file_beside_a_receipt_is_named(
    exported: Path, tmp_path: Path, name: str, data: bytes, message: str
) -> None:
    copied = Path(shutil.copytree(exported / "receipts", tmp_path / "receipts"))
    (copied / name).write_bytes(data)

    with pytest.raises(receipt_files.NoReceipt, match=message):
        receipt_files.check(copied / f"{RUN}.json")


def test_a_seed_past_what_json_holds_exactly_is_written_in_words() -> None:
    assert (
        canonical({"seed": 2**60, "steps": [2**53 - 1, True]})
        == b'{"seed":"1152921504606846976","steps":[9007199254740991,true]}'
    )
