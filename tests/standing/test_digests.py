"""What rows hash to in the audit's chain does not depend on how many are hashed at once."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime

from flows.publish.row_digests import digests

NAMES = ["text", "key", "number", "nothing", "flag", "record", "moment", "bytes"]
MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
ROWS = [
    ('a\0b\n"é\x7f', "k1", 0.1, None, True, {}, MOMENT, b"one"),
    ("], [", "k2", 1e-9, None, False, {"b": [1, None], "a": "\u2028"}, MOMENT, b""),
    ("", "k3", -3, None, True, [], MOMENT, b"two"),
]


def test_rows_hash_as_canonical_json_of_the_key_and_of_the_whole_row() -> None:
    found = list(digests(NAMES, ["key", "number"], ROWS))

    assert found == [_hash([row[1], row[2]]) + _hash(_plain(row)) for row in ROWS]


def _plain(row: tuple[object, ...]) -> dict[str, object]:
    moment, data = "2026-01-02T03:04:05+00:00", hashlib.sha256(bytes(row[7])).hexdigest()  # type: ignore[call-overload]
    return dict(zip(NAMES, (*row[:6], moment, data), strict=True))


def _hash(value: object) -> bytes:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).digest()[:8]
