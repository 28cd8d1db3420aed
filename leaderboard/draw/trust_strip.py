"""The line over every table that says how far to trust it, as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from leaderboard.draw.words import name
from leaderboard.queries.glance.strip import BY_RULE, PEOPLE, TrustStrip

VERDICTS = {
    "sees": "passed its exam: it sees",
    "blind": "blind: it failed its exam",
    "not examined": "not examined",
    PEOPLE: "people",
    BY_RULE: "the suite's own scorer",
}
SOUND = ("sees", PEOPLE, BY_RULE)


def strip(facts: TrustStrip, too_good: Sequence[str] = ()) -> str:
    """Judge and verdict, samples, completeness, audit and night, each in a few words."""
    sound = facts.verdict in SOUND
    parts = [
        _part("Judge", f"{name(facts.judge, 40)}, {VERDICTS[facts.verdict]}", sound),
        _part("Samples", _samples(facts), not facts.is_part),
        _part("Scored", f"{facts.n_scored:,} of {facts.n_expected:,}", _whole(facts)),
        _part("Audit", _audit(facts), None if facts.audited_at is None else _clean(facts)),
        _part("Last night", _night(facts), None),
    ]
    return f'<div class="arm-strip" role="note">{"".join(parts)}</div>{_why(facts, too_good)}'


def label(facts: TrustStrip) -> str:
    """What has to stand beside any number of a board: that it is about a part, or nobody looked."""
    words = [f"{facts.subset} subset" if facts.is_part else ""]
    words.append("" if facts.ranked else "not ranked: its judge is " + facts.verdict)
    return ", ".join(filter(None, words))


def _part(title: str, text: str, sound: bool | None) -> str:
    state = {True: "good", False: "bad", None: "neutral"}[sound]
    return f'<span class="{state}"><b>{title}</b> {escape(text)}</span>'


def _samples(facts: TrustStrip) -> str:
    if facts.items is None:
        return facts.subset or "—"
    if not facts.is_part:
        return f"all {facts.items:,}"
    return f"{facts.subset} subset, {facts.items:,} of {facts.items_of_all:,}"


def _whole(facts: TrustStrip) -> bool:
    return facts.n_scored == facts.n_expected


def _audit(facts: TrustStrip) -> str:
    if facts.audited_at is None:
        return "none yet"
    return f"{facts.audited_at:%Y-%m-%d}: {name(facts.audit_text, 60)}"


def _clean(facts: TrustStrip) -> bool:
    return facts.audit_text.startswith("clean")


def _night(facts: TrustStrip) -> str:
    return f"{facts.night:%Y-%m-%d}, {facts.night_state}" if facts.night else "none yet"


def _why(facts: TrustStrip, too_good: Sequence[str]) -> str:
    """One box for everything that speaks against the ranks, its details folded away."""
    if facts.ranked and not too_good:
        return ""
    lead = (
        "Sanity rows tie or beat entries."
        if facts.ranked
        else f"Nobody is ranked here: the judge is {facts.verdict}. Connect one that sees by "
        "ARMILLARY_JUDGE=…"
    )
    lines = "".join(f"<li>{escape(name(text, 400))}</li>" for text in (*facts.reasons, *too_good))
    details = f"<details><summary>Why</summary><ul>{lines}</ul></details>" if lines else ""
    return f'<div class="arm-warn" role="alert"><b>{escape(lead)}</b>{details}</div>'
