"""The environment is what the lock says, and the lock is what pyproject.toml allows."""

from __future__ import annotations

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from infra.lock import LOCK, PROJECT, ROOT, Pin, differences, installed_versions, pins_of, read_lock

PINS = read_lock(LOCK.read_text("utf-8"))


def declared() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    texts = [
        *project["dependencies"],
        *(each for extra in project["optional-dependencies"].values() for each in extra),
    ]
    return [requirement for requirement in map(Requirement, texts) if requirement.name != PROJECT]


def test_the_environment_is_the_lock() -> None:
    moved = differences(PINS, installed_versions())

    assert not moved, "\n".join(
        [*moved, "Mend it by `make clean install`, or move the lock by `make upgrade`."]
    )


@pytest.mark.parametrize("requirement", declared(), ids=str)
def test_every_declared_range_holds_the_locked_version(requirement: Requirement) -> None:
    pin = PINS.get(canonicalize_name(requirement.name))

    assert pin, f"{requirement.name} is not in the lock: run `make upgrade`."
    assert requirement.specifier.contains(pin.version), (
        f"{pin.line} is outside of {requirement}: run `make upgrade`."
    )


def test_the_lock_names_versions_and_no_index() -> None:
    lines = [line for line in LOCK.read_text("utf-8").splitlines() if not line.startswith("#")]

    assert len(lines) > 100
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9][\w.!]*( ; [^/]+)?", line) for line in lines), lines


def test_a_moved_a_missing_and_a_foreign_package_are_told_apart() -> None:
    lock = {name: Pin(name, "1.0") for name in ("alpha", "beta")} | {
        "win": Pin("win", "1.0", 'os_name == "nt"')
    }

    report = differences(lock, {"alpha": "1.1", "gamma": "2.0"})

    assert report == [
        "alpha is 1.1, the lock says 1.0",
        "beta 1.0 is not installed",
        "gamma 2.0 is installed and not in the lock",
    ]


def test_a_local_build_is_locked_by_its_public_version_and_platform_markers_are_kept() -> None:
    facts = [
        {"name": "armillary", "version": "0.1.0", "requires_dist": ["torch<3"]},
        {
            "name": "torch",
            "version": "2.13.0+cpu",
            "requires_dist": ['Triton; platform_system == "Linux"'],
        },
        {"name": "triton", "version": "3.5"},
    ]

    pins = pins_of({"install": [{"metadata": each} for each in facts]})

    assert [pin.line for pin in pins] == [
        "torch==2.13.0",
        'triton==3.5 ; platform_system == "Linux"',
    ]
