"""What an image installs, as an environment of its own: links to the distributions that its extras
need, and to no others."""

from __future__ import annotations

import re
import tomllib
import venv
from functools import cache
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.command import ROOT

PACKAGES = ("evaluators", "flows", "infra", "leaderboard", "submissions")
CLIENT = ROOT / "flows" / "client" / "armillary"
SCRIPT = "#!{python}\nfrom flows.cli.app import app\napp()\n"
INSTALLED = re.compile(r"'\.\[([\w,]+)\]'")


def extras_of(dockerfile: str) -> tuple[str, ...]:
    """The extras that an image installs, as its Dockerfile says."""
    text = (ROOT / "infra" / "deploy" / dockerfile).read_text()
    (listed,) = INSTALLED.findall(text)
    return tuple(listed.split(","))


def build(folder: Path, extras: tuple[str, ...]) -> Path:
    """Make the environment; the folder of its programs."""
    venv.create(folder, with_pip=False, symlinks=True)
    site = next((folder / "lib").glob("python*/site-packages"))
    for name in sorted(needed(extras)):
        _link_distribution(site, metadata.distribution(name))
    for package in PACKAGES:
        (site / package).symlink_to(ROOT / package)
    (site / CLIENT.name).symlink_to(CLIENT)
    ours = metadata.distribution("armillary").locate_file("")
    for info in Path(str(ours)).glob("armillary-*.dist-info"):
        (site / info.name).symlink_to(info)
    script = folder / "bin" / "armillary"
    script.write_text(SCRIPT.format(python=folder / "bin" / "python"))
    script.chmod(0o755)
    return folder / "bin"


def needed(extras: tuple[str, ...]) -> set[str]:
    """Every distribution that the extras bring, by way of others too."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    waiting = [Requirement(line) for line in project["dependencies"]]
    waiting += [Requirement(f"armillary[{','.join(extras)}]")]
    reached: set[tuple[str, str]] = set()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        for extra in ("", *sorted(requirement.extras)):
            if (name, extra) in reached:
                continue
            reached.add((name, extra))
            lines = (
                project["optional-dependencies"].get(extra, [])
                if name == "armillary"
                else _requirements(name)
            )
            waiting += [
                wanted for wanted in map(Requirement, lines) if _applies(wanted, name, extra)
            ]
    return {name for name, _ in reached} - {"armillary"}


def _requirements(name: str) -> list[str]:
    return list(metadata.distribution(name).requires or [])


def _applies(wanted: Requirement, name: str, extra: str) -> bool:
    """Whether a line counts here: by its marker, and because what it names is installed at all;
    what a platform of others needs is not."""
    if name != "armillary" and wanted.marker and not wanted.marker.evaluate({"extra": extra}):
        return False
    try:
        metadata.distribution(wanted.name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _link_distribution(site: Path, distribution: metadata.Distribution) -> None:
    """Link its folders where they are its own, file by file where others share them."""
    for top, files in _tops(distribution).items():
        source = Path(str(distribution.locate_file(top)))
        if len(_owners()[top]) == 1 and source.exists():
            if not (site / top).exists():
                (site / top).symlink_to(source)
            continue
        for file in files:
            target = site / file
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists() and source.exists():
                target.symlink_to(str(distribution.locate_file(file)))


def _tops(distribution: metadata.Distribution) -> dict[str, list[str]]:
    tops: dict[str, list[str]] = {}
    for file in distribution.files or []:
        if file.parts[0] != ".." and file.parts[0] != "__pycache__":
            tops.setdefault(file.parts[0], []).append(str(file))
    return tops


@cache
def _owners() -> dict[str, set[str]]:
    """Whose files lie in each folder of the environment that runs the tests."""
    owners: dict[str, set[str]] = {}
    for distribution in metadata.distributions():
        for top in _tops(distribution):
            owners.setdefault(top, set()).add(distribution.metadata["Name"])
    return owners
