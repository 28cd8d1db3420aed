"""UNIVERSE's questions put to a model that nobody can hand in: behind an API, or a folder of any
class that judges here. Its answers in words become a file that `universe import` bundles."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

from evaluators.contracts import Question, Request, Sample
from evaluators.media import sha256_file, write_mp4
from evaluators.suites import all_suites, suite_named
from evaluators.suites.universe.bank import frames_of
from evaluators.worlds.doom.places import RATE
from flows.workers.judges import JudgeOptions, open_judge
from infra.settings import Settings

CLIPS = 16
"""Clips that are asked about together; their answers are written before others are asked."""
SHOWN = "Recorded play of a game, in first person."


def ask(
    to: Path,
    judge_name: str,
    subset: str,
    settings: Settings,
    on_clips: Callable[[int], None] = lambda _clips: None,
) -> tuple[int, int]:
    """Append an answer a line for all that the file does not hold yet; how many were answered now,
    and how many are still missing."""
    suite = suite_named("universe")
    wanted = [sample for sample in suite.samples() if suite.subsets[subset](sample)]
    known = answered(to)
    open_samples = [sample for sample in wanted if sample.id not in known]
    clips = [list(group) for _, group in groupby(open_samples, key=lambda sample: sample.cluster)]
    judge = open_judge(judge_name, settings.device, JudgeOptions.of(settings))
    count = 0
    to.parent.mkdir(parents=True, exist_ok=True)
    for first in range(0, len(clips), CLIPS):
        part = clips[first : first + CLIPS]
        with TemporaryDirectory(prefix="armillary-answers-") as folder, to.open("a") as lines:
            for reply in judge.judge([_request(clip, Path(folder)) for clip in part]):
                for answer in reply.answers:
                    if answer.value:
                        line = {"sample": answer.question_id, "answer": answer.value}
                        lines.write(json.dumps(line, ensure_ascii=False) + "\n")
                        count += 1
        on_clips(len(part))
    return count, len(open_samples) - count


def samples_of_suite(name: str) -> frozenset[str]:
    """What may be answered: the samples of a mounted bank of that name, or else the open ones."""
    mounted = name in {suite.name for suite in all_suites()} and name.startswith("universe.")
    suite = suite_named(name if mounted else "universe")
    return frozenset(sample.id for sample in suite.samples())


def answered(file: Path) -> frozenset[str]:
    """The samples that a file of answers holds; a line that was cut off by a kill is no answer."""
    return frozenset(_samples(file)) if file.is_file() else frozenset()


def _samples(file: Path) -> Iterator[str]:
    whole = [line for line in file.read_text("utf-8").splitlines(keepends=True) if line[-1] == "\n"]
    file.write_text("".join(whole), "utf-8")
    for line in whole:
        yield str(json.loads(line)["sample"])


def _request(clip: Sequence[Sample], folder: Path) -> Request:
    """All questions about a clip, none of them with a menu of ours: they are answered in words."""
    media = write_mp4(frames_of(clip[0]), folder / f"{clip[0].cluster}.mp4", RATE)
    questions = tuple(Question(sample.id, sample.prompt, "open") for sample in clip)
    return Request(clip[0].cluster, media, sha256_file(media), "video", SHOWN, questions)
