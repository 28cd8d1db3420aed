"""What a power cut, a killed process or a full disk may do to a store in a folder: nothing."""

from __future__ import annotations

import hashlib
import os
import random
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from infra.store import Missing, StoreError
from infra.store.folder import FolderStore

PUT_FROM_A_PIPE = """
import sys
from pathlib import Path
from infra.store.folder import FolderStore
FolderStore(Path(sys.argv[1])).put_file("runs/1/output.mp4", Path(sys.argv[2]))
"""

PUT_FOR_EVER = """
import hashlib, os, sys
from pathlib import Path
from infra.store.folder import FolderStore
store = FolderStore(Path(sys.argv[1]))
print("ready", flush=True)
while True:
    data = os.urandom(300_000)
    store.put(f"runs/{hashlib.sha256(data).hexdigest()}", data)
"""


def python(script: str, *arguments: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2])


def test_a_put_that_is_killed_halfway_leaves_no_object(tmp_path: Path) -> None:
    store, pipe = FolderStore(tmp_path / "store"), tmp_path / "pipe"
    os.mkfifo(pipe)
    with python(PUT_FROM_A_PIPE, store.root, pipe) as child, pipe.open("wb") as feed:
        feed.write(bytes(5_000_000))
        child.kill()

    partial = list(store.root.rglob(".partial-*"))

    assert [path.stat().st_size > 1_000_000 for path in partial] == [True]
    assert not store.exists("runs/1/output.mp4")
    assert list(store.list("")) == []
    with pytest.raises(Missing):
        store.get("runs/1/output.mp4")


def test_whenever_a_writer_is_killed_every_object_is_whole(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    for _ in range(20):
        with python(PUT_FOR_EVER, tmp_path) as child:
            assert child.stdout is not None
            child.stdout.readline()
            time.sleep(random.uniform(0, 0.05))
            child.kill()

    stored = list(store.list("runs/"))

    assert stored
    for found in stored:
        assert hashlib.sha256(store.get(found.key)).hexdigest() == found.key.removeprefix("runs/")


def test_the_bytes_are_on_the_disk_before_the_name_and_the_name_before_put_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[str] = []
    sync, replace = os.fsync, os.replace

    def seen_sync(descriptor: int) -> None:
        events.append(f"sync {kind(descriptor)}")
        sync(descriptor)

    def seen_replace(old: Path, new: Path) -> None:
        events.append("name")
        replace(old, new)

    monkeypatch.setattr(os, "fsync", seen_sync)
    monkeypatch.setattr(os, "replace", seen_replace)

    FolderStore(tmp_path).put("runs/1", b"x")

    assert events == ["sync folder", "sync file", "name", "sync folder"]


def kind(descriptor: int) -> str:
    return "folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file"


def test_an_object_can_be_read_by_whom_the_umask_allows(tmp_path: Path) -> None:
    old = os.umask(0o022)
    try:
        FolderStore(tmp_path).put("a", b"x")
    finally:
        os.umask(old)

    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o644


def test_a_key_below_an_object_cannot_be_stored_and_the_message_says_what_to_do(
    tmp_path: Path,
) -> None:
    store = FolderStore(tmp_path)
    store.put("runs", b"x")

    with pytest.raises(
        StoreError, match="Could not store 'runs/1': .* our store's fault, .* then try again"
    ):
        store.put("runs/1", b"x")

    assert store.get("runs") == b"x"


def test_a_full_disk_is_our_fault_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    store = FolderStore(tmp_path)
    monkeypatch.setattr(os, "fsync", full)

    with pytest.raises(StoreError, match="No space left on device"):
        store.put("a", b"x")

    assert list(tmp_path.iterdir()) == []


def test_nothing_is_made_before_the_first_put(tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "store")

    assert list(store.list("")) == []
    assert not store.root.exists()


def test_what_is_lent_takes_no_room_unless_it_is_on_another_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FolderStore(tmp_path / "store")
    sha256 = store.put("runs/one", b"frame")

    assert store.lend("runs/one", tmp_path / "link") == sha256
    monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError("another disk")))
    assert store.lend("runs/one", tmp_path / "copy") == sha256

    assert (tmp_path / "link").samefile(store.root / "runs/one")
    assert not (tmp_path / "copy").samefile(store.root / "runs/one")
    assert (tmp_path / "copy").read_bytes() == b"frame"
