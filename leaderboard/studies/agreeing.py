"""How far the raters of a study agree, as figures and rows of a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leaderboard.draw.words import plain

Figure = Mapping[str, float | None]
HEADLINES = {
    "alpha": "Krippendorff's alpha",
    "alpha_mean": "Alpha, mean of the parts",
    "kappa": "Cohen's kappa",
    "spearman": "Spearman, mean of the ratings",
}


def headlines(agreement: Mapping[str, Any]) -> dict[str, Figure]:
    """The figures over everything, by their titles; a checklist without parts has no mean of parts.

    >>> list(headlines({"alpha": {"value": 0.7}, "kappa": {"value": 0.6}, "raters": 3}))
    ["Krippendorff's alpha", "Cohen's kappa"]
    """
    return {title: agreement[key] for key, title in HEADLINES.items() if key in agreement}


def rows(agreement: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row a part of the checklist, whose alpha is nominal, and a row a rating, whose alpha is
    ordinal.

    >>> figure = {"value": 0.5, "low": 0.4, "high": 0.6}
    >>> [(row["About"], row["Alpha"]) for row in rows({"parts": {"scene_validity": figure}})]
    [('Scene validity', 0.5)]
    """
    checks = [
        {
            "About": plain(part),
            "Level": "nominal",
            **_spread("Alpha", alpha),
            **_spread("Spearman", {}),
        }
        for part, alpha in agreement.get("parts", {}).items()
    ]
    ratings = [
        {
            "About": plain(name),
            "Level": "ordinal",
            **_spread("Alpha", figures["alpha"]),
            **_spread("Spearman", figures["spearman"]),
        }
        for name, figures in agreement.get("ratings", {}).items()
    ]
    return [*checks, *ratings]


def _spread(title: str, figure: Figure) -> dict[str, float | None]:
    ends = {"": "value", " from": "low", " to": "high"}
    return {f"{title}{suffix}": figure.get(key) for suffix, key in ends.items()}
