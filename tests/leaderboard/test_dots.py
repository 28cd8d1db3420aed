"""The ranking's own chart: one dot an entry at its value, names as text, signs explained."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import altair as alt
import pandas as pd

from leaderboard.draw.charts import NAMED, as_svg
from leaderboard.draw.dots import dots

COLUMNS = ["label", "model", "value", "low", "high", "trust", "by", "n"]
ROWS = [
    ["<script>alert(1)</script>", "Hostile & co", 60.0, 50.0, 70.0, "A", "auto", "60/60"],
    ["Plain", "Plain", 40.0, None, None, "B", "human", ""],
]


def test_each_entry_has_a_dot_at_its_value_and_an_interval_where_one_is_known() -> None:
    text = dots(pd.DataFrame(ROWS, columns=COLUMNS), "Index (%)", 1, 100.0)

    picture = ElementTree.fromstring(text)
    titles = [one.text for one in picture.iter("{http://www.w3.org/2000/svg}title")]
    assert titles == [
        "Hostile & co: 60.0 from 50.0 to 70.0, auto, trust A, n/N 60/60",
        "Plain: 40.0, human, trust B, n/N —",
    ]
    circles = [float(x) for x in re.findall(r'<circle cx="([\d.]+)"', text)]
    assert len(re.findall(r'<line x1="[\d.]+" x2="[\d.]+" y1="[\d.]+" y2="[\d.]+"/>', text)) == 1
    assert len(circles) == 3 + 1, (
        "the legend's two colours and sign, and the entry of the automatic judge"
    )
    assert text.count('stroke-width="2"') == 2


def test_a_name_is_only_ever_text() -> None:
    assert "<script" not in dots(pd.DataFrame(ROWS, columns=COLUMNS), "Index (%)", 1, 100.0)


def test_the_head_of_a_panel_is_written_as_a_reader_would() -> None:
    rows = pd.DataFrame({"task": ["action_recognition", "*"], "value": [1.0, 2.0]})
    bars = alt.Chart(rows).mark_bar().encode(x="value:Q")

    picture = as_svg(bars.facet(row=alt.Row("task:N", header=NAMED))).decode()

    assert ">action recognition<" in picture and ">all<" in picture
