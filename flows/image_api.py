"""Which image API the settings name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluators.contracts import Generator
from infra.settings import Settings


def open_image_api(endpoint: Mapping[str, str], sampling: Mapping[str, Any]) -> Generator:
    """The generator behind an API; the key is read here and now, and goes nowhere but into the call's header."""
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
