"""Writes constraints.txt: the exact versions that the tests passed with, inside the ranges of
pyproject.toml."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "constraints.txt"
PROJECT = "armillary"
EXTRAS = ".[board,models,engines,dev]"
"""What `make install` installs; the lock covers every extra that is reached from here."""
INSTALLERS = ("pip", "setuptools")
PLATFORM = re.compile(r"sys_platform|platform_system|platform_machine|os_name|implementation")
HEAD = """\
# The versions that the tests passed with. Written by `make upgrade`, read by `make install`; do not
# edit by hand. These are constraints: a machine installs what it needs, a GPU machine its own torch
# build, in these versions.
"""


@dataclass(frozen=True, slots=True)
class Pin:
    """One package at one version, on the platforms that need it."""

    name: str
    version: str
    marker: str = ""

    @property
    def line(self) -> str:
        """The pin as pip reads it.

        >>> Pin("uvloop", "0.22.1", 'sys_platform != "win32"').line
        'uvloop==0.22.1 ; sys_platform != "win32"'
        """
        return f"{self.name}=={self.version}" + (f" ; {self.marker}" if self.marker else "")

    @property
    def applies(self) -> bool:
        """Whether this platform is one of those that need it."""
        return not self.marker or Marker(self.marker).evaluate()


def read_lock(text: str) -> dict[str, Pin]:
    """The pins of a lock by package.

    >>> read_lock("# head\\nnumpy==2.4.6\\n")
    {'numpy': Pin(name='numpy', version='2.4.6', marker='')}
    """
    pins: dict[str, Pin] = {}
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            requirement = Requirement(line)
            (pinned,) = requirement.specifier
            name = canonicalize_name(requirement.name)
            pins[name] = Pin(name, pinned.version, str(requirement.marker or ""))
    return pins


def public_version(version: str) -> str:
    """A version without the label of a local build, so that each machine may take its own.

    >>> public_version("2.13.0+cpu")
    '2.13.0'
    """
    return Version(version).public


def pins_of(report: Mapping[str, Any]) -> list[Pin]:
    """What pip's report of a resolution would install, sorted by name."""
    packages = {
        canonicalize_name(entry["metadata"]["name"]): entry["metadata"]
        for entry in report["install"]
    }
    pins = [
        Pin(name, public_version(facts["version"]), _platforms(name, packages.values()))
        for name, facts in packages.items()
        if name != PROJECT
    ]
    return sorted(pins, key=lambda pin: pin.name)


def _platforms(name: str, packages: Iterable[Mapping[str, Any]]) -> str:
    """The marker under which a package is needed, if each package that needs it does so on some
    platforms only."""
    if name in INSTALLERS:
        return ""
    markers = set()
    for facts in packages:
        for text in facts.get("requires_dist", ()):
            requirement = Requirement(text)
            if canonicalize_name(requirement.name) == name:
                markers.add(str(requirement.marker or ""))
    markers = {marker for marker in markers if "extra ==" not in marker}
    return " or ".join(sorted(markers)) if markers and all(map(PLATFORM.search, markers)) else ""


def changes(before: Mapping[str, Pin], after: Mapping[str, Pin]) -> list[str]:
    """What a new lock moved, in words.

    >>> changes({"a": Pin("a", "1")}, {"a": Pin("a", "2"), "b": Pin("b", "1")})
    ['a 1 → 2', 'b 1 is new']
    """
    lines = []
    for name in sorted({*before, *after}):
        if name not in after:
            lines.append(f"{name} {before[name].version} is gone")
        elif name not in before:
            lines.append(f"{name} {after[name].version} is new")
        elif before[name].version != after[name].version:
            lines.append(f"{name} {before[name].version} → {after[name].version}")
    return lines


def differences(lock: Mapping[str, Pin], installed: Mapping[str, str]) -> list[str]:
    """How an environment differs from a lock, in words; nothing where they agree."""
    expected = {name: pin.version for name, pin in lock.items() if pin.applies}
    lines = []
    for name in sorted({*expected, *installed}):
        if name not in installed:
            lines.append(f"{name} {expected[name]} is not installed")
        elif name not in expected:
            lines.append(f"{name} {installed[name]} is installed and not in the lock")
        elif expected[name] != installed[name]:
            lines.append(f"{name} is {installed[name]}, the lock says {expected[name]}")
    return lines


def installed_versions() -> dict[str, str]:
    """Every package of this environment but the project itself."""
    versions = {
        canonicalize_name(distribution.name): public_version(distribution.version)
        for distribution in metadata.distributions()
    }
    return {name: version for name, version in versions.items() if name != PROJECT}


def resolve() -> dict[str, Any]:
    """Let pip choose the newest versions that fit together, installing nothing."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--dry-run",
    ]
    command += ["--ignore-installed", "--report", "-", "--editable", EXTRAS, *INSTALLERS]
    answer = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    report: dict[str, Any] = json.loads(answer.stdout)
    return report


def write(pins: Sequence[Pin]) -> str:
    """The text of a lock."""
    return HEAD + "".join(f"{pin.line}\n" for pin in pins)


def main() -> None:
    """Resolve anew, write the lock, say what moved."""
    before = read_lock(LOCK.read_text("utf-8")) if LOCK.exists() else {}
    text = write(pins_of(resolve()))
    LOCK.write_text(text, "utf-8")
    moved = changes(before, read_lock(text))
    moved.append(
        f"{len(moved)} moved. Next: `make test`, then commit {LOCK.name}."
        if moved
        else "Nothing moved: the lock holds the newest versions already."
    )
    print("\n".join(moved))  # noqa: T201


if __name__ == "__main__":
    main()
