"""Models behind an API: where the settings say it is, and what it makes there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evaluators.agent import Agent
from evaluators.contracts import CannotProduce, Generator
from infra.settings import Settings

CLIP_SECONDS = 4


def open_api(endpoint: Mapping[str, str], sampling: Mapping[str, Any], agent: Agent | None) -> Generator:
    """The generator behind an API: it films inside an agent's loop, and draws for everybody else.

    The key is read here and now, and goes nowhere but into the call's header.
    """
    return _filming(endpoint, sampling, agent) if agent else _drawing(endpoint, sampling)


def _drawing(endpoint: Mapping[str, str], sampling: Mapping[str, Any]) -> Generator:
    from evaluators.models.image_api import ApiGenerator, ImageApi

    settings = Settings()
    api = ImageApi(
        base_url=settings.image_url,
        model=endpoint["model"],
        snapshot=endpoint["snapshot"],
        api_key=settings.image_key.get_secret_value(),
        concurrency=settings.image_concurrency,
    )
    return ApiGenerator(api, sampling["height"], sampling["width"])


def _filming(endpoint: Mapping[str, str], sampling: Mapping[str, Any], agent: Agent) -> Generator:
    from evaluators.models.video_http import HttpVideo, VideoEndpoint
    from evaluators.suites.liva.producing import OrcaGenerator

    settings = Settings()
    if not settings.video_url:
        raise CannotProduce("No video API is set. Set ARMILLARY_VIDEO_URL and ARMILLARY_VIDEO_KEY.")
    place = VideoEndpoint(
        base_url=settings.video_url,
        model=endpoint["model"],
        revision=endpoint["snapshot"],
        api_key=settings.video_key.get_secret_value(),
        seconds=_seconds(sampling),
    )
    height, width = sampling["height"], sampling["width"]
    sized = replace(place, size=f"{width}x{height}") if height and width else place
    return OrcaGenerator(HttpVideo(sized), agent, sampling["seed"])


def _seconds(sampling: Mapping[str, Any]) -> int:
    frames, fps = sampling["frames"], sampling["fps"]
    return max(1, round(frames / fps)) if frames and fps else CLIP_SECONDS
