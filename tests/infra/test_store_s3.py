"""What is S3's own: credentials, buckets, uploads in parts, and a network that fails."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path

import pytest

from infra.store import Corrupt, StoreError, Unreachable
from infra.store.boto import connect
from infra.store.s3 import S3Store
from tests.servers.flaky import Fault, flaky
from tests.servers.process import free_ports
from tests.servers.s3 import S3Server

DATA = bytes(random.Random(1).randbytes(100_000))


@pytest.fixture
def server(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    return s3_server


@pytest.fixture
def store(server: S3Server) -> S3Store:
    return S3Store(server.fresh_bucket(), "prefix", server.endpoint)


def test_a_wrong_secret_is_refused_and_never_shown(
    store: S3Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put("a", b"x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a-wrong-secret")
    stranger = S3Store(store.bucket, store.prefix, store.endpoint)

    for ask in (
        stranger.get,
        stranger.exists,
        stranger.delete,
        lambda key: stranger.put(key, b"y"),
    ):
        with pytest.raises(
            StoreError, match="the operator must correct AWS_ACCESS_KEY_ID"
        ) as refusal:
            ask("a")
        assert "a-wrong-secret" not in str(refusal.value)
    with pytest.raises(StoreError, match="Could not list '' in s3://.*SignatureDoesNotMatch"):
        list(stranger.list(""))

    assert store.get("a") == b"x"


def test_no_credentials_at_all_is_the_operators_fault(
    store: S3Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, "nowhere")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")

    with pytest.raises(StoreError, match="NoCredentialsError.* the operator must correct"):
        S3Store(store.bucket, endpoint=store.endpoint).get("a")


def test_a_bucket_that_is_not_there_is_not_a_missing_object(server: S3Server) -> None:
    store = S3Store("no-such-bucket", "", server.endpoint)

    with pytest.raises(StoreError, match="NoSuchBucket.* the operator must make it"):
        store.get("a")
    with pytest.raises(StoreError, match="NoSuchBucket"):
        store.put("a", b"x")


def test_two_prefixes_of_one_bucket_do_not_see_each_other(store: S3Store) -> None:
    other = S3Store(store.bucket, "prefix2", store.endpoint)
    store.put("a", b"x")
    other.put("b", b"y")

    assert [found.key for found in store.list("")] == ["a"]
    assert [found.key for found in other.list("")] == ["b"]
    assert [found.key for found in S3Store(store.bucket, "", store.endpoint).list("prefix")] == [
        "prefix/a",
        "prefix2/b",
    ]


def test_a_folder_made_in_a_console_is_no_object(store: S3Store) -> None:
    connect(store.endpoint).put_object(
        Bucket=store.bucket, Key="prefix/runs/", Body=b"", Metadata={}
    )

    assert list(store.list("")) == []


def test_an_upload_that_fails_leaves_no_parts_behind(store: S3Store, tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(bytes(12_000_000))

    with pytest.raises(StoreError, match="changed"):
        store.put_file("a", tmp_path / "large", "0" * 64)

    assert unfinished(store) == 0


def unfinished(store: S3Store) -> int:
    import boto3

    found = (
        boto3.session.Session()
        .client("s3", endpoint_url=store.endpoint)
        .list_multipart_uploads(Bucket=store.bucket)
    )
    return len(found.get("Uploads", ()))


def test_a_file_of_many_parts_carries_its_own_hash(store: S3Store, tmp_path: Path) -> None:
    data = random.Random(2).randbytes(20_000_000)
    (tmp_path / "large").write_bytes(data)

    store.put_file("a", tmp_path / "large")

    answer = connect(store.endpoint).get_object(Bucket=store.bucket, Key="prefix/a")
    assert answer["Metadata"]["sha256"] == hashlib.sha256(data).hexdigest()


def test_an_object_put_by_others_needs_no_hash(store: S3Store) -> None:
    connect(store.endpoint).put_object(Bucket=store.bucket, Key="prefix/a", Body=b"x", Metadata={})

    assert store.get("a") == b"x"


@contextmanager
def through(store: S3Store, faults: Iterable[Fault]) -> Iterator[S3Store]:
    assert store.endpoint is not None
    with flaky(store.endpoint, faults) as endpoint:
        yield S3Store(store.bucket, store.prefix, endpoint)


def test_every_get_is_right_though_half_of_the_answers_are_spoilt(
    store: S3Store, tmp_path: Path
) -> None:
    store.put("a", DATA)
    dice = random.Random(3)
    kinds = [Fault.NONE] * 50 + [Fault.BUSY] * 30 + [Fault.RESET] * 10 + [Fault.HALF] * 10
    faults = (dice.choice(kinds) for _ in range(10_000))

    with through(store, faults) as spoilt, ThreadPoolExecutor(16) as pool:
        got = list(pool.map(spoilt.get, ["a"] * 50))
        fetched = list(
            pool.map(lambda number: spoilt.fetch("a", tmp_path / str(number)), range(50))
        )

    assert got == [DATA] * 50
    assert fetched == [hashlib.sha256(DATA).hexdigest()] * 50
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [DATA] * 50


@pytest.mark.parametrize("fault", [Fault.BUSY, Fault.RESET, Fault.LOST])
def test_whatever_is_asked_of_a_failing_server_is_done(
    store: S3Store, tmp_path: Path, fault: Fault
) -> None:
    large = random.Random(4).randbytes(17_000_000)
    (tmp_path / "large").write_bytes(large)

    with through(store, cycle([fault, fault, Fault.NONE])) as spoilt:
        spoilt.put("small", DATA)
        spoilt.put_file("large", tmp_path / "large")
        found = (
            spoilt.exists("small"),
            spoilt.exists("none"),
            [each.size for each in spoilt.list("")],
        )
        back = spoilt.get("large")
        spoilt.delete("small")

    assert found == (True, False, [17_000_000, 100_000])
    assert back == large
    assert [each.key for each in store.list("")] == ["large"]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infra.store.s3.PAUSES", (0.1,))


@pytest.mark.usefixtures("impatient")
def test_a_body_that_never_comes_whole_is_an_error(store: S3Store) -> None:
    store.put("a", DATA)

    with (
        through(store, cycle([Fault.HALF])) as spoilt,
        pytest.raises(Unreachable, match="read 'a'"),
    ):
        spoilt.get("a")


def test_a_bit_that_fell_over_on_the_way_is_noticed_and_asked_for_again(store: S3Store) -> None:
    store.put("a", DATA)

    with through(store, [Fault.FLIPPED]) as spoilt:
        got = spoilt.get("a")

    assert got == DATA


def test_a_body_that_is_always_wrong_is_an_error_and_no_file(
    store: S3Store, tmp_path: Path
) -> None:
    store.put("a", DATA)

    with through(store, cycle([Fault.FLIPPED])) as spoilt, pytest.raises(Corrupt):
        spoilt.fetch("a", tmp_path / "out")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("impatient")
def test_a_server_that_only_fails_is_given_up_in_the_end(store: S3Store) -> None:
    with (
        through(store, cycle([Fault.BUSY])) as spoilt,
        pytest.raises(Unreachable, match=r"\(503\).* try again later"),
    ):
        spoilt.get("a")


@pytest.mark.usefixtures("server", "impatient")
def test_a_server_that_is_not_there_is_nobodys_submission() -> None:
    store = S3Store("bucket", "", f"http://127.0.0.1:{free_ports(1)[0]}")

    with pytest.raises(
        Unreachable, match="EndpointConnectionError.* not the submitter's: try again later"
    ):
        store.get("a")
