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

WAYS = (
    "scripted, vlm:FOLDER (a model folder on this machine), vlm-image-first:FOLDER (a PaliGemma "
    "whose images do not "
    "see the question: quicker, and another judge), http:MODEL@SNAPSHOT with ARMILLARY_JUDGE_URL, "
    "or http:FILE.toml (an endpoint with settings of its own)"
)


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
    if kind not in LOCAL or not target:
        raise UnknownJudge(f"There is no judge {name!r}. Name {WAYS}.")
    if not any((Path(target) / config).is_file() for config in CONFIGS):
        raise UnknownJudge(
            f"The judge {name!r} names the folder {target}, which holds no model. Name {WAYS}."
        )


@lru_cache(maxsize=4)
def open_judge(name: str, device: str, options: JudgeOptions) -> Judge:
    """The judge of that name, loaded once a process for the same options."""
    kind, _, target = name.partition(":")
    if options.judging and kind != "http":
        return open_judge(name, device, replace(options, judging=""))
    if name == "scripted":
        return ScriptedJudge()
    if kind in LOCAL and target:
        return _local(Path(target), device, kind == "vlm-image-first", options)
    if endpoint := chat_endpoint(name, options.chat, UnknownJudge):
        return _remote(endpoint, options)
    raise UnknownJudge(f"ARMILLARY_JUDGE is {name!r}. Set it to {WAYS}.")


def judge_of(settings: Settings, suite: Suite, setting: str) -> str:
    """The fingerprint of the judge that a setting names today."""
    options = JudgeOptions.of(settings, suite.judging)
    return fingerprint(suite.own_judge or open_judge(setting, settings.device, options).card)


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
    from evaluators.judges.http.budget import Budget
    from evaluators.judges.http.judge import HttpJudge

    budget = Budget(money=inf if options.budget is None else options.budget)
    return HttpJudge(replace(config, rules=options.judging), budget)
