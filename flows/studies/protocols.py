"""The protocol of a study: the `Rating` of the suite that it is named after, and its forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from evaluators.contracts import Rating
from evaluators.suites import all_suites
from leaderboard.studies.forms import Form, FormQuestion, Medium
from leaderboard.studies.states import StudyError

TWO_AND_AN_ADJUDICATOR, ALONE = 2, 3
"""Raters an item, where an adjudicator settles their disagreements and where nobody does."""


def protocol_names() -> list[str]:
    """The suites that people can rate, in the board's order."""
    return [suite.name for suite in all_suites() if suite.rating]


def rating_of(protocol: str) -> Rating:
    """How people rate by a protocol; a wrong name is answered with the right ones."""
    for suite in all_suites():
        if suite.name == protocol and suite.rating:
            return suite.rating
    raise StudyError(
        f"There is no protocol {protocol!r}. Use one of {', '.join(protocol_names())}."
    )


def places_of(protocol: str, places: int | None) -> int:
    """How many raters an item gets: as ordered, or two where an adjudicator settles their
    disagreements, else three."""
    return places or (TWO_AND_AN_ADJUDICATOR if rating_of(protocol).adjudicated else ALONE)


def form_for(
    protocol: str,
    item: Mapping[str, Any],
    media: Sequence[Medium],
    context: Sequence[Medium] = (),
) -> Form:
    """What a rater sees of an item, by protocol."""
    form = rating_of(protocol).form(item, [medium.letter for medium in media])
    asks = tuple(FormQuestion(**asdict(ask)) for ask in form.asks)
    return Form(
        form.text,
        tuple(media),
        asks,
        form.differ,
        form.heading,
        form.legend,
        form.warning,
        tuple(context),
    )
