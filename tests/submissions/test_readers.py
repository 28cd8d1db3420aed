"""The bounded child that reads bundles: whatever becomes of it is one submission's error, and the
next goes on."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli.app import app
from infra.settings import Settings
from submissions.bundle import reader_pool as own_readers
from submissions.bundle.check import Catalogue, check
from submissions.bundle.reader_pool import ReaderBounds, ReaderFault, Readers
from submissions.format.errors import IntakeError
from submissions.media.decoder_pool import Decoders
from tests.submissions.bad.case import Case, bundle, pictures
from tests.submissions.bad.costly import heavy_bundle, slow_bundle
from tests.submissions.bad.table import ONE_A_ROW, ONE_IDS, made

TIGHT = ReaderBounds(memory=768 << 20, cpu_seconds=2, wall_seconds=60)
HOSTILE = {
    "spins": "E_INTAKE_TIME",
    "sleeps": "E_INTAKE_TIME",
    "swallows": "E_INTAKE_MEMORY",
    "crashes": "E_INTAKE_BROKEN",
    "is_killed": "E_INTAKE_BROKEN",
    "babbles": "E_INTAKE_BROKEN",
    "digs": "E_INTAKE_BROKEN",
    "refuses": "E_SUITE",
}


def command(reader: str) -> tuple[str, ...]:
    """A child that reads with one of the hostile readers."""
    program = (
        "from submissions.bundle.read_main import main; from tests.submissions.hostile_readers "
        f"import {reader}; main({reader})"
    )
    return (sys.executable, "-c", program)


@pytest.fixture
def reading() -> Iterator[Callable[..., Readers]]:
    """Makes readers that end with the test."""
    opened: list[Readers] = []

    def make(bounds: ReaderBounds = TIGHT, reader: str = "", count: int = 1) -> Readers:
        opened.append(Readers(bounds, count, command(reader) if reader else own_readers.COMMAND))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    """A bundle to which the hostile readers do their worst, and one that they read."""
    sound = bundle(tmp_path / "sound.zip", pictures(2))
    return Path(shutil.copy(sound, tmp_path / "hostile.zip")), sound


def _refusal(readers: Readers, path: Path, rows: Catalogue) -> str:
    with pytest.raises(IntakeError) as refused:
        readers.check(path, rows)
    (problem,) = refused.value.problems
    assert problem.message and problem.hint
    return problem.code


@pytest.mark.parametrize("reader", HOSTILE)
def test_whatever_becomes_of_the_child_the_next_bundle_goes_through(
    reader: str, reading: Callable[..., Readers], two: tuple[Path, Path], rows: Catalogue
) -> None:
    hostile, sound = two
    bounds = ReaderBounds(768 << 20, 1, 3) if reader == "sleeps" else TIGHT
    readers = reading(bounds, reader)

    codes = [_refusal(readers, hostile, rows) for _ in range(2)]
    after = readers.check(sound, rows)

    assert codes == [HOSTILE[reader]] * 2
    assert after == check(sound, rows)


def test_a_fault_of_ours_is_no_refusal_and_says_where_it_is(
    reading: Callable[..., Readers], two: tuple[Path, Path], rows: Catalogue
) -> None:
    hostile, sound = two
    readers = reading(reader="has_a_bug")

    with pytest.raises(
        ReaderFault, match=r"hostile_readers.*\n.*\n?ZeroDivisionError: a fault of ours"
    ):
        readers.check(hostile, rows)

    assert readers.check(sound, rows).manifest.team


@pytest.mark.parametrize("case", ONE_A_ROW, ids=ONE_IDS)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_the_child_gives_each_input_the_code_that_this_process_gives(
    case: Case, shelf: Path, rows: Catalogue
) -> None:
    path = made(case, shelf)

    assert _outcome(own_readers.readers_of(Settings()).check, path, rows) == _outcome(
        check, path, rows
    )


def _outcome(look: Callable[[Path, Catalogue], object], path: Path, rows: Catalogue) -> object:
    try:
        return look(path, rows)
    except IntakeError as error:
        return error.problems, error.total


def test_a_child_that_somebody_else_killed_costs_no_bundle_its_answer(
    reading: Callable[..., Readers], two: tuple[Path, Path], rows: Catalogue
) -> None:
    readers = reading()
    first = readers.check(two[1], rows)
    child = readers._bundles._free.queue[0]
    assert child is not None

    os.kill(child.pid, signal.SIGKILL)
    answers = [readers.check(two[1], rows) for _ in range(2)]

    assert answers == [first, first]


def test_bundles_that_hang_do_not_keep_a_manifest_waiting(
    reading: Callable[..., Readers], two: tuple[Path, Path], rows: Catalogue
) -> None:
    hostile, sound = two
    readers = reading(ReaderBounds(768 << 20, 20, 8), "sleeps")
    text = zipfile.ZipFile(sound).read("manifest.json").decode()
    codes: list[str] = []
    hanging = threading.Thread(target=lambda: codes.append(_refusal(readers, hostile, rows)))
    hanging.start()
    time.sleep(0.5)

    manifest = readers.manifest(text)
    still = hanging.is_alive()
    hanging.join()

    assert manifest == check(sound, rows).manifest
    assert still and codes == ["E_INTAKE_TIME"]


def test_the_time_grows_with_the_bundle() -> None:
    assert (
        ReaderBounds().cpu(64 << 30) > 10 * ReaderBounds().cpu(1 << 30) > 10 * ReaderBounds().cpu(0)
    )
    assert ReaderBounds().wall(1 << 30) > ReaderBounds().cpu(1 << 30)


SLOW_DECODER = """
import json, sys, time
for line in sys.stdin:
    time.sleep(1)
    print(json.dumps([{"sha256": job["sha256"]} for job in json.loads(line)["jobs"]]), flush=True)
"""


def test_decoding_too_ends_when_the_bundle_s_time_is_over(
    reading: Callable[..., Readers], tmp_path: Path, rows: Catalogue
) -> None:
    path = bundle(tmp_path / "many.zip", pictures(24))
    decoders = Decoders(1, (sys.executable, "-c", SLOW_DECODER))
    readers = reading(ReaderBounds(768 << 20, 5, 2))
    readers.read(path, rows)
    start = time.monotonic()

    code = _refusal_while(lambda: readers.check(path, rows, decoders))
    decoders.close()

    assert code == "E_INTAKE_TIME"
    assert time.monotonic() - start < 8


def _refusal_while(work: Callable[[], object]) -> str:
    with pytest.raises(IntakeError) as refused:
        work()
    return refused.value.problems[0].code


REAL = {"E_INTAKE_TIME": slow_bundle, "E_INTAKE_MEMORY": heavy_bundle}


@pytest.mark.parametrize("code", REAL)
def test_a_real_bundle_beyond_the_bounds_is_refused_and_within_them_it_is_read(
    code: str, reading: Callable[..., Readers], spot: Path, rows: Catalogue
) -> None:
    path = REAL[code](spot)

    small = _refusal(reading(ReaderBounds(512 << 20, 0.5, 60)), path, rows)
    usual = _outcome(reading(ReaderBounds()).check, path, rows)

    assert small == code
    assert code not in str(usual)


def test_at_the_command_line_a_hostile_bundle_is_an_error_with_a_code(
    door: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARMILLARY_INTAKE_CPU_SECONDS", "0.5")
    slow, sound = slow_bundle(tmp_path / "slow.zip"), bundle(tmp_path / "sound.zip", pictures(2))

    hostile = CliRunner().invoke(app, ["submit", str(slow)])
    looked = CliRunner().invoke(app, ["check", str(slow)])
    after = CliRunner().invoke(app, ["submit", str(sound)])

    assert (hostile.exit_code, looked.exit_code, after.exit_code) == (2, 2, 0)
    assert "E_INTAKE_TIME" in hostile.output and "E_INTAKE_TIME" in looked.output
    assert "Received as sub-" in after.output
    assert door.home.exists()
