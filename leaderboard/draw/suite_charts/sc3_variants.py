"""Which of SC3's entries are one model with and without its parts, and how well each does beside
the others."""

from __future__ import annotations

import re

import pandas as pd

JOINT = r"[\s,;:·(–—-]*"
VARIANT = re.compile(rf"(?P<stem>.*?){JOINT}\b(?P<part>without .+?|forward only)\)?", re.IGNORECASE)
WHOLE = re.compile(rf"(?P<stem>.*?){JOINT}\bfull( model)?\)?", re.IGNORECASE)
HIGHER_IS_BETTER = {"pearson_r": True, "mmrv": False}


def family(model: str) -> tuple[str, str]:
    """The stem that a model shares with its variants, and which variant it is; the whole model is
    none.

    >>> family("Small world, without cross-view"), family("Small world (full)")
    (('small world', 'without cross-view'), ('small world', ''))
    >>> family("forward only")
    ('', 'forward only')
    >>> family("SC3-Eval"), family("SC3-Eval, tau 0.05")
    (('sc3-eval', ''), ('sc3-eval, tau 0.05', ''))
    """
    if variant := VARIANT.fullmatch(model.strip()):
        return variant["stem"].casefold(), variant["part"].casefold()
    whole = WHOLE.fullmatch(model.strip())
    return (whole["stem"] if whole else model.strip()).casefold(), ""


def variants(figures: pd.DataFrame) -> pd.DataFrame:
    """The figures of models that stand there with and without a part, the whole model above its
    variants."""
    families = [family(model) for model in figures["model"]]
    ablated = {stem for stem, part in families if part}
    placed = figures.assign(
        family=[stem for stem, _ in families], part=[part for _, part in families]
    )
    return placed[placed["family"].isin(ablated)].sort_values(["family", "part", "model"])


def shades(table: pd.DataFrame) -> pd.Series:
    """How good each value is among those of its metric and its family, from 0, the worst, to 1, the
    best."""
    values = table.groupby(["family", "metric"])["value"]
    lowest = values.transform("min")
    span = values.transform("max") - lowest
    risen = ((table["value"] - lowest) / span.where(span > 0)).fillna(0.5)
    return risen.where(table["metric"].map(HIGHER_IS_BETTER), 1 - risen)
