"""What changed in the code behind a number: the release, the commit and the modules."""

from __future__ import annotations

from collections.abc import Mapping

from sqlmodel import Session

from flows.run.scoring_code import code_sha256, module_hashes
from infra.release import commit, release
from infra.tables.operations import CodeVersion, RunMark

MOST_MODULES = 8
"""How many modules a sentence names; the rest it counts."""


def code_change(db: Session, mark: RunMark | None, suite: str) -> str:
    """What is different between the code of a mark and today's."""
    before = db.get(CodeVersion, (mark.code_sha256, suite)) if mark else None
    today = build(release(), commit())
    if before is None:
        return f"{today}; nobody wrote down which modules were before it"
    versions = f"{today}, was {build(before.release, before.commit)}"
    if before.code_sha256 == code_sha256(suite):
        return f"{versions}; no module that scores differs"
    return f"{versions}; {modules_changed(before.modules, module_hashes(suite))}"


def build(of_release: str, at_commit: str) -> str:
    """A release and its commit in words.

    >>> build("0.1.0", "79ee3e6"), build("0.1.0", "")
    ('release 0.1.0 at 79ee3e6', 'release 0.1.0')
    """
    return f"release {of_release} at {at_commit}" if at_commit else f"release {of_release}"


def modules_changed(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Which modules were changed, added and left out.

    >>> modules_changed({"a": "1", "b": "1", "c": "1"}, {"a": "1", "b": "2", "d": "1"})
    'changed b; added d; left out c'
    """
    groups = {
        "changed": [name for name in before if name in after and before[name] != after[name]],
        "added": [name for name in after if name not in before],
        "left out": [name for name in before if name not in after],
    }
    return "; ".join(f"{what} {_listed(names)}" for what, names in groups.items() if names)


def _listed(names: list[str]) -> str:
    more = len(names) - MOST_MODULES
    return ", ".join(sorted(names)[:MOST_MODULES]) + (f" and {more} more" if more > 0 else "")
