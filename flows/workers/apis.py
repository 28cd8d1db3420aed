"""Models behind an API, where the settings say it is; a key goes nowhere but into the call's
header."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import SecretStr

from evaluators.agents.video_model import VideoModel
from evaluators.contracts import CannotProduce, Generator
from infra.settings import Settings

if TYPE_CHECKING:
    from evaluators.judges.http.endpoint import HttpJudgeConfig

CLIP_SECONDS = 4


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """The settings of a chat endpoint: who is behind it, how such a one may be named, and what
    holds where no file of its own says otherwise."""

    role: Literal["judge", "agent"]
    ways: str
    url: str
    key: SecretStr
    price_in: float
    price_out: float
    frames: str = "uniform-8"
    structured: bool = False
    concurrency: int = 8
    rpm: int = 0
    tpm: int = 0


def chat_endpoint(
    name: str, options: ChatOptions, refusal: type[Exception]
) -> HttpJudgeConfig | None:
    """The endpoint behind `http:MODEL@SNAPSHOT` or `http:FILE.toml`; None for a name of another
    kind. What can be no endpoint is refused with that exception."""
    kind, _, target = name.partition(":")
    if kind == "http" and target.endswith(".toml"):
        return _from_file(Path(target), options, refusal)
    if kind == "http" and "@" in target:
        return _from_settings(target, options, refusal)
    return None


def _from_file(path: Path, options: ChatOptions, refusal: type[Exception]) -> HttpJudgeConfig:
    from evaluators.judges.http.endpoint_file import read_endpoint

    role = options.role
    try:
        return read_endpoint(path.read_text("utf-8"), options.url, options.key.get_secret_value())
    except (OSError, UnicodeDecodeError):
        text = f"The {role}'s file {path} cannot be read. Name {options.ways}."
        raise refusal(text) from None
    except ValueError as error:
        raise refusal(f"The {role}'s file {path} names no {role}. {error}") from None


def _from_settings(target: str, options: ChatOptions, refusal: type[Exception]) -> HttpJudgeConfig:
    from evaluators.judges.http.endpoint import HttpJudgeConfig

    model, _, snapshot = target.rpartition("@")
    try:
        return HttpJudgeConfig(
            base_url=options.url,
            model=model,
            revision=snapshot,
            api_key=options.key.get_secret_value(),
            frames=options.frames,
            structured=options.structured,
            concurrency=options.concurrency,
            rpm=options.rpm,
            tpm=options.tpm,
            price_in=options.price_in,
            price_out=options.price_out,
        )
    except ValueError as error:
        variable = f"ARMILLARY_{options.role.upper()}_URL"
        raise refusal(f"{variable} is {options.url!r}. {error}") from None


def open_image_api(endpoint: Mapping[str, str], sampling: Mapping[str, Any]) -> Generator:
    """A generator that draws behind an API."""
    from evaluators.models.generate.image_api import ApiGenerator, ImageApi

    settings = Settings()
    api = ImageApi(
        base_url=settings.image_url,
        model=endpoint["model"],
        snapshot=endpoint["snapshot"],
        api_key=settings.image_key.get_secret_value(),
        concurrency=settings.image_concurrency,
    )
    return ApiGenerator(api, sampling["height"], sampling["width"])


def open_video_api(endpoint: Mapping[str, str], sampling: Mapping[str, Any]) -> VideoModel:
    """A model that films behind an API, for an agent to direct."""
    from evaluators.models.generate.video_api import HttpVideo, VideoEndpoint

    settings = Settings()
    if not settings.video_url:
        raise CannotProduce("No video API is set. Set ARMILLARY_VIDEO_URL and ARMILLARY_VIDEO_KEY.")
    place = VideoEndpoint(
        base_url=settings.video_url,
        model=endpoint["model"],
        revision=endpoint["snapshot"],
        api_key=settings.video_key.get_secret_value(),
        seconds=_seconds(sampling),
        deadline=settings.agent_clip_seconds,
        languages=settings.video_languages,
    )
    height, width = sampling["height"], sampling["width"]
    return HttpVideo(replace(place, size=f"{width}x{height}") if height and width else place)


def _seconds(sampling: Mapping[str, Any]) -> int:
    frames, fps = sampling["frames"], sampling["fps"]
    return max(1, round(frames / fps)) if frames and fps else CLIP_SECONDS
