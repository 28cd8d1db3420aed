"""The effects of one case (asking, filming, paying): each is written to the journal when it is done
and is never repeated."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from math import inf
from pathlib import Path
from typing import Any, TypeVar

from evaluators.agents.film import last_frame
from evaluators.agents.journal import Journal
from evaluators.agents.video_model import (
    FilmedClip,
    FilmingInterrupted,
    GeneratorFailed,
    VideoModel,
)
from evaluators.judges.http.chat import ChatReply, Talker
from evaluators.judges.prompts import Message
from evaluators.judges.replies import BadReply
from evaluators.media import (
    Pixels,
    Unreadable,
    probe,
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

CODE = "orca-2"
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
    replans: int = 1
    """So many steps in a row may fail and be planned anew before the case ends."""
    interruptions: int = 2
    """So often a clip is asked for again after a breakdown that is not the model's."""
    steps_a_subgoal: int = 2
    clip_price: float = 0.0
    most_vlm_calls: float = inf
    most_clips: float = inf
    most_money: float = inf
    deadline: float = inf


@dataclass(frozen=True, slots=True)
class Tools:
    """The vision-language model, the video model, the journal, a working folder and the clock."""

    vlm: Talker
    i2v: VideoModel
    journal: Journal
    folder: Path
    clock: Callable[[], float] = time.monotonic


@dataclass(frozen=True, slots=True)
class JournaledClip:
    """A filmed clip where the journal keeps it, with its last frame as the model made it, if it
    gave one."""

    path: Path
    last_frame: Path | None
    stored: StoredClip


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
        """The calls since the last call of this method."""
        calls, self.calls = tuple(self.calls), []
        return calls

    def ask(self, place: str, ask: AgentPrompt[S]) -> S:
        """A usable reply, after telling the model what is wrong with the others; each reply is kept
        by itself."""
        replies: list[ChatReply] = []
        seconds, reason, messages = 0.0, "", list(ask.messages)
        for number in range(1 + self.options.repairs):
            reply, took = self._reply(f"{place}/{ask.step}.{number}", messages)
            replies.append(reply)
            seconds += took
            try:
                if reply.problem:
                    raise BadReply(reply.problem)
                parsed = read(reply.text, ask.schema, ask.check)
            except BadReply as bad:
                reason = str(bad)
                messages = [*ask.messages, *prompts.correction(reply.text, reason)]
                continue
            self._note(ask, replies, seconds, "")
            return parsed
        self._note(ask, replies, seconds, reason)
        raise Ended("vlm_unusable", f"{ask.step}: {reason}")

    def film(self, place: str, frame: Path, caption: str, seed: int) -> JournaledClip:
        """A clip, filmed once however often this is run again."""
        digest = hashlib.sha256(f"{sha256_file(frame)}\0{caption}\0{seed}".encode()).hexdigest()
        key = f"{self.key}/{place}/clip-{digest[:16]}"
        entry = self._record(f"{key}.json")
        if not entry:
            entry = self._filmed(key, frame, caption, seed)
        seconds = float(entry["seconds"])
        self._pay(CaseCost(clips=1, money=self.options.clip_price, seconds=seconds))
        path = self.tools.journal.file(f"{key}.mp4")
        if path is None:
            raise GeneratorFailed(str(entry.get("error")))
        facts = probe(path)
        stored = StoredClip(
            sha256=sha256_file(path),
            frames=facts.frames,
            fps=facts.fps,
            width=facts.width,
            height=facts.height,
            seconds=seconds,
            fitted=(self.tools.journal.get(f"{key}.fitted") or b"").decode(),
        )
        return JournaledClip(path, self.tools.journal.file(f"{key}.png"), stored)

    def looked_at(self, clip: Path) -> Pixels:
        """The frames of a clip that the vision-language model sees."""
        return sample_frames(clip, f"uniform-{self.options.frames}", "video")

    def first_frame(self) -> Pixels:
        """The picture of the case."""
        return read_image(self.case.image_path)

    def next_frame(self, clip: JournaledClip, place: str) -> Path:
        """Where the next clip begins: the frame that the model made, or else what its clip decodes
        to."""
        return clip.last_frame or write_png(
            last_frame(clip.path), self.tools.folder / f"{place.replace('/', '-')}-last.png"
        )

    def _reply(self, place: str, messages: list[Message]) -> tuple[ChatReply, float]:
        """One reply, from the journal if this was asked before in the same words."""
        messages_sha256 = hashlib.sha256(json.dumps(messages, sort_keys=True).encode()).hexdigest()
        key = f"{self.key}/{place}-{messages_sha256[:16]}.json"
        entry = self._record(key)
        if not entry:
            self._leave()
            start = self.tools.clock()
            reply = self.tools.vlm.say(messages)
            entry = {"said": asdict(reply), "seconds": self.tools.clock() - start}
            self._write(key, entry)
        chat_reply, seconds = ChatReply(**entry["said"]), float(entry["seconds"])
        self._pay(CaseCost(vlm_calls=1, money=chat_reply.cost, seconds=seconds))
        return chat_reply, seconds

    def _filmed(self, key: str, frame: Path, caption: str, seed: int) -> dict[str, Any]:
        """The clip is kept before its record: a kill between the two costs nothing but the time it
        took."""
        entry: dict[str, Any] = {"seconds": 0.0}
        if self.tools.journal.file(f"{key}.mp4") is None:
            self._leave(clip=True)
            start = self.tools.clock()
            try:
                filmed = self._make(key, frame, caption, seed)
                probe(filmed.path)
                if filmed.fitted:
                    self.tools.journal.put(f"{key}.fitted", filmed.fitted.encode())
                if filmed.last_frame:
                    self.tools.journal.keep(f"{key}.png", filmed.last_frame)
                self.tools.journal.keep(f"{key}.mp4", filmed.path)
            except (GeneratorFailed, Unreadable) as failed:
                entry = {"error": str(failed)[:500]}
            entry["seconds"] = self.tools.clock() - start
        self._write(f"{key}.json", entry)
        return entry

    def _make(self, key: str, frame: Path, caption: str, seed: int) -> FilmedClip:
        """A clip from the model; what breaks down by no fault of its own is asked for again, and
        raised in the end, so that nothing of it is recorded."""
        notes, target = _Notes(self.tools.journal, f"{key}.notes"), self.tools.folder / "clip.mp4"
        for _ in range(self.options.interruptions):
            try:
                return self.tools.i2v.make(frame, caption, seed, target, notes)
            except FilmingInterrupted:
                continue
        return self.tools.i2v.make(frame, caption, seed, target, notes)

    def _leave(self, clip: bool = False) -> None:
        """Raise Ended unless one more call fits the limits; spending is in the journal, so a
        restart decides alike."""
        limits, spent = self.options, self.spent
        if spent.seconds >= limits.deadline:
            raise Ended("deadline", f"the {limits.deadline:g} seconds of this case are over")
        over = (
            spent.clips >= limits.most_clips if clip else spent.vlm_calls >= limits.most_vlm_calls
        )
        if over or spent.money >= limits.most_money:
            spending = f"{spent.vlm_calls} calls, {spent.clips} clips and {spent.money:g} of money"
            raise Ended("budget", f"the budget of this case is spent: {spending}")

    def _pay(self, cost: CaseCost) -> None:
        values = {
            name: getattr(self.spent, name) + getattr(cost, name) for name in CaseCost.model_fields
        }
        self.spent = CaseCost(**values)

    def _note(
        self, ask: AgentPrompt[S], chat_replies: list[ChatReply], seconds: float, problem: str
    ) -> None:
        self.calls.append(
            Call(
                step=ask.step,
                asked_sha256=ask.sha256,
                replies=tuple(chat_reply.text for chat_reply in chat_replies),
                problem=problem,
                tokens_in=sum(chat_reply.tokens_in for chat_reply in chat_replies),
                tokens_out=sum(chat_reply.tokens_out for chat_reply in chat_replies),
                cost=float(sum(chat_reply.cost for chat_reply in chat_replies)),
                seconds=seconds,
            )
        )

    def _record(self, key: str) -> dict[str, Any]:
        data = self.tools.journal.get(key)
        stored: dict[str, Any] = json.loads(data) if data else {}
        return stored

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
        options.replans,
        options.steps_a_subgoal,
    )
    about = (case.case_id, case.intention, len(case.subgoals), sha256_file(case.image_path))
    identity = [CODE, prompts.prompts_sha256(), tools.vlm.name, tools.i2v.name, *how, *about]
    return hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:32]
