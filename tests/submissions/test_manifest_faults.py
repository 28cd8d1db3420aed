"""Manifests and declarations with very many faults, or very many bytes: counted, and told in
bounded work."""

from __future__ import annotations

import difflib
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from submissions.bundle.declarations import read_declaration
from submissions.format import manifest as manifests
from submissions.format.errors import MOST_PROBLEMS, IntakeError
from tests.bundles import declaration

FAULTS = 5_000


def test_only_the_problems_that_are_told_get_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    searches: list[str] = []

    def counted(word: str, *rest: Any) -> list[str]:
        searches.append(word)
        return difflib.get_close_matches(word, *rest)

    monkeypatch.setattr(manifests, "get_close_matches", counted)
    files = [{"path": "outputs/0.png", "sha256": "0" * 64, "sample": "a"}]
    unknown = {f"modek {number}": 0 for number in range(FAULTS)}
    raw = json.dumps({**declaration(), "files": files, **unknown}).encode()

    with pytest.raises(IntakeError) as refused:
        manifests.parse(raw)

    assert refused.value.total == FAULTS
    assert len(refused.value.problems) == len(searches) == MOST_PROBLEMS
    assert "Did you mean 'model'?" in refused.value.problems[0].hint


STRANGE = dict.fromkeys("abcdefghijklmn", 0)
SOUND = {"path": "outputs/0.png", "sha256": "0" * 64, "sample": "a"}


@pytest.mark.parametrize(("sound", "told"), [(0, MOST_PROBLEMS), (200, 1)])
def test_a_million_faults_are_counted_and_only_the_first_are_listed(sound: int, told: int) -> None:
    files = [SOUND] * sound + [STRANGE] * 10_000
    raw = json.dumps({**declaration(), "files": files}, separators=(",", ":")).encode()
    tracemalloc.start()

    with pytest.raises(IntakeError) as refused:
        manifests.parse(raw)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert refused.value.total == 10_000 * (len(STRANGE) + 2)
    assert {problem.code for problem in refused.value.problems} == {"E_SCHEMA"}
    assert len(refused.value.problems) == told
    assert peak < 30 * len(raw), "a list of all faults takes a hundred times the text"


@pytest.mark.parametrize("field", ["contact", "suite"])
def test_nul_in_a_manifest_is_refused_for_no_database_keeps_it(field: str) -> None:
    raw = json.dumps({**declaration(), "files": [], field: "a\0b"}).encode()

    with pytest.raises(IntakeError) as refused:
        manifests.parse(raw)

    assert [problem.code for problem in refused.value.problems] == ["E_MANIFEST_TEXT"]


DECLARATIONS = {
    "E_MANIFEST_LARGE": b" " * manifests.MOST_BYTES + b"{}",
    "E_MANIFEST_DUPKEY": b'{"team": "a", "team": "b"}',
    "E_MANIFEST_DEPTH": b"[" * 100_000,
    "E_MANIFEST_ENCODING": b'{"team": "\xff"}',
    "E_MANIFEST_JSON": b"team: a",
    "E_SCHEMA": b"[]",
}


@pytest.mark.parametrize("code", DECLARATIONS)
def test_a_declaration_is_read_as_strictly_as_a_manifest(code: str, tmp_path: Path) -> None:
    path = tmp_path / "armillary.json"
    path.write_bytes(DECLARATIONS[code])

    with pytest.raises(IntakeError) as refused:
        read_declaration(path)

    assert [problem.code for problem in refused.value.problems] == [code]
