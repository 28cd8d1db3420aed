"""manifest.json: who hands in what, for which suite, made how. Version 1 of the bundle format."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, HttpUrl, ValidationError

from submissions.errors import IntakeError, Problem, shown
from submissions.names import check_name

NAME = "manifest.json"
MOST_BYTES = 5 * 1024 * 1024
MOST_DEPTH = 32
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Name = Annotated[str, AfterValidator(check_name)]


class Part(BaseModel):
    """Shared rules: no unknown field, no silent conversion."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ModelCard(Part):
    """The model that is ranked."""

    name: Name
    revision: Annotated[str, Field(min_length=1, max_length=100, description="checkpoint, commit or date")]
    organisation: Name
    licence: Annotated[str, Field(min_length=1, max_length=100)]
    open_weights: bool
    link: Annotated[HttpUrl | None, Field(strict=False)] = None


class Disclosure(Part):
    """What a reader has to know to believe the numbers."""

    trained_on_suite_data: Literal["yes", "no", "unknown"]
    statement: Annotated[str, Field(min_length=1, max_length=2000)]


class Sampling(Part):
    """How the outputs were made, so that somebody can make them again."""

    seed: Annotated[int, Field(ge=0, le=2**63 - 1)]
    steps: Annotated[int, Field(ge=1, le=1000)] | None = None
    guidance: Annotated[float, Field(ge=0, le=100)] | None = None
    height: Annotated[int, Field(ge=16, le=8192)] | None = None
    width: Annotated[int, Field(ge=16, le=8192)] | None = None
    frames: Annotated[int, Field(ge=1, le=1000)] | None = None
    fps: Annotated[int, Field(ge=1, le=120)] | None = None
    note: Annotated[str, Field(max_length=2000)] = ""


class File(Part):
    """One file: of a sample (kind outputs) or of the model (kind model)."""

    path: Annotated[str, Field(min_length=1, max_length=1024)]
    sha256: Sha256
    sample: Annotated[str, Field(max_length=300)] | None = None


class Manifest(Part):
    """The whole declaration."""

    schema_version: Literal[1]
    suite: str
    suite_version: str
    subset: str = "full"
    kind: Literal["outputs", "model"]
    modalities: Annotated[list[Literal["image", "video"]], Field(min_length=1, max_length=2)]
    partial: Annotated[
        bool, Field(description="true: some samples are left out; such an entry is shown, never ranked")
    ] = False
    team: Name
    contact: Annotated[str, Field(min_length=3, max_length=200)]
    model: ModelCard
    disclosure: Disclosure
    sampling: Sampling
    files: Annotated[list[File], Field(min_length=1, max_length=100_000)]


def parse(raw: bytes) -> Manifest:
    """Read a manifest strictly; every problem at once."""
    data = _json(raw)
    if not isinstance(data, dict):
        raise _one("E_SCHEMA", "$", f"The top level is {type(data).__name__}, not an object.", "Begin with {.")
    version = data.get("schema_version")
    if type(version) is not int or version != 1:
        raise _one(
            "E_SCHEMA_VERSION", "$.schema_version", f"Got {shown(version)}; this server reads version 1.", "Write 1."
        )
    try:
        return Manifest.model_validate_json(raw)
    except ValidationError as error:
        raise IntakeError([_problem(detail) for detail in error.errors()]) from None


def json_schema() -> dict[str, Any]:
    """The published schema of the manifest."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Manifest.model_json_schema()}


def _json(raw: bytes) -> Any:
    """JSON without its traps: no duplicate key, no NaN, no endless number, no deep nesting."""
    if len(raw) > MOST_BYTES:
        raise _one(
            "E_MANIFEST_LARGE", "$", f"{len(raw)} bytes; the limit is {MOST_BYTES}.", "Keep file contents out of it."
        )
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise _one("E_MANIFEST_ENCODING", "$", "It is not UTF-8.", "Save it as UTF-8 without a BOM.") from None
    if text.startswith("\ufeff"):
        raise _one("E_MANIFEST_ENCODING", "$", "It begins with a byte order mark.", "Save it as UTF-8 without a BOM.")
    if _depth(text) > MOST_DEPTH:
        raise _one("E_MANIFEST_DEPTH", "$", f"Nested deeper than {MOST_DEPTH} levels.", "Flatten it.")
    try:
        return json.loads(
            text, object_pairs_hook=_no_twins, parse_constant=_no_constant, parse_float=_finite, parse_int=_short
        )
    except json.JSONDecodeError as error:
        at = f"line {error.lineno}, column {error.colno}"
        raise _one(
            "E_MANIFEST_JSON", at, f"{error.msg}.", "Check it with `python -m json.tool manifest.json`."
        ) from None


def _depth(text: str) -> int:
    """The deepest nesting of brackets, those in strings too: only ever an overestimate."""
    deepest = depth = 0
    for character in text:
        if character in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]}":
            depth -= 1
    return deepest


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _one("E_MANIFEST_DUPKEY", shown(key), "This key stands twice in one object.", "Keep one of them.")
        found[key] = value
    return found


def _no_constant(name: str) -> Any:
    raise _one("E_MANIFEST_NUMBER", name, f"{name} is not a number in JSON.", "Leave the field out or write a number.")


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise _one("E_MANIFEST_NUMBER", shown(text), "The number is too large.", "Write a finite number.")
    return value


def _short(text: str) -> int:
    if len(text) > 20:
        raise _one("E_MANIFEST_NUMBER", shown(text), "The number has too many digits.", "Write at most 20 digits.")
    return int(text)


CODES = {
    "sampling.seed": "E_SEED",
    "team": "E_NAME",
    "model.name": "E_NAME",
    "model.organisation": "E_NAME",
    "model.link": "E_URL",
}
DISCLOSURES = ("disclosure", "contact", "model.licence")


def _problem(detail: Any) -> Problem:
    where = ".".join(str(part) for part in detail["loc"]) or "$"
    code = CODES.get(where, "E_DISCLOSURE" if where.startswith(DISCLOSURES) else "E_SCHEMA")
    got = "" if detail["type"] == "missing" else f" Got {shown(detail['input'])}."
    return Problem(
        code, f"manifest.{where}", f"{detail['msg']}.{got}", "See submissions/README.md, or `armillary schema`."
    )


def _one(code: str, where: str, message: str, hint: str) -> IntakeError:
    return IntakeError([Problem(code, where if where.startswith("$") else f"manifest {where}", message, hint)])
