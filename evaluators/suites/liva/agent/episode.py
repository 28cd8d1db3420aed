"""The effects of one case: asking, filming and paying, each written down the moment it is done and
never done twice."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from math import inf
from pathlib import Path
from typing import Any, TypeVar

from evaluators.agents.journal import Journal
from evaluators.agents.video_model import GeneratorFailed, VideoModel
from evaluators.judges.http.chat import ChatReply, Talker
from evaluators.judges.prompts import Message
from evaluators.judges.replies import BadReply
from evaluators.media import (
    Pixels,
    Unreadable,
    probe,
    read_frames,
    read_image,
    sample_frames,
    sha256_file,
    write_png,
)
from evaluators.suites.liva.agent import prompts
from evaluators.suites.liva.agent.belief import StrictBelief
from evaluators.suites.liva.agent.prompts import AgentPrompt
from evaluators.suites.liva.agent.replies import read
from evaluators.suites.liva.agent.trace import Call, CaseCost, End, Setting, StepAttempt, StoredClip
from evaluators.suites.liva.cases.case import AvatarCase

CODE = "orca-1"
"""Raise the number when the loop asks or decides differently: work of an older one is not taken
over."""

S = TypeVar("S", bound=StrictBelief)


class Ended(Exception):
    """The case ends here; `attempt` is one that was filmed and could not be judged any more."""

    def __init__(self, end: End, reason: str, attempt: StepAttempt | None = None) -> None:
        super().__init__(reason)
        self.end, self.reason, self.attempt = end, reason, attempt


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """How the agent works. The limits are for one case; time is what calls and clips took, over all
    restarts."""

    setting: Setting = "closed_loop"
    seed: int = 0
    frames: int = 5
    retries: int = 2
    repairs: int = 2
    steps_a_subgoal: int = 2
    most_vlm_calls: float = inf
    most_clips: float = inf
    most_money: float = inf
    deadline: float = inf


@dataclass(frozen=True, slots=True)
class Tools:
    """Who thinks, who films, what remembers, a folder for files in work, and the clock."""

    vlm: Talker
    i2v: VideoModel
    journal: Journal
    folder: Path
    clock: Callable[[], float] = time.monotonic


@dataclass
class AgentEpisode:
    """One case in work: its calls in order, and what they have cost."""

    case: AvatarCase
    tools: Tools
    options: AgentOptions
    spent: CaseCost = field(default_factory=CaseCost)
    calls: list[Call] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.key = f"orca/{run_key(self.case, self.tools, self.options)}"

    def taken(self) -> tuple[Call, ...]:
        """The calls since this was asked last."""
        calls, self.calls = tuple(self.calls), []
        return calls

    def ask(self, place: str, ask: AgentPrompt[S]) -> S:
        """A usable reply, after telling the model what is wrong with the others; each reply is kept
        by itself."""
        said: list[ChatReply] = []
        seconds, reason, messages = 0.0, "", list(ask.messages)
        for number in range(1 + self.options.repairs):
            reply, took = self._reply(f"{place}/{ask.step}.{number}", messages)
            said.append(reply)
            seconds += took
            try:
                if reply.problem:
                    raise BadReply(reply.problem)
                found = read(reply.text, ask.schema, ask.check)
            except BadReply as bad:
                reason = str(bad)
                messages = [*ask.messages, *prompts.correction(reply.text, reason)]
                continue
            self._note(ask, said, seconds, "")
            return found
        self._note(ask, said, seconds, reason)
        raise Ended("vlm_unusable", f"{ask.step}: {reason}")

    def film(self, place: str, frame: Path, caption: str, seed: int) -> tuple[Path, StoredClip]:
        """A clip, filmed once however often this is run again."""
        told = hashlib.sha256(f"{sha256_file(frame)}\0{caption}\0{seed}".encode()).hexdigest()
        key = f"{self.key}/{place}/clip-{told[:16]}"
        kept = self._record(f"{key}.json")
        if not kept:
            kept = self._filmed(key, frame, caption, seed)
        seconds = float(kept["seconds"])
        self._pay(CaseCost(clips=1, seconds=seconds))
        path = self.tools.journal.file(f"{key}.mp4")
        if path is None:
            raise GeneratorFailed(str(kept.get("error")))
        facts = probe(path)
        return path, StoredClip(
            sha256=sha256_file(path),
            frames=facts.frames,
            fps=facts.fps,
            width=facts.width,
            height=facts.height,
            seconds=seconds,
        )

    def looked_at(self, clip: Path) -> Pixels:
        """The frames of a clip that the vision-language model sees."""
        return sample_frames(clip, f"uniform-{self.options.frames}", "video")

    def first_frame(self) -> Pixels:
        """The picture of the case."""
        return read_image(self.case.image_path)

    def last_frame(self, clip: Path, place: str) -> Path:
        """Where the next clip begins."""
        return write_png(
            read_frames(clip)[-1], self.tools.folder / f"{place.replace('/', '-')}-last.png"
        )

    def _reply(self, place: str, messages: list[Message]) -> tuple[ChatReply, float]:
        """One reply, from the journal if this was asked before in the same words."""
        asked = hashlib.sha256(json.dumps(messages, sort_keys=True).encode()).hexdigest()
        key = f"{self.key}/{place}-{asked[:16]}.json"
        kept = self._record(key)
        if not kept:
            self._leave()
            start = self.tools.clock()
            reply = self.tools.vlm.say(messages)
            kept = {"said": asdict(reply), "seconds": self.tools.clock() - start}
            self._write(key, kept)
        said, seconds = ChatReply(**kept["said"]), float(kept["seconds"])
        self._pay(CaseCost(vlm_calls=1, money=said.cost, seconds=seconds))
        return said, seconds

    def _filmed(self, key: str, frame: Path, caption: str, seed: int) -> dict[str, Any]:
        """The clip is kept before its record: a kill between the two costs nothing but the time it
        took."""
        kept: dict[str, Any] = {"seconds": 0.0}
        if self.tools.journal.file(f"{key}.mp4") is None:
            self._leave(clip=True)
            start = self.tools.clock()
            try:
                notes = _Notes(self.tools.journal, f"{key}.notes")
                made = self.tools.i2v.make(
                    frame, caption, seed, self.tools.folder / "clip.mp4", notes
                )
                probe(made)
                self.tools.journal.keep(f"{key}.mp4", made)
            except (GeneratorFailed, Unreadable) as failed:
                kept = {"error": str(failed)[:500]}
            kept["seconds"] = self.tools.clock() - start
        self._write(f"{key}.json", kept)
        return kept

    def _leave(self, clip: bool = False) -> None:
        """Whether one more call fits; what was spent is in the journal, so a restart decides
        alike."""
        limits, spent = self.options, self.spent
        if spent.seconds >= limits.deadline:
            raise Ended("deadline", f"the {limits.deadline:g} seconds of this case are over")
        over = (
            spent.clips >= limits.most_clips if clip else spent.vlm_calls >= limits.most_vlm_calls
        )
        if over or spent.money >= limits.most_money:
            what = f"{spent.vlm_calls} calls, {spent.clips} clips and {spent.money:g} of money"
            raise Ended("budget", f"the budget of this case is spent: {what}")

    def _pay(self, more: CaseCost) -> None:
        values = {
            name: getattr(self.spent, name) + getattr(more, name) for name in CaseCost.model_fields
        }
        self.spent = CaseCost(**values)

    def _note(
        self, ask: AgentPrompt[S], said: list[ChatReply], seconds: float, problem: str
    ) -> None:
        self.calls.append(
            Call(
                step=ask.step,
                asked_sha256=ask.sha256,
                replies=tuple(one.text for one in said),
                problem=problem,
                tokens_in=sum(one.tokens_in for one in said),
                tokens_out=sum(one.tokens_out for one in said),
                cost=float(sum(one.cost for one in said)),
                seconds=seconds,
            )
        )

    def _record(self, key: str) -> dict[str, Any]:
        data = self.tools.journal.get(key)
        found: dict[str, Any] = json.loads(data) if data else {}
        return found

    def _write(self, key: str, record: dict[str, Any]) -> None:
        self.tools.journal.put(key, json.dumps(record, sort_keys=True).encode())


@dataclass(frozen=True, slots=True)
class _Notes:
    journal: Journal
    key: str

    def get(self) -> bytes | None:
        return self.journal.get(self.key)

    def put(self, data: bytes) -> None:
        self.journal.put(self.key, data)


def run_key(case: AvatarCase, tools: Tools, options: AgentOptions) -> str:
    """The identity of a piece of work: the case, the picture, who works on it and how. Limits are
    no part of it."""
    how = (
        options.setting,
        options.seed,
        options.frames,
        options.retries,
        options.repairs,
        options.steps_a_subgoal,
    )
    about = (case.case_id, case.intention, len(case.subgoals), sha256_file(case.image_path))
    told = [CODE, prompts.prompts_sha256(), tools.vlm.name, tools.i2v.name, *how, *about]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:32]
