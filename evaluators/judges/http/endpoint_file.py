"""A judge or agent behind an endpoint as a small TOML file says it; what it leaves out is by
family."""

from __future__ import annotations

import re
import tomllib
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evaluators.judges.http.endpoint import KEY_MARK, HttpJudgeConfig
from evaluators.judges.http.families import LimitName, family_of
from evaluators.judges.showing import MediaForm

SECRET_HEADER = re.compile(r"authorization|key|token|secret|cookie", re.IGNORECASE)


class EndpointFile(BaseModel):
    """Every key that the file may have. Numbers a minute and prices of 0 are no limit and no price;
    without a url the environment's is taken."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=True)

    model: str = Field(min_length=1)
    snapshot: str = Field(min_length=1)
    url: str = ""
    limit: int | None = Field(None, ge=1)
    limit_name: LimitName | None = None
    room: int | None = Field(None, ge=0)
    deadline: float | None = Field(None, gt=0)
    temperature: float | Literal["default"] | None = None
    effort: str = ""
    structured: bool = Field(False, alias="schema")
    frames: str = "uniform-16"
    pictures: str = "fit-1536"
    video_part: Literal["video_url", "file"] = "video_url"
    concurrency: int = Field(8, ge=1)
    requests_a_minute: int = Field(0, ge=0)
    tokens_a_minute: int = Field(0, ge=0)
    price_in: float = Field(0.0, ge=0)
    price_out: float = Field(0.0, ge=0)
    headers: dict[str, str] = Field(default_factory=dict)
    batch: bool = False
    batch_hours: float = Field(24.0, gt=0)
    batch_poll: float = Field(30.0, gt=0)


def read_endpoint(text: str, url: str, key: str) -> HttpJudgeConfig:
    """The settings in the text of a file; a ValueError says what is wrong with it."""
    try:
        endpoint = EndpointFile.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"It is no TOML: {error}.") from None
    except ValidationError as error:
        raise ValueError(_problems(error)) from None
    _check_headers(endpoint.headers)
    return _config(endpoint, url, key)


def _config(endpoint: EndpointFile, url: str, key: str) -> HttpJudgeConfig:
    family = family_of(endpoint.model)
    limit = endpoint.limit or family.limit
    temperature = family.temperature if endpoint.temperature is None else endpoint.temperature
    return HttpJudgeConfig(
        base_url=endpoint.url or url,
        model=endpoint.model,
        revision=endpoint.snapshot,
        api_key=key,
        frames=endpoint.frames,
        temperature=None if temperature == "default" else temperature,
        max_tokens=limit,
        limit_name=endpoint.limit_name or family.limit_name,
        structured=endpoint.structured,
        concurrency=endpoint.concurrency,
        rpm=endpoint.requests_a_minute,
        tpm=endpoint.tokens_a_minute,
        deadline=endpoint.deadline or family.deadline,
        price_in=endpoint.price_in,
        price_out=endpoint.price_out,
        room=max(limit, family.room) if endpoint.room is None else endpoint.room,
        effort=endpoint.effort,
        headers=tuple(sorted(endpoint.headers.items())),
        batch=endpoint.batch,
        batch_hours=endpoint.batch_hours,
        batch_poll=endpoint.batch_poll,
        form=MediaForm(endpoint.pictures, endpoint.video_part),
        note=_note(endpoint, endpoint.deadline or family.deadline),
    )


def _note(endpoint: EndpointFile, deadline: float) -> str:
    """What stands on the card though it changes no verdict."""
    words = ["batch jobs", f"{deadline:g} seconds a call"][not endpoint.batch :]
    if endpoint.requests_a_minute:
        words.append(f"{endpoint.requests_a_minute} requests a minute")
    if endpoint.tokens_a_minute:
        words.append(f"{endpoint.tokens_a_minute} tokens a minute")
    if endpoint.price_in or endpoint.price_out:
        words.append(
            f"{endpoint.price_in:g} for a million tokens in and {endpoint.price_out:g} out"
        )
    return f"Asked with {', '.join(words)}."


def _check_headers(headers: dict[str, str]) -> None:
    """Headers stand on the card, so a secret must not be written into the file."""
    for name, value in headers.items():
        if SECRET_HEADER.search(name) and KEY_MARK not in value:
            raise ValueError(
                f"The header {name!r} looks like a secret, and headers stand on the judge's card. "
                f"Write {KEY_MARK} in its place and put the key into the environment."
            )


def _problems(error: ValidationError) -> str:
    listed = [
        f"{'.'.join(map(str, problem['loc'])) or 'the file'}: {problem['msg']}"
        for problem in error.errors(include_input=False, include_url=False)
    ]
    known_keys = ", ".join(field.alias or name for name, field in EndpointFile.model_fields.items())
    return f"{'; '.join(listed)}. Its keys are {known_keys}."
