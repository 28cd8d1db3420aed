"""manifest.json: who hands in what, for which suite, made how. Version 1 of the bundle format."""

from __future__ import annotations

import json
from difflib import get_close_matches
from itertools import islice
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    HttpUrl,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from submissions.format import strict_json
from submissions.format.errors import MOST_PROBLEMS, IntakeError, Problem, refusal, shown
from submissions.format.names import check_name
from submissions.format.strict_json import BadJson

NAME = "manifest.json"
MOST_BYTES = 5 * 1024 * 1024
MOST_LISTED, MOST_SHOWN = 10_000, 100
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Name = Annotated[str, AfterValidator(check_name)]
Modality = Literal["image", "video", "text", "actions", "outcome", "trajectory"]


def _plain_link(link: HttpUrl) -> HttpUrl:
    if link.username or link.password:
        raise ValueError("a link carries no user name or password")
    return link


class StrictModel(BaseModel):
    """Shared rules: no unknown field, no silent conversion."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Hub(StrictModel):
    """Where the weights can be had, fixed to one commit."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}$")]
    revision: Annotated[
        str, Field(pattern=r"^[0-9a-f]{40}$", description="a whole commit hash, never a branch")
    ]


class ModelCard(StrictModel):
    """The model that is ranked."""

    name: Name
    revision: Annotated[
        str, Field(min_length=1, max_length=100, description="checkpoint, commit or date")
    ]
    organisation: Name
    licence: Annotated[str, Field(min_length=1, max_length=100)]
    open_weights: bool
    link: Annotated[Annotated[HttpUrl, AfterValidator(_plain_link)] | None, Field(strict=False)] = (
        None
    )
    hub: Hub | None = None
    base: Annotated[
        Hub | None,
        Field(
            description="for an adapter: the model it was trained on; it is taken from the "
            "operator's shelf"
        ),
    ] = None


class Disclosure(StrictModel):
    """What a reader has to know to believe the numbers."""

    trained_on_suite_data: Literal["yes", "no", "unknown"]
    statement: Annotated[str, Field(min_length=1, max_length=2000)]


class DeclaredSampling(StrictModel):
    """How the outputs were made, so that somebody can make them again."""

    seed: Annotated[int, Field(ge=0, le=2**63 - 1)]
    steps: Annotated[int, Field(ge=1, le=1000)] | None = None
    guidance: Annotated[float, Field(ge=0, le=100)] | None = None
    height: Annotated[int, Field(ge=16, le=8192)] | None = None
    width: Annotated[int, Field(ge=16, le=8192)] | None = None
    frames: Annotated[int, Field(ge=1, le=1000)] | None = None
    fps: Annotated[int, Field(ge=1, le=120)] | None = None
    note: Annotated[str, Field(max_length=2000)] = ""


class DeclaredStep(StrictModel):
    """One step in a video: the caption it was made from, and its frames from `start` up to but not
    including `end`."""

    caption: Annotated[str, Field(min_length=1, max_length=4000)]
    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=1)]


class File(StrictModel):
    """One file: of a sample (kind outputs) or of the model (kind model)."""

    path: Annotated[str, Field(min_length=1, max_length=1024)]
    sha256: Sha256
    sample: Annotated[str, Field(max_length=300)] | None = None
    scenario: (
        Annotated[str, Field(max_length=100, description="if given, it must be the sample's")]
        | None
    ) = None
    setting: (
        Annotated[str, Field(max_length=100, description="if given, it must be the sample's")]
        | None
    ) = None
    modality: Modality | None = None
    steps: (
        Annotated[
            list[DeclaredStep],
            Field(max_length=100, description="where the steps of a video begin and end"),
        ]
        | None
    ) = None


class Manifest(StrictModel):
    """The whole declaration."""

    schema_version: Literal[1]
    suite: str
    suite_version: str
    subset: str = "full"
    kind: Literal["outputs", "model"]
    modalities: Annotated[list[Modality], Field(min_length=1, max_length=5)]
    partial: Annotated[
        bool,
        Field(description="true: some samples are left out; such an entry is shown, never ranked"),
    ] = False
    team: Name
    contact: Annotated[str, Field(min_length=3, max_length=200)]
    model: ModelCard
    disclosure: Disclosure
    sampling: DeclaredSampling
    blocked: Annotated[
        list[Annotated[str, Field(max_length=300)]],
        Field(
            max_length=1000,
            description="samples whose prompt a safety filter refused; `armillary samples SUITE "
            "--blocked ID` tells which samples stand in for them",
        ),
    ] = []
    files: Annotated[
        list[File],
        Field(
            max_length=100_000, description="empty only for a model that is fetched from model.hub"
        ),
    ]

    brings_files: ClassVar[bool] = True

    @model_validator(mode="after")
    def _has_files(self) -> Manifest:
        if self.brings_files and not self.files and not self.on_hub:
            raise PydanticCustomError(
                "no_files", "List every file; only a model with model.hub goes without"
            )
        return self

    @property
    def on_hub(self) -> Hub | None:
        """Where the model is fetched from, if the bundle does not bring it."""
        return self.model.hub if self.kind == "model" and not self.files else None


def parse(raw: bytes) -> Manifest:
    """Read a manifest strictly; every problem at once."""
    data = _json(raw)
    if not isinstance(data, dict):
        raise _refusal(
            "E_SCHEMA",
            "$",
            f"The top level is {type(data).__name__}, not an object.",
            "Begin with {.",
        )
    version = data.get("schema_version")
    if type(version) is not int or version != 1:
        raise _refusal(
            "E_SCHEMA_VERSION",
            "$.schema_version",
            f"Got {shown(version)}; this server reads version 1.",
            "Write 1.",
        )
    try:
        return Manifest.model_validate_json(raw)
    except ValidationError as error:
        faults = error.error_count()
        raise (_very_many(data, faults) if faults > MOST_LISTED else refused(error)) from None


def refused(error: ValidationError) -> IntakeError:
    """The first problems that a schema finds, and how many there are; a hint for each of a million
    takes minutes."""
    details = error.errors(include_url=False, include_context=False)
    return IntakeError([problem_of(detail) for detail in details[:MOST_PROBLEMS]], len(details))


def _very_many(data: dict[str, Any], faults: int) -> IntakeError:
    """The problems of a manifest's beginning, and how many there are in all: to list a million
    takes a gigabyte."""
    files = data.get("files")
    first = dict(islice(data.items(), MOST_SHOWN))
    first |= {"files": files[:MOST_SHOWN]} if isinstance(files, list) else {}
    try:
        Manifest.model_validate_json(json.dumps(first))
    except ValidationError as error:
        return IntakeError(refused(error).problems, faults)
    message = f"{faults} faults, none of them in the first {MOST_SHOWN} files."
    return IntakeError([Problem("E_SCHEMA", "manifest.files", message, SEE)], faults)


def json_schema() -> dict[str, Any]:
    """The published schema of the manifest."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Manifest.model_json_schema(),
    }


def _json(raw: bytes) -> Any:
    if len(raw) > MOST_BYTES:
        raise too_large(len(raw))
    if strict_json.holds_nul(raw):
        message = "It holds the character NUL, which no database keeps."
        raise _refusal("E_MANIFEST_TEXT", "$", message, "Leave it out.")
    try:
        return strict_json.read(raw)
    except BadJson as bad:
        raise _refusal(f"E_MANIFEST_{bad.kind}", bad.where, bad.message, bad.hint) from None


def too_large(size: int) -> IntakeError:
    """The refusal of a manifest that is over the limit."""
    message = f"{size} bytes; the limit is {MOST_BYTES}."
    return refusal("E_MANIFEST_LARGE", "$", message, "Keep file contents out of it.", MOST_BYTES)


CODES = {
    "sampling.seed": "E_SEED",
    "team": "E_NAME",
    "model.name": "E_NAME",
    "model.organisation": "E_NAME",
    "model.link": "E_URL",
    "model.hub.revision": "E_REVISION",
    "model.base.id": "E_BASE_MODEL",
    "model.base.revision": "E_BASE_MODEL",
}
DISCLOSURES = ("disclosure", "contact", "model.licence")
FIELDS = {
    name
    for part in (Manifest, ModelCard, Disclosure, DeclaredSampling, File, Hub)
    for name in part.model_fields
}
SEE = "See submissions/README.md, or `armillary schema`."


def problem_of(detail: Any) -> Problem:
    parts = [str(part) for part in detail["loc"] if not str(part).startswith("function-")]
    where = ".".join(parts) or "$"
    code = CODES.get(where, "E_DISCLOSURE" if where.startswith(DISCLOSURES) else "E_SCHEMA")
    got = "" if detail["type"] == "missing" else f" Got {shown(detail['input'])}."
    near = get_close_matches(parts[-1], FIELDS, 1) if detail["type"] == "extra_forbidden" else []
    hint = f"Did you mean {near[0]!r}? {SEE}" if near else SEE
    return Problem(code, f"manifest.{where[:80]}", f"{detail['msg']}.{got}", hint)


def _refusal(code: str, where: str, message: str, hint: str) -> IntakeError:
    return refusal(code, where if where.startswith("$") else f"manifest {where}", message, hint)
