"""How many children there are is by the memory of the machine, or of the container."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from infra import memory

EACH = 2 << 30


@pytest.mark.parametrize(
    ("said", "cores", "children"),
    [(str(12 << 30), 64, 2), (str(1 << 30), 64, 1), (str(12 << 30), 1, 1), ("max", 1, 1)],
)
def test_children_share_a_third_of_what_a_container_may_take(
    said: str, cores: int, children: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "memory.max").write_text(f"{said}\n")
    monkeypatch.setattr(memory, "LIMITS", (tmp_path / "absent", tmp_path / "memory.max"))
    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 16 << 20}.get)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(cores))

    assert memory.children_in_third(EACH) == children


def test_without_a_limit_the_machine_is_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "LIMITS", (tmp_path / "absent",))
    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 16 << 20}.get)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(64))

    assert memory.children_in_third(EACH) == 10
