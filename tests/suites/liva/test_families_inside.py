"""Published image-to-video families, with sizes reduced, film several steps inside the agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluators.agents.journal import FolderJournal
from evaluators.media import probe, write_png
from evaluators.models.generate.image_to_video import DiffusionVideo
from evaluators.models.generate.settings import SamplerSettings
from evaluators.suites.liva.agent.episode import AgentOptions, Tools
from evaluators.suites.liva.agent.loop import run_case
from evaluators.suites.liva.cases.painter import paint, scene
from evaluators.suites.liva.video import stitch
from tests.models.pipelines.expected import OWN_SETTINGS
from tests.models.pipelines.from_pictures import FROM_PICTURES
from tests.models.pipelines.test_families import built
from tests.suites.liva.films import small_case
from tests.suites.liva.oracle import Script, serving
from tests.suites.liva.test_small_model import verdicts

NAMES = (
    "Wan2.2-I2V-A14B",
    "LTX-Video-I2V",
    "CogVideoX-5b-I2V",
    "HunyuanVideo-1.5-i2v",
    "SVD-img2vid-xt",
)
STEPS = 4
"""What an agent films that is never told to be done: twice the two subgoals of the case."""


@pytest.mark.parametrize("name", NAMES)
def test_a_family_films_several_steps_at_its_own_rate(name: str, tmp_path: Path) -> None:
    make, side, frames = FROM_PICTURES[name]
    *_, rate = OWN_SETTINGS[f"{name} from a picture"]
    declared = SamplerSettings(steps=1, frames=frames, height=side, width=side)
    model = DiffusionVideo(built(make, tmp_path / "model"), declared)
    case = small_case(tmp_path)
    write_png_of(case.image_path)
    (tmp_path / "work").mkdir()
    journal = FolderJournal(tmp_path / "journal")

    with serving(Script(verdict=verdicts([]), never_done=True)) as endpoint:
        tools = Tools(endpoint.talker(), model, journal, tmp_path / "work")
        trace = run_case(case, tools, AgentOptions())
    video = stitch(trace, journal.find, tmp_path / "final.mp4")

    assert (trace.end, len(trace.clips)) == ("max_steps", STEPS), trace.reason
    assert video is not None
    for attempt in trace.attempts:
        assert attempt.clip is not None
        facts = probe(journal.find(attempt.clip.sha256))
        size = (model.sampling.height, model.sampling.width)
        assert (facts.fps, (facts.height, facts.width)) == (rate, size)
    assert probe(tmp_path / "final.mp4").fps == rate


def write_png_of(path: Path) -> None:
    """One of our drawn scenes, wider than most models film."""
    import numpy as np

    write_png(np.asarray(paint(scene("kitchen_case04")).convert("RGB")), path)
