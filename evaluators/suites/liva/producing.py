"""How L-IVA makes outputs: a video model films inside the agent's loop; finished videos are cut at
their steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

from evaluators.agents.agent import Agent
from evaluators.agents.video_model import VideoModel
from evaluators.contracts import Generator, Json, Outcome, Output, Production, Sample
from evaluators.media import probe, sha256_file
from evaluators.suites.liva.agent.dense_look import dense_looks
from evaluators.suites.liva.agent.episode import AgentEpisode, AgentOptions, Tools
from evaluators.suites.liva.agent.loop import run_case
from evaluators.suites.liva.agent.replies import Reflection
from evaluators.suites.liva.agent.trace import Setting, StepAttempt, Trace
from evaluators.suites.liva.bank import STEPS_A_SUBGOAL, case_of, most_clips
from evaluators.suites.liva.failures import suspects
from evaluators.suites.liva.video import VideoStep, cut, stitch

OURS = frozenset({"vlm_unusable", "budget", "deadline"})
"""Ends that are not the video model's doing."""


class BadSteps(ValueError):
    """The steps of a finished video cannot be right; the message says what is wrong."""


def film(production: Production) -> VideoModel:
    """Any diffusers image-to-video folder, or an adapter on one, with the settings its team
    declared."""
    from evaluators.models.device import pick_device
    from evaluators.models.generate.image_to_video import DiffusionVideo
    from evaluators.models.generate.settings import sampling_of

    device, sampling = pick_device(production.device), sampling_of(production.sampling)
    return DiffusionVideo(
        production.folder,
        sampling,
        revision=production.revision,
        device=device,
        shelf=production.shelf,
        base=production.base,
    )


def produce(production: Production) -> Generator:
    """The video model inside the agent that the operator has set up."""
    assert production.agent and production.video
    seed = production.sampling["seed"]
    assert isinstance(seed, int)
    return OrcaGenerator(production.video, production.agent, seed)


@dataclass(frozen=True)
class OrcaGenerator:
    """Runs each sample's case in its loop; what was filmed before a kill is not filmed again."""

    model: VideoModel
    agent: Agent
    seed: int

    def generate(self, samples: Sequence[Sample], folder: Path) -> Iterator[Output]:
        """One output a sample: the final video with its steps, or why there is none."""
        for sample in samples:
            yield self._one(sample, folder)

    def _one(self, sample: Sample, folder: Path) -> Output:
        options = AgentOptions(
            setting=cast(Setting, sample.facets.setting),
            seed=self.seed,
            steps_a_subgoal=STEPS_A_SUBGOAL,
            clip_price=self.agent.clip_price,
            most_money=self.agent.money,
            deadline=self.agent.seconds,
        )
        tools = Tools(self.agent.talker, self.model, self.agent.journal, folder)
        case = case_of(sample)
        trace = run_case(case, tools, options)
        first = self.agent.journal.keep(
            f"orca/first/{sample.reference['image_sha256']}.png", case.image_path
        )
        episode = AgentEpisode(case, tools, options)
        looks = dense_looks(episode, trace)
        record = {
            **self._record(trace, looks, episode.key, folder),
            "first_frame": sha256_file(first),
        }
        video = stitch(trace, self.agent.journal.find, folder / f"{sample.id}.mp4")
        if video is None:
            outcome = Outcome.JUDGE_ERROR if trace.end in OURS else Outcome.MODEL_FAILED
            return Output(sample.id, outcome, record=record, reason=f"{trace.end}: {trace.reason}")
        return Output(sample.id, Outcome.SCORED, video.path, record)

    def _record(
        self, trace: Trace, looks: Sequence[Reflection | None], key: str, folder: Path
    ) -> dict[str, Json]:
        """What the board shows, with the whole trace as a file of its own."""
        file = folder / "trace.json"
        file.write_text(trace.model_dump_json(), "utf-8")
        sha256 = sha256_file(file)
        self.agent.journal.keep(f"{key}/trace-{sha256[:16]}.json", file)
        return {
            "trace": sha256,
            "end": trace.end,
            "why": trace.reason,
            "vlm": trace.vlm,
            "i2v": trace.i2v,
            "clips": [
                _clip(attempt, look) for attempt, look in zip(trace.clips, looks, strict=True)
            ],
            "tries": [len(step.attempts) for step in trace.steps],
            "accepted": [step.accepted is not None for step in trace.steps],
            "suspects": [asdict(suspect) for suspect in suspects(trace, looks)],
            "spent": trace.spent.model_dump(),
        }


def _clip(attempt: StepAttempt, look: Reflection | None) -> dict[str, Json]:
    assert attempt.clip is not None
    return {
        "dense": {"success": look.success, "reason": look.reason} if look else None,
        "sha256": attempt.clip.sha256,
        "caption": attempt.caption,
        "frames": attempt.clip.frames,
        "fitted": attempt.clip.fitted,
    }


def take_over(
    sample: Sample,
    video: Path,
    steps: Sequence[Mapping[str, Json]],
    folder: Path,
    keep: Callable[[Path], str],
) -> dict[str, Json]:
    """Cut a finished video at its steps; one without steps is a single clip that should show the
    whole intention."""
    facts = probe(video)
    parts = tuple(_parts(sample, steps, facts.frames))
    files = cut(video, parts, facts.fps or 8.0, folder)
    clips: list[Json] = [
        {
            "sha256": keep(file),
            "caption": part.caption,
            "frames": part.end - part.start,
            "start": part.start,
        }
        for file, part in zip(files, parts, strict=True)
    ]
    return {"clips": clips, "first_frame": keep(case_of(sample).image_path)}


def _parts(sample: Sample, steps: Sequence[Mapping[str, Json]], frames: int) -> Iterator[VideoStep]:
    if not steps:
        yield VideoStep(sample.prompt, 0, frames)
        return
    if len(steps) > most_clips(sample):
        raise BadSteps(f"There are {len(steps)} steps; this case may have {most_clips(sample)}.")
    at = 0
    for number, step in enumerate(steps):
        start, end = int(str(step["start"])), int(str(step["end"]))
        if not at <= start < end <= frames:
            raise BadSteps(
                f"Step {number} is from {start} to {end}; it must lie between frame {at} and "
                f"{frames}."
            )
        at = end
        yield VideoStep(str(step["caption"]), start, end)
