"""What holds for every store, in a folder and in S3."""

from __future__ import annotations

import hashlib
import pickle
import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from infra.store import (
    BadKey,
    Corrupt,
    Missing,
    Store,
    Stored,
    StoreError,
    blob_key,
    fetch_blob,
    lend_blob,
    open_store,
    put_blob,
    put_bytes,
)
from tests.servers.s3 import S3Server

LARGE = 20 * 1_000_000
HOSTILE = {
    "empty": "",
    "absolute": "/etc/passwd",
    "parent": "../secret",
    "parent within": "runs/../../secret",
    "here": "runs/./one",
    "empty name": "runs//one",
    "slash at the end": "runs/",
    "backslash": "runs\\..\\secret",
    "nul": "runs/one\0.json",
    "newline": "runs/one\nSet-Cookie: a",
    "delete": "runs/\x7f",
    "text that runs backwards": "runs/\u202egpj.exe",
    "half a surrogate pair": "runs/\ud800",
    "unfinished": "runs/.partial-1",
    "long name": "a" * 256,
    "long key": "/".join(["a" * 200] * 6),
}


@pytest.fixture(params=["folder", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    if request.param == "folder":
        return open_store(str(tmp_path / "store"))
    server = request.getfixturevalue("s3_server")
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    return open_store(
        f"s3://{request.getfixturevalue('bucket')}/{secrets.token_hex(4)}/prefix", server.endpoint
    )


@pytest.fixture(scope="module")
def bucket(s3_server: S3Server) -> str:
    return s3_server.fresh_bucket()


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("large") / "weights.safetensors"
    path.write_bytes(secrets.token_bytes(LARGE))
    yield path
    path.unlink()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("data", [b"", b"verdicts\n", bytes(range(256)) * 5000], ids=len)
def test_what_is_put_comes_back(store: Store, data: bytes) -> None:
    stored = store.put("runs/1/verdicts.jsonl", data)

    assert store.get("runs/1/verdicts.jsonl") == data
    assert stored == sha256(data)


def test_a_key_may_hold_spaces_signs_and_letters_of_any_script(store: Store) -> None:
    key = "outputs/café 世界/a+b&c=d%20e?f#g'h\"<i>.mp4"

    store.put(key, b"video")

    assert store.get(key) == b"video"
    assert [found.key for found in store.list("outputs/café 世")] == [key]


def test_putting_the_same_object_twice_is_harmless(store: Store) -> None:
    store.put("a", b"same")
    store.put("a", b"same")

    assert store.get("a") == b"same"
    assert list(store.list("")) == [Stored("a", 4)]


def test_a_small_file_goes_there_and_back(store: Store, tmp_path: Path) -> None:
    (tmp_path / "in.json").write_bytes(b"{}")

    stored = store.put_file("runs/1/in.json", tmp_path / "in.json")
    fetched = store.fetch("runs/1/in.json", tmp_path / "new folder/out.json")

    assert (tmp_path / "new folder/out.json").read_bytes() == b"{}"
    assert stored == fetched == sha256(b"{}")


def test_a_file_of_20_megabytes_goes_there_and_back(
    store: Store, large: Path, tmp_path: Path
) -> None:
    stored = store.put_file("models/1", large)
    fetched = store.fetch("models/1", tmp_path / "back")

    assert (
        stored == fetched == sha256((tmp_path / "back").read_bytes()) == sha256(large.read_bytes())
    )
    assert list(store.list("models/")) == [Stored("models/1", LARGE)]


def test_a_large_object_can_be_deleted(store: Store, large: Path) -> None:
    store.put_file("models/1", large)

    store.delete("models/1")

    assert not store.exists("models/1")


@pytest.mark.parametrize("size", [10, LARGE])
def test_a_file_that_is_not_what_it_was_said_to_be_is_not_stored(
    store: Store, tmp_path: Path, size: int
) -> None:
    (tmp_path / "changed.bin").write_bytes(bytes(size))

    with pytest.raises(StoreError, match="'changed.bin' changed while it was being stored"):
        store.put_file("a", tmp_path / "changed.bin", sha256(b"as it was"))

    assert not store.exists("a")
    assert list(store.list("")) == []


def test_a_file_that_is_not_there_is_the_callers_own_error(store: Store, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        store.put_file("a", tmp_path / "nothing")


def test_a_missing_object_is_named(store: Store, tmp_path: Path) -> None:
    with pytest.raises(Missing, match="no object 'runs/2'") as missing:
        store.get("runs/2")
    with pytest.raises(Missing):
        store.fetch("runs/2", tmp_path / "out")

    assert missing.value.key == "runs/2"
    assert not store.exists("runs/2")
    assert list(tmp_path.glob("*out*")) == []


def test_a_folder_of_objects_is_no_object(store: Store) -> None:
    store.put("runs/1/verdicts", b"x")

    assert not store.exists("runs/1")
    with pytest.raises(Missing):
        store.get("runs/1")
    with pytest.raises(Missing):
        store.get("runs/1/verdicts/first")


def test_a_failed_fetch_leaves_the_old_file_as_it_was(store: Store, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("old")

    with pytest.raises(Missing):
        store.fetch("nothing", tmp_path / "out")

    assert (tmp_path / "out").read_text() == "old"
    assert list(tmp_path.rglob(".partial-*")) == []


def test_deleting_is_final_and_may_be_repeated(store: Store) -> None:
    store.put("a/b", b"x")

    store.delete("a/b")
    store.delete("a/b")

    assert not store.exists("a/b")
    assert list(store.list("")) == []


def test_a_listing_is_sorted_by_key_and_cut_by_prefix(store: Store) -> None:
    keys = ["a-b", "a.b", "a/b", "a/b.c", "a0", "runs/1/x", "runs/10/x", "runs/2/x", "runs/é", "z"]
    for key in keys:
        store.put(key, key.encode())

    listed = list(store.list(""))

    assert [found.key for found in listed] == sorted(keys)
    assert [found.size for found in listed] == [len(key.encode()) for key in sorted(keys)]
    assert [found.key for found in store.list("runs/1")] == ["runs/1/x", "runs/10/x"]
    assert [found.key for found in store.list("runs/1/")] == ["runs/1/x"]
    assert list(store.list("nothing/")) == []


def test_a_listing_does_not_stop_at_1000_objects(store: Store) -> None:
    keys = [f"outputs/{number:04}.png" for number in range(1001)]

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda key: store.put(key, b"png"), keys))

    assert [found.key for found in store.list("outputs/")] == keys


def test_an_empty_store_lists_nothing(store: Store) -> None:
    assert list(store.list("")) == []


@pytest.mark.parametrize("key", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_key_is_refused_before_anything_is_touched(
    store: Store, key: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(b"x")

    for ask in (store.get, store.exists, store.delete, lambda key: store.put(key, b"x")):
        with pytest.raises(BadKey):
            ask(key)
    with pytest.raises(BadKey):
        store.put_file(key, tmp_path / "file")
    with pytest.raises(BadKey):
        store.fetch(key, tmp_path / "out")

    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("prefix", ["/", "../", "a/../b", "a//", "a\\", "\0"])
def test_a_hostile_prefix_is_refused_at_once(store: Store, prefix: str) -> None:
    with pytest.raises(BadKey):
        store.list(prefix)


def test_of_many_writers_of_one_key_one_wins_whole(store: Store) -> None:
    versions = [bytes([number]) * 200_000 for number in range(16)]

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda data: store.put("contested", data), versions))

    assert store.get("contested") in versions
    assert list(store.list("")) == [Stored("contested", 200_000)]


def test_a_blob_lies_under_its_own_hash_and_is_stored_once(store: Store, tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"frame")
    (tmp_path / "two").write_bytes(b"frame")

    first, second = put_blob(store, tmp_path / "one"), put_blob(store, tmp_path / "two")
    fetch_blob(store, first, tmp_path / "deep/back")

    assert first == second == sha256(b"frame")
    assert list(store.list("")) == [Stored(f"blobs/{first[:2]}/{first[2:]}", 5)]
    assert (tmp_path / "deep/back").read_bytes() == b"frame"


@pytest.mark.parametrize(
    "damaged", [b"fram", b"frame.", b"Frame", b""], ids=["short", "long", "other", "empty"]
)
def test_a_damaged_blob_is_never_handed_out(store: Store, tmp_path: Path, damaged: bytes) -> None:
    expected = sha256(b"frame")
    store.put(blob_key(expected), damaged)
    (tmp_path / "back").write_text("old")

    with pytest.raises(Corrupt, match=f"its SHA-256 is {sha256(damaged)}, it should be {expected}"):
        fetch_blob(store, expected, tmp_path / "back")

    assert (tmp_path / "back").read_text() == "old"
    assert list(tmp_path.glob(".partial-*")) == []


def test_a_blob_can_be_lent_for_reading_where_a_damaged_one_cannot(
    store: Store, tmp_path: Path
) -> None:
    good, bad = put_bytes(store, b"frame"), sha256(b"other")
    store.put(blob_key(bad), b"spoilt")

    lend_blob(store, good, tmp_path / "good")
    with pytest.raises(Corrupt):
        lend_blob(store, bad, tmp_path / "bad")

    assert (tmp_path / "good").read_bytes() == b"frame"
    assert not (tmp_path / "bad").exists()


def test_a_missing_blob_is_missing(store: Store, tmp_path: Path) -> None:
    with pytest.raises(Missing):
        fetch_blob(store, "0" * 64, tmp_path / "back")
    with pytest.raises(Missing):
        lend_blob(store, "0" * 64, tmp_path / "back")


@pytest.mark.parametrize("digest", ["", "ab", "../" * 20 + "etc/", "A" * 64, "0" * 63 + "\n"])
def test_what_is_no_sha256_has_no_blob(digest: str) -> None:
    with pytest.raises(BadKey):
        blob_key(digest)


def test_a_store_can_be_found_again_by_its_address_and_sent_to_another_process(
    store: Store,
) -> None:
    store.put("a", b"x")

    copy: Store = pickle.loads(pickle.dumps(store))

    assert copy == store
    assert copy.get("a") == b"x"
    assert open_store(store.url(), getattr(store, "endpoint", None)) == store


@pytest.mark.parametrize(
    "error", [Missing("runs/1"), Corrupt("runs/1", "0" * 64, "1" * 64)], ids=["missing", "corrupt"]
)
def test_an_error_survives_the_way_between_processes(error: StoreError) -> None:
    copy = pickle.loads(pickle.dumps(error))

    assert type(copy) is type(error)
    assert str(copy) == str(error)


@pytest.mark.parametrize(
    "url", ["", "https://host/bucket", "file:///tmp/store", "s3://", "s3://B_d/x", "s3://abc/../x"]
)
def test_an_address_of_no_store_is_refused(url: str) -> None:
    with pytest.raises(StoreError):
        open_store(url)


@pytest.mark.parametrize(
    "endpoint", ["host:9000", "ftp://host", "http://user:hunter2@host", "http://host/path?x"]
)
def test_an_endpoint_that_is_no_plain_address_is_refused_without_being_repeated(
    endpoint: str,
) -> None:
    with pytest.raises(StoreError) as refusal:
        open_store("s3://bucket", endpoint)

    assert "hunter2" not in str(refusal.value)
