"""One finding of the doctor: a part of the installation, its state, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["good", "note", "wrong"]


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """One part of the installation and its state."""

    subject: str
    state: State
    detail: str
    remedy: str = ""


def graded(subject: str, good: bool, detail: str, remedy: str) -> DoctorFinding:
    """A finding that is either good, or wrong with a remedy."""
    return DoctorFinding(subject, "good" if good else "wrong", detail, "" if good else remedy)
