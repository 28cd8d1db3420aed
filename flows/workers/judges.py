"""Which judge a setting names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from evaluators.contracts import Judge, Suite
from evaluators.judges.card import fingerprint
from evaluators.judges.scripted import ScriptedJudge
from flows.workers.apis import ChatOptions, chat_endpoint
from infra.settings import Settings

if TYPE_CHECKING:
    from evaluators.judges.http.endpoint import HttpJudgeConfig
    from evaluators.judges.panel import PanelFile

WAYS = (
    "scripted, vlm:FOLDER (a model folder on this machine), vlm-image-first:FOLDER (a PaliGemma "
    "whose images do not "
    "see the question: quicker, and another judge), http:MODEL@SNAPSHOT with ARMILLARY_JUDGE_URL, "
    "http:FILE.toml (an endpoint with settings of its own), or panel:FILE.toml (several of these)"
)


PANEL = "panel"
BATCH_SHARD = 2000
LOCAL = ("vlm", "vlm-image-first")
CONFIGS = ("config.json", "adapter_config.json")
"""A folder with one of these holds a model, or an adapter for one."""


class UnknownJudge(Exception):
    """The setting names no judge; the message says what it may name."""


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """The settings that a judge is opened with; equal options open the same judge.

    `judging` is the instruction of a suite that has one of its own, for judges behind an endpoint.
    """

    shelf: Path | None
    dtype: Literal["", "fp32", "bf16", "fp16"]
    frames: str
    chat: ChatOptions
    budget: float | None
    judging: str = ""

    @classmethod
    def of(cls, settings: Settings, judging: str = "") -> JudgeOptions:
        """Read them from the settings."""
        chat = ChatOptions(
            role="judge",
            ways=WAYS,
            url=settings.judge_url,
            key=settings.judge_key,
            price_in=settings.judge_price_in,
            price_out=settings.judge_price_out,
            frames=settings.judge_frames,
            structured=settings.judge_structured,
            concurrency=settings.judge_concurrency,
            rpm=settings.judge_rpm,
            tpm=settings.judge_tpm,
        )
        return cls(
            shelf=settings.shelf,
            dtype=settings.judge_dtype,
            frames=settings.judge_frames,
            chat=chat,
            budget=settings.judge_budget,
            judging=judging,
        )


def check_judge(name: str) -> None:
    """Refuse a name that can be no judge's; nothing is loaded."""
    kind, _, target = name.partition(":")
    model, _, snapshot = target.rpartition("@")
    if kind == "http" and target.endswith(".toml"):
        chat_endpoint(name, JudgeOptions.of(Settings()).chat, UnknownJudge)
        return
    if name == "scripted" or (kind == "http" and model and snapshot):
        return
    if kind == PANEL:
        for member in _members(Path(target)).judges:
            check_judge(member)
        return
    if kind not in LOCAL or not target:
        raise UnknownJudge(f"There is no judge {name!r}. Name {WAYS}.")
    if not any((Path(target) / config).is_file() for config in CONFIGS):
        raise UnknownJudge(
            f"The judge {name!r} names the folder {target}, which holds no model. Name {WAYS}."
        )


def members_of(name: str) -> tuple[str, ...]:
    """The judges of a panel; of any other judge, itself."""
    kind, _, target = name.partition(":")
    return tuple(_members(Path(target)).judges) if kind == PANEL else (name,)


@lru_cache(maxsize=8)
def open_judge(name: str, device: str, options: JudgeOptions) -> Judge:
    """The judge of that name, loaded once a process for the same options."""
    kind, _, target = name.partition(":")
    if options.judging and kind not in ("http", PANEL):
        return open_judge(name, device, replace(options, judging=""))
    if name == "scripted":
        return ScriptedJudge()
    if kind in LOCAL and target:
        return _local(Path(target), device, kind == "vlm-image-first", options)
    if kind == PANEL:
        return _panel(Path(target), device, options)
    if endpoint := chat_endpoint(name, options.chat, UnknownJudge):
        return _remote(endpoint, options)
    raise UnknownJudge(f"ARMILLARY_JUDGE is {name!r}. Set it to {WAYS}.")


def judge_of(settings: Settings, suite: Suite, setting: str) -> str:
    """The fingerprint of the judge that a setting names today."""
    options = JudgeOptions.of(settings, suite.judging)
    return fingerprint(suite.own_judge or open_judge(setting, settings.device, options).card)


def _panel(file: Path, device: str, options: JudgeOptions) -> Judge:
    """All members, each with its part of the money."""
    from evaluators.judges.panel import PanelJudge

    panel = _members(file)
    share = None if options.budget is None else options.budget / len(panel.judges)
    equal = replace(options, budget=share)
    members = tuple(open_judge(name, device, equal) for name in panel.judges)
    return PanelJudge(members, panel.rule)


def _members(file: Path) -> PanelFile:
    from evaluators.judges.panel import read_panel

    try:
        panel = read_panel(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError):
        raise UnknownJudge(f"The panel's file {file} cannot be read. Name {WAYS}.") from None
    except ValueError as error:
        raise UnknownJudge(f"The panel's file {file} names no panel. {error}") from None
    if any(name.partition(":")[0] == PANEL for name in panel.judges):
        raise UnknownJudge(f"The panel {file} names another panel. Name its judges instead.")
    return panel


def _local(folder: Path, device: str, image_first: bool, options: JudgeOptions) -> Judge:
    if (folder / "adapter_config.json").is_file():
        return _adapted(folder, device, options.shelf)
    if not (folder / "config.json").is_file():
        raise UnknownJudge(
            f"ARMILLARY_JUDGE names the folder {folder}, which holds no model. Set it to {WAYS}."
        )
    from evaluators.models.device import pick_device
    from evaluators.models.vlm.judge import VlmJudge

    dtype, frames = options.dtype, options.frames
    try:
        return VlmJudge(
            folder,
            device=pick_device(device),
            dtype=dtype,
            frames=frames,
            shared_prefix=image_first,
        )
    except ValueError as error:
        raise UnknownJudge(f"ARMILLARY_JUDGE {folder.name} cannot judge so. {error}") from None


def _adapted(folder: Path, device: str, shelf: Path | None) -> Judge:
    """A judge of our own making, as `armillary universe adapt` left it; frames and mask are
    those it was trained with."""
    from evaluators.models.device import pick_device
    from evaluators.models.vlm.adapter import NoBase, open_adapted

    try:
        return open_adapted(folder, pick_device(device), shelf)
    except NoBase as error:
        raise UnknownJudge(str(error)) from None


def _remote(config: HttpJudgeConfig, options: JudgeOptions) -> Judge:
    from evaluators.judges.batch.judge import BatchJudge
    from evaluators.judges.http.budget import Budget
    from evaluators.judges.http.judge import HttpJudge

    budget = Budget(money=inf if options.budget is None else options.budget)
    ruled = replace(config, rules=options.judging)
    return BatchJudge(ruled, budget) if config.batch else HttpJudge(ruled, budget)


def requests_at_once(settings: Settings, usual: int) -> int:
    """How many requests a shard of judging holds: a job of a batch endpoint takes hours, so it
    takes many."""
    if settings.judge.endswith(".toml"):
        endpoint = chat_endpoint(settings.judge, JudgeOptions.of(settings).chat, UnknownJudge)
        if endpoint is not None and endpoint.batch:
            return max(usual, BATCH_SHARD)
    return usual


class AnotherJudge(RuntimeError):
    """This worker would judge with another card than the run was opened with."""


def check_card(judge: Judge, wanted: str) -> None:
    """Refuse to answer for a judge that this worker's settings make another one: its verdicts would
    stand under the wrong card. Behind the first dash of `wanted` stands a night."""
    card = fingerprint(judge.card)
    if card != wanted.partition("-")[0]:
        raise AnotherJudge(
            f"This worker opens {judge.card.name} as {card}, the run was opened with {wanted}. "
            "Give the worker the same ARMILLARY_JUDGE* settings, files and weights as the flow."
        )
