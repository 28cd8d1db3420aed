"""The files of a small suite that lies in a folder of its own: rated, with a panel and a chart."""

from __future__ import annotations

from pathlib import Path

NAME = "shades"

SUITE = '''
"""Shades: is a square of the colour that was asked for?"""

from evaluators.contracts import Facets, Metric, Question, Sample, Scoring, Suite
from evaluators.suites.shades.people import RATING
from evaluators.suites.shades.scores import score

COLOURS = ("red", "green", "blue", "white", "black", "grey")
ASKED = Question("colour", "Is the square of this colour?", "yes_no", options=("yes", "no"))


def samples():
    return tuple(
        Sample(
            f"{colour}.plain",
            Facets("paint", colour, "plain", "image"),
            colour,
            f"A square that is {colour}.",
            (ASKED,),
        )
        for colour in COLOURS
    )


SUITE = Suite(
    name="shades",
    version="1.0",
    scorer_version="1",
    title="Shades",
    sentence="Squares of one colour.",
    ranked="painters",
    facet_titles={
        "scenario": "Means", "task": "Colour", "setting": "Setting", "modality": "Modality",
    },
    metrics=(
        Metric("right", "Right colour", "percent", "higher", 0, 100,
               "The share of squares whose colour is the one in the prompt.", headline=True),
    ),
    samples=samples,
    subsets={"full": lambda _sample: True},
    accepts=("outputs",),
    scoring=Scoring(score),
    rating=RATING,
)
'''

SCORES = '''
"""One check makes one score."""

from evaluators.contracts import Outcome, Score


def score(sample, output, answers):
    if output.outcome is not Outcome.SCORED:
        return (Score(sample.id, "right", output.outcome),)
    answer = answers.get("colour")
    if answer is None or answer.value is None:
        outcome = answer.outcome if answer else Outcome.JUDGE_ERROR
        return (Score(sample.id, "right", outcome),)
    return (Score(sample.id, "right", Outcome.SCORED, 100.0 * (answer.value == "yes")),)
'''

PEOPLE = '''
"""People answer the judge's question."""

from evaluators.contracts import FormAsk, Rating, RatingForm
from evaluators.statistics.opinions import mean_answers


def words(sample, _output):
    return {"wish": sample.prompt}


def form(item, _letters):
    ask = FormAsk("colour", "Is the square of this colour?", "choice", options=("yes", "no"))
    return RatingForm(item["wish"], (ask,))


RATING = Rating(words, form, mean_answers, "Look at the square.", ("Pink is not red.",))
'''

PANEL = '''
"""What the Samples page adds for Shades."""

import streamlit as st


def draw(view):
    st.text(f"The panel of {view.item.sample_id}")
'''

CHARTS = '''
"""Shades' chart: the entries, best first."""

import altair as alt

from leaderboard.draw.suite_charts import SuiteChart


def best_first(figures):
    if figures.empty:
        return None
    return alt.Chart(figures).mark_bar().encode(x="value:Q", y="model:N")


CHARTS = (SuiteChart("best_first", "Painters by colour", "Longer is better.", best_first),)
'''

FILES = {
    "__init__.py": SUITE,
    "scores.py": SCORES,
    "people.py": PEOPLE,
    "panel.py": PANEL,
    "charts.py": CHARTS,
}


def write_suite(folder: Path) -> Path:
    """Put the suite into a folder of suites, which is returned."""
    (folder / NAME).mkdir(parents=True)
    for name, text in FILES.items():
        (folder / NAME / name).write_text(text.lstrip(), "utf-8")
    return folder
