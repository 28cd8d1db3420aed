"""SC3's charts, from the published tables and from cells of ours."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pandas as pd

from evaluators.suites.sc3 import published
from leaderboard.panels.sc3 import enlarged, trace
from leaderboard.suite_charts import COLUMNS, charts_of


def printed() -> pd.DataFrame:
    rows = [
        {**{name: None for name in COLUMNS}, **asdict(one.facets), "model": one.model, "metric": one.metric}
        | {"value": one.value, "note": one.note, "run_id": "paper"}
        for one in published.published()
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def test_the_published_tables_draw_every_chart_they_have_numbers_for() -> None:
    drawn = {chart.name for chart in charts_of("sc3") if chart.draw(printed()) is not None}

    assert drawn == {"sc3-correlations", "sc3-reproduction", "sc3-tau", "sc3-psnr", "sc3-ablations"}


def test_rates_of_ours_draw_the_scatter_and_nothing_draws_nothing() -> None:
    base = {name: None for name in COLUMNS}
    place = {"scenario": "in_distribution", "task": "policy_1 object_lifting", "setting": "online", "modality": "video"}
    rows = [
        {**base, **place, "model": "m", "run_id": "r", "metric": metric, "value": value}
        for metric, value in (("predicted_rate", 0.4), ("real_rate", 0.5))
    ]
    scatter = charts_of("sc3")[0]

    assert scatter.draw(pd.DataFrame(rows, columns=list(COLUMNS))) is not None
    assert all(chart.draw(pd.DataFrame(columns=list(COLUMNS))) is None for chart in charts_of("sc3"))


def test_a_stopped_rollout_is_marked_and_small_pictures_keep_their_pixels() -> None:
    chart = trace({"u_chunk": [0.1, 0.9], "terminated_at": 1, "action_space": "normalised"}).to_dict()

    assert "stopped here" in str(chart)
    assert enlarged(np.zeros((24, 24, 3), np.uint8)).shape == (168, 168, 3)
