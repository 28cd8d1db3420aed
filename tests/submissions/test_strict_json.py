"""Strict JSON: what it says to each trap, and that hostile text takes time and memory in proportion
to its length."""

from __future__ import annotations

import json
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from submissions.format import strict_json
from submissions.format.strict_json import MOST_DEPTH, BadJson
from submissions.model_files import weights
from submissions.model_files.weights import UnsoundWeights, tensors_of

REFUSED = {
    b'{"a": 1, "b": 2, "b": 3, "a": 4}': ("DUPKEY", "'a'", "This key stands twice in one object."),
    b'{"a": [{"c": 1, "d": 2, "c": 3}]}': ("DUPKEY", "'c'", "This key stands twice in one object."),
    b'{"a": NaN}': ("NUMBER", "NaN", "NaN is not a number in JSON."),
    b"[-Infinity]": ("NUMBER", "-Infinity", "-Infinity is not a number in JSON."),
    b"[1e999]": ("NUMBER", "'1e999'", "The number is too large."),
    b"[" + b"9" * 41 + b"]": ("NUMBER", "'" + "9" * 41 + "'", "The number has too many digits."),
    b'{"a": 1,\n "b" 2}': (
        "JSON",
        "line 2, column 6",
        "This is not JSON: Expecting ':' delimiter.",
    ),
    b'{"a": "\n"}': ("JSON", "line 1, column 8", "This is not JSON: Invalid control character at."),
    b'["a\\"]': ("JSON", "line 1, column 2", "This is not JSON: Unterminated string starting at."),
    b"": ("JSON", "line 1, column 1", "This is not JSON: Expecting value."),
    b'["\xff"]': ("ENCODING", "$", "It is not UTF-8."),
    b"\xef\xbb\xbf{}": ("ENCODING", "$", "It begins with a byte order mark."),
    b"[" * 33 + b"]" * 33: ("DEPTH", "$", "Nested deeper than 32 levels."),
    b'{"a":' * 100_000: ("DEPTH", "$", "Nested deeper than 32 levels."),
    b'["\\\\", ' + b"[" * 32 + b"]" * 33: ("DEPTH", "$", "Nested deeper than 32 levels."),
}


@pytest.mark.parametrize(
    "raw", REFUSED, ids=[f"{kind} {where}" for kind, where, _ in REFUSED.values()]
)
def test_each_trap_is_named_with_its_place(raw: bytes) -> None:
    with pytest.raises(BadJson) as bad:
        strict_json.read(raw)

    assert (bad.value.kind, bad.value.where, bad.value.message) == REFUSED[raw]
    assert bad.value.hint


SOUND = (
    b"[" * MOST_DEPTH + b"]" * MOST_DEPTH,
    json.dumps(["[" * 100, "{\\" * 100, '"[' * 100, "\\", '\\"[[[', "\U0001f600"] * 9).encode(),
    json.dumps({"\\": {'"': [{"[[": "\\\\"}, 1.5, -2, True, None]}}).encode(),
    json.dumps(["[" * 50] * 20_000).encode(),
    b'{"a": {}, "b": {"a": 1}}',
)


@pytest.mark.parametrize("raw", SOUND, ids=range(len(SOUND)))
def test_brackets_within_strings_are_text(raw: bytes) -> None:
    assert strict_json.read(raw) == json.loads(raw)


def test_a_string_may_lie_across_the_windows_of_the_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = json.dumps({"a": ['[[["' * 9, {"\\": "]" * 40}], "b": [[[[1]]]]}).encode()

    for window in range(1, 40):
        monkeypatch.setattr(strict_json, "WINDOW", window)
        assert strict_json.read(raw) == json.loads(raw)


def test_more_values_or_bytes_than_the_limits_are_refused_before_they_are_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(json, "loads", _never)

    with pytest.raises(BadJson) as values:
        strict_json.read(b"[" + b"0," * strict_json.MOST_VALUES + b"0]")
    with pytest.raises(BadJson) as size:
        strict_json.read(b" " * (strict_json.MOST_BYTES + 1))

    assert (values.value.kind, size.value.kind) == ("LARGE", "LARGE")


def _never(*_arguments: object, **_options: object) -> None:
    raise AssertionError("values were made")


def header(count: int) -> bytes:
    """A header whose one tensor has so many dimensions, each a number of forty digits."""
    return (
        b'{"a": {"dtype": "F32", "shape": ['
        + b",".join([b"9" * 40] * count)
        + b'], "data_offsets": [0, 4]}}'
    )


def keys(count: int, twin: int) -> bytes:
    """An object of so many keys, one of which comes again at its end."""
    return b"{" + b"".join(b'"%07d":0,' % number for number in range(count)) + b'"%07d":0}' % twin


HOSTILE: dict[str, Callable[[int], bytes]] = {
    "escaped quotes": lambda length: rb"\"" * (length // 2),
    "one string of escaped quotes": lambda length: b'"' + rb"\"" * (length // 2) + b'"',
    "opening quotes": lambda length: b'"' * length,
    "an unended string of backslashes": lambda length: b'"' + b"\\" * length,
    "keys, the first of them twice": lambda length: keys(length // 12, 0),
    "keys, the last of them twice": lambda length: keys(length // 12, length // 12 - 1),
    "empty objects": lambda length: b"[" + b"{}," * (length // 3) + b"{}]",
    "a shape of many numbers": lambda length: header(length // 41),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_eight_times_the_hostile_text_takes_about_eight_times_as_long(kind: str) -> None:
    small, large = HOSTILE[kind](48_000), HOSTILE[kind](8 * 48_000)

    least, most = _seconds(small), _seconds(large)

    assert most < 24 * max(least, 0.002), "quadratic reading would take 64 times as long"


def _seconds(raw: bytes) -> float:
    """The fastest of three readings, by the processor's own clock."""
    return min(_once(raw) for _ in range(3))


def _once(raw: bytes) -> float:
    start = time.process_time()
    _read(raw)
    return time.process_time() - start


def _read(raw: bytes) -> Any:
    try:
        return tensors_of(raw, 4)
    except UnsoundWeights as unsound:
        return unsound


@pytest.mark.parametrize("kind", HOSTILE)
def test_reading_takes_a_bounded_multiple_of_the_text_in_memory(kind: str) -> None:
    raw = HOSTILE[kind](1_200_000)
    tracemalloc.start()

    _read(raw)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * len(raw)


def test_a_tensor_has_at_most_as_many_dimensions_as_torch_takes() -> None:
    ones = [1] * weights.MOST_DIMENSIONS
    entry = {"dtype": "F32", "shape": ones, "data_offsets": [0, 4]}

    assert tensors_of(json.dumps({"a": entry}).encode(), 4)[0][0].shape == tuple(ones)
    with pytest.raises(UnsoundWeights):
        tensors_of(json.dumps({"a": {**entry, "shape": [*ones, 1]}}).encode(), 4)
