"""A worker's disk does not fill with what it has evaluated: the longest unused goes, and nothing
that is in use."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from flows.workers.cache.room import in_use, make_room, tidy

SIZE = 1000


def kept(work: Path, name: str, used: float) -> str:
    """A bundle and its model, half a kilobyte each, last used at such a moment."""
    sha256 = hashlib.sha256(name.encode()).hexdigest()
    with in_use(work, sha256):
        (work / "bundles" / f"{sha256}.zip").write_bytes(bytes(SIZE // 2))
        (work / "models" / sha256).mkdir(parents=True)
        (work / "models" / sha256 / "weights").write_bytes(bytes(SIZE // 2))
    os.utime(work / "bundles" / f"{sha256}.lock", (used, used))
    return sha256


def left(work: Path, *names: str) -> list[bool]:
    found = [
        ((work / "bundles" / f"{name}.zip").exists(), (work / "models" / name).exists())
        for name in names
    ]
    assert all(bundle == model for bundle, model in found)
    return [bundle for bundle, _ in found]


def test_the_longest_unused_goes_and_what_is_in_use_stays(tmp_path: Path) -> None:
    oldest, older, young = (
        kept(tmp_path, name, used) for name, used in (("a", 1), ("b", 2), ("c", 3))
    )

    make_room(tmp_path, 3 * SIZE)
    untouched = left(tmp_path, oldest, older, young)
    with in_use(tmp_path, older):
        os.utime(tmp_path / "bundles" / f"{older}.lock", (2, 2))
        make_room(tmp_path, SIZE)
        while_in_use = left(tmp_path, oldest, older, young)
    make_room(tmp_path, SIZE)

    assert untouched == [True, True, True]
    assert while_in_use == [False, True, True]
    assert left(tmp_path, older, young) == [False, True]


def test_on_a_disk_that_is_nearly_full_only_what_is_in_use_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    idle, busy = kept(tmp_path, "a", 1), kept(tmp_path, "b", 2)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(total=100, free=50))
    tidy(tmp_path, 10 * SIZE)
    with_room = left(tmp_path, idle, busy)

    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(total=100, free=4))
    with in_use(tmp_path, busy):
        tidy(tmp_path, 10 * SIZE)

    assert with_room == [True, True]
    assert left(tmp_path, idle, busy) == [False, True]
