"""Models behind an API, where the settings say it is; a key goes nowhere but into the call's
header."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evaluators.agents.video_model import VideoModel
from evaluators.contracts import CannotProduce, Generator
from infra.settings import Settings

CLIP_SECONDS = 4


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
