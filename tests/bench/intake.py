"""What checking a bundle costs beside bare decoding of the same files, how it scales to two cores,
what it holds.

`python -m tests.bench.intake` (1,600 pictures of 512 pixels and 200 clips of 24 frames, 480 x 640).
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median

import numpy as np

from submissions.bundle.check import Catalogue, SuiteFacts, check
from submissions.media.decoder_pool import Decoders
from tests.bench.report import Row, at_least, at_most, report, shown

IMAGES, CLIPS, FEW = 1_600, 200, 8
TURNS = 5
SHAPES = 20
"""So many different pictures and clips, repeated under other names: making them all would take
longer than the rest."""

BARE = """
import io, resource, sys, zipfile
import av
from PIL import Image
with zipfile.ZipFile(sys.argv[1]) as bundle:
    for name in bundle.namelist():
        if name.endswith(".png"):
            Image.open(io.BytesIO(bundle.read(name))).load()
        elif name.endswith(".mp4"):
            with av.open(io.BytesIO(bundle.read(name)), format="mp4") as file:
                file.streams.video[0].codec_context.thread_count = 1
                for frame in file.decode(video=0):
                    pass
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one check took."""

    cpu: float
    wall: float
    peak: int
    read: int


def main() -> int:
    """Measure and report."""
    with tempfile.TemporaryDirectory(prefix="armillary-bench-") as folder:
        whole, suites = make(Path(folder) / "whole.zip", IMAGES, CLIPS)
        part, some = make(Path(folder) / "part.zip", IMAGES // FEW, CLIPS // FEW)
        # Turn by turn, so that what else the machine does falls on all of them alike.
        bares = [bare_decoding(whole)]
        ones, twos = list[Cost](), list[Cost]()
        for _ in range(TURNS):
            ones.append(checking(whole, suites, 1))
            bares.append(bare_decoding(whole))
            twos.append(checking(whole, suites, 2))
        few = checking(part, some, 1)
        return report("intake", rows(bares, ones, twos, few, whole.stat().st_size))


def rows(
    bares: Sequence[float], ones: Sequence[Cost], twos: Sequence[Cost], few: Cost, size: int
) -> list[Row]:
    """The ratios. CPU is held against the bare decoding just before and just after, and the middle
    turn counts."""
    cpu = median(
        2 * one.cpu / sum(around) for one, around in zip(ones, pairwise(bares), strict=True)
    )
    wall, both = (median(cost.wall for cost in costs) for costs in (ones, twos))
    read, peak = max(one.read for one in ones), max(one.peak for one in ones)
    return [
        at_most("CPU of checking to CPU of bare decoding", cpu, 1.15),
        at_least("time on one core to time on two (needs two idle cores)", wall / both, 1.7),
        at_most("bytes read to bytes of the bundle (each file once)", read / size, 1.1),
        at_most(
            f"memory for {IMAGES + CLIPS} files to memory for an eighth of them",
            peak / few.peak,
            1.1,
        ),
        shown("files a second on one core", (IMAGES + CLIPS) / wall),
        shown("load of this machine while measuring, in cores", os.getloadavg()[0]),
    ]


def bare_decoding(bundle: Path) -> float:
    """CPU seconds of a process that only decodes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", BARE, str(bundle)], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def checking(bundle: Path, suites: Catalogue, cores: int) -> Cost:
    """What a whole check costs: this process and its decoding children together."""
    children = Decoders(cores)
    before, start = _cpu(), time.perf_counter()
    check(bundle, suites, decoders=children)
    wall = time.perf_counter() - start
    pids = children.children.pids
    peak, read = max(map(_peak, pids)), sum(map(_read, pids))
    children.close()
    return Cost(_cpu() - before, wall, peak, read)


def _cpu() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def _peak(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1])


def _read(pid: int) -> int:
    """Bytes that the child has read: the bundle, and some megabytes of libraries."""
    return int(Path(f"/proc/{pid}/io").read_text().split()[1])


def make(to: Path, images: int, clips: int) -> tuple[Path, Catalogue]:
    """A bundle of so many pictures and clips, and a catalogue that asks for them."""
    from tests.bundles import declaration

    pictures, films = [_picture(n) for n in range(SHAPES)], [_film(n) for n in range(SHAPES)]
    files = {f"outputs/i{n}.png": (f"i{n}", pictures[n % SHAPES]) for n in range(images)}
    files |= {f"outputs/v{n}.mp4": (f"v{n}", films[n % SHAPES]) for n in range(clips)}
    listed = [
        {"path": path, "sha256": hashlib.sha256(data).hexdigest(), "sample": sample}
        for path, (sample, data) in files.items()
    ]
    manifest = {
        **declaration(suite="bench", subset="full", modalities=["image", "video"]),
        "files": listed,
    }
    with zipfile.ZipFile(to, "w") as bundle:
        bundle.writestr("manifest.json", json.dumps(manifest))
        for path, (_, data) in files.items():
            bundle.writestr(path, data)
    items = {sample: "image" if sample.startswith("i") else "video" for sample, _ in files.values()}
    facts = SuiteFacts(
        "bench", str(manifest["suite_version"]), ("outputs",), items, {"full": frozenset(items)}
    )
    return to, {"bench": facts}


def _picture(number: int) -> bytes:
    from PIL import Image

    data = io.BytesIO()
    Image.fromarray(_scene(number, 512, 512)).save(data, "PNG")
    return data.getvalue()


def _film(number: int) -> bytes:
    """24 frames of a scene that moves, written as the project writes clips."""
    from evaluators.media import write_mp4

    with tempfile.TemporaryDirectory() as folder:
        wide: Sequence[np.ndarray] = [_scene(number, 480, 640, shift) for shift in range(24)]
        return write_mp4(wide, Path(folder) / "clip.mp4", 8).read_bytes()


def _scene(number: int, height: int, width: int, shift: int = 0) -> np.ndarray:
    """Soft waves with the grain of a photograph."""
    rows, columns = np.mgrid[0:height, 0:width]
    waves = [
        np.sin((rows + 3 * shift) / (20 + 5 * c + number))
        + np.cos((columns - shift) / (30 + 7 * c))
        for c in range(3)
    ]
    grain = np.random.default_rng(number).normal(0, 4, (height, width, 3))
    return np.clip(np.stack(waves, -1) * 50 + 128 + grain, 0, 255).astype(np.uint8)


if __name__ == "__main__":
    raise SystemExit(main())
