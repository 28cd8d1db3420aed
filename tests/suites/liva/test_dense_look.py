"""The dense look: what an agent with few frames missed is found when it sees them all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluators.agents.journal import FolderJournal
from evaluators.agents.video_model import FilmedClip, Notes
from evaluators.judges.http.chat import ChatReply
from evaluators.judges.prompts import Message
from evaluators.media import read_image, write_mp4
from evaluators.suites.liva.agent.dense_look import dense_looks
from evaluators.suites.liva.agent.episode import AgentEpisode, AgentOptions, Tools
from evaluators.suites.liva.agent.loop import run_case
from evaluators.suites.liva.agent.scripted import ScriptedTalker
from evaluators.suites.liva.cases.folder import own
from evaluators.suites.liva.failures import suspects

FRAMES = 33
GLITCH = 3
"""Between the frames 0, 8, 16, 24 and 32 that five evenly spaced looks see."""


class FlashingModel:
    """Films a still picture; one frame of it is white."""

    name = "flashing"
    profile = "stands still"

    def make(
        self, frame: Path, _caption: str, _seed: int, to: Path, _notes: Notes | None = None
    ) -> FilmedClip:
        """A clip of a still picture with a flash."""
        still = read_image(frame)
        frames = np.repeat(still[None], FRAMES, axis=0).copy()
        frames[GLITCH] = 255
        return FilmedClip(write_mp4(frames, to, 8))


class SharpTalker(ScriptedTalker):
    """Follows the scripted rule, but really looks at clips: a frame unlike its neighbours fails
    them."""

    def __init__(self) -> None:
        self.frames_shown: list[int] = []

    def say(self, messages: Sequence[Message]) -> ChatReply:
        content: Any = messages[1]["content"]
        text = "".join(part["text"] for part in content if "text" in part)
        if '"success": true or false' not in text:
            return super().say(messages)
        pictures = [part["image_url"]["url"] for part in content if "image_url" in part]
        self.frames_shown.append(len(pictures))
        sizes = np.array([len(picture) for picture in pictures])
        flash = bool((sizes < 0.7 * np.median(sizes)).any())
        reply = {"success": not flash, "reason": "a white flash" if flash else "seen"}
        return ChatReply(json.dumps({**reply, "correction": None}))


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any, SharpTalker]:
    """A case filmed by a model with a flash that five frames do not show, and its dense looks."""
    folder = tmp_path_factory.mktemp("dense")
    talker = SharpTalker()
    tools = Tools(talker, FlashingModel(), FolderJournal(folder / "journal"), folder)
    case = next(case for case in own() if case.case_id == "office_case05")
    options = AgentOptions()
    trace = run_case(case, tools, options)
    return trace, dense_looks(AgentEpisode(case, tools, options), trace), talker


def test_a_flash_between_the_frames_is_accepted_from_five_and_found_in_all(
    looked: tuple[Any, Any, SharpTalker],
) -> None:
    trace, looks, talker = looked

    assert trace.clips and all(attempt.verdict.success for attempt in trace.clips)
    assert [look.success for look in looks] == [False] * len(trace.clips)
    assert set(talker.frames_shown) == {5, 32}


def test_a_missed_flash_is_a_sign_of_what_was_lost_between_frames(
    looked: tuple[Any, Any, SharpTalker],
) -> None:
    trace, looks, _ = looked

    kinds = [suspect.kind for suspect in suspects(trace, looks)]

    assert kinds.count("temporal_information_loss") == len(trace.clips)
    assert "temporal_information_loss" not in [suspect.kind for suspect in suspects(trace)]
