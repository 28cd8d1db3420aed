"""60,000 mutated bundles: every one is taken or refused with IntakeError, and nothing is written
anywhere."""

from __future__ import annotations

import os
import secrets
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from submissions.bundle.check import Catalogue, check
from submissions.format.errors import IntakeError
from tests.bundles import picture
from tests.fuzz.mutants import mutants
from tests.submissions.bad.case import bundle, ids
from tests.submissions.bad.models import model_bundle

COUNT = int(os.environ.get("ARMILLARY_FUZZ_COUNT", "60000"))
SEED = int(os.environ.get("ARMILLARY_FUZZ_SEED", "0")) or secrets.randbits(32)
"""Printed by the test; set ARMILLARY_FUZZ_SEED to run the same mutants again."""
MOST_GROWTH = 64 << 20
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
CHANGES = ("os.mkdir", "os.rename", "os.link", "os.symlink", "os.remove", "os.truncate", "os.chmod")


class Writes:
    """What this process writes while it is told to look; an audit hook stays for good, so it can be
    told to stop."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.looking = False
        sys.addaudithook(self._hear)

    def _hear(self, event: str, args: tuple[object, ...]) -> None:
        if not self.looking:
            return
        # A pipe to a decoding child is opened by its number, and /dev/null for what it would say.
        if event == "open" and (isinstance(args[0], int) or args[0] == os.devnull):
            return
        if event in CHANGES or (event == "open" and isinstance(args[2], int) and args[2] & WRITING):
            self.seen.append(f"{event} {args[0]!r}")


@pytest.fixture
def spot(tmp_path: Path) -> Iterator[Path]:
    """Where the mutant lies: in memory where that is possible, for making 60,000 files on a disk
    takes a minute."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(
        dir=memory if os.access(memory, os.W_OK) else tmp_path
    ) as folder:
        yield Path(folder) / "mutant.zip"


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Small sound bundles of both kinds, and their manifests."""
    spot = tmp_path_factory.mktemp("seeds") / "seed.zip"
    small: dict[str, tuple[str | None, bytes]] = {
        "outputs/0.png": (ids("image")[0], picture(0, (16, 16)))
    }
    return [
        bundle(spot, small).read_bytes(),
        model_bundle(spot, {"model/README.md": None}).read_bytes(),
    ]


def test_only_intake_errors_leave_the_reader(
    seeds: list[bytes], suites: Catalogue, spot: Path
) -> None:
    print(f"ARMILLARY_FUZZ_SEED={SEED}")
    writes, taken, refused = Writes(), 0, 0
    before = 0

    for number, mutant in enumerate(mutants(seeds, _manifests(seeds), COUNT, SEED)):
        spot.write_bytes(mutant)
        writes.looking = True
        try:
            check(spot, suites)
            taken += 1
        except IntakeError:
            refused += 1
        except BaseException as error:
            Path(f"/tmp/mutant-{SEED}-{number}.zip").write_bytes(mutant)
            raise AssertionError(f"seed {SEED}, mutant {number}: {type(error).__name__}") from error
        finally:
            writes.looking = False
        if number == COUNT // 10:
            before = _memory()

    assert taken + refused == COUNT and refused > COUNT // 2
    assert writes.seen == []
    assert _memory() - before < MOST_GROWTH


def _memory() -> int:
    """What this process holds now, in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _manifests(seeds: list[bytes]) -> list[bytes]:
    import io
    import zipfile

    return [zipfile.ZipFile(io.BytesIO(seed)).read("manifest.json") for seed in seeds]
