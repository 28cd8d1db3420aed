"""A model that nobody can hand in because it is behind an API: an operator enters it, and we
generate."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, ValidationError
from sqlmodel import Session

from infra.db import claim
from infra.store import Store, bundle_key, report_key
from infra.tables import Submission
from submissions.bundle.check import expected_of
from submissions.format.manifest import Manifest, StrictModel, refused
from submissions.intake.entry import check_entry
from submissions.intake.intake import (
    Received,
    catalogue,
    new_row,
    submission_key,
)
from submissions.teams.lifecycle import State, record


class Endpoint(StrictModel):
    """Which model of the API, and which state of it."""

    model: Annotated[str, Field(min_length=1, max_length=200)]
    snapshot: Annotated[
        str,
        Field(min_length=1, max_length=100, description="date or version that the provider names"),
    ]


class ApiManifest(Manifest):
    """The declaration of a model behind an API: no files; where the API is stands in the settings,
    not here."""

    kind: Literal["api"] = "api"  # type: ignore[assignment]
    modalities: list[Literal["image", "video"]]  # type: ignore[assignment]
    files: Annotated[list[Any], Field(max_length=0, default_factory=list)]
    endpoint: Endpoint
    brings_files: ClassVar[bool] = False


def enter(db: Session, store: Store, declaration: Mapping[str, Any]) -> Received:
    """Open a submission of a model behind an API; the same declaration is the same submission."""
    raw = json.dumps({"schema_version": 1, **declaration}, sort_keys=True).encode()
    try:
        manifest = ApiManifest.model_validate_json(raw)
    except ValidationError as error:
        raise refused(error) from None
    _suite, expected = expected_of(manifest.model_copy(update={"kind": "model"}), catalogue(db))
    check_entry(db, manifest, None, {})
    sha256 = hashlib.sha256(raw).hexdigest()
    submission_id = submission_key(manifest, sha256)
    store.put(bundle_key(sha256), raw)
    store.put(report_key(submission_id), json.dumps({"media": {}, "warnings": []}).encode())
    new = claim(db, Submission, new_row(manifest, submission_id, sha256, "entry").model_dump())
    if new:
        text = (
            f"Entered: {manifest.model.name} behind an API, {len(expected)} samples of "
            f"{manifest.suite}."
        )
        record(db, submission_id, State.RECEIVED, text, actor=manifest.team)
    return Received(submission_id, not new, ())
