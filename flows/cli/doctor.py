"""What is installed, reachable and wrong, and what to do about it."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from flows.cli.terminal import fail
from infra.settings import Settings

if TYPE_CHECKING:
    from evaluators.models.generate.families import PipelineFamily
    from evaluators.models.generate.settings import PipelineSettings

State = Literal["good", "note", "wrong"]
PACKAGES = {
    "prefect": "",
    "sqlmodel": "",
    "streamlit": "board",
    "altair": "board",
    "torch": "models",
    "transformers": "models",
    "diffusers": "models",
    "peft": "models",
    "boto3": "",
    "great-expectations": "",
}
LOW_DISK = 5 * 1024**3


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """One part of the installation and its state."""

    subject: str
    state: State
    detail: str
    remedy: str = ""


def examine(settings: Settings) -> list[DoctorFinding]:
    """Look at everything once; nothing is changed."""
    looks: list[Callable[[Settings], Iterator[DoctorFinding]]] = [
        _python,
        _packages,
        _traps,
        _database,
        _store,
        _judge,
        _disk,
        _device,
        _confinement,
    ]
    return [finding for look in looks for finding in look(settings)]


REMEDY = "Hand in a folder as save_pretrained() of diffusers wrote it."


def examine_model(folder: Path) -> list[DoctorFinding]:
    """What a pipeline's folder wants, from its configs alone: its forms, settings and memory."""
    from evaluators.models.generate.families import FORM_NAMES, families_of
    from evaluators.models.generate.memory_plan import plan_of
    from evaluators.models.generate.settings import DECLARED_NOTHING, settle

    try:
        families = families_of(folder)
        findings = [
            DoctorFinding(
                FORM_NAMES[family.form], "good", f"{family.called}: {_in_words(family, settled)}"
            )
            for family in families
            for settled in [settle(family, folder, DECLARED_NOTHING)]
        ]
        return [*findings, DoctorFinding("memory", "good", str(plan_of(folder, families[0])))]
    except (UnicodeDecodeError, json.JSONDecodeError, TypeError, AttributeError):
        fail(
            f"{folder}: its model_index.json or a config beside it is not JSON as diffusers "
            f"writes it. {REMEDY}"
        )
    except (ValueError, OSError) as error:
        return [DoctorFinding("model", "wrong", str(error), REMEDY)]


def _in_words(family: PipelineFamily, settings: PipelineSettings) -> str:
    clip = f", {settings.frames} frames at {settings.fps:g}" if family.modality == "video" else ""
    return (
        f"{settings.steps} steps, guidance {settings.guidance:g}, "
        f"{settings.width}x{settings.height}{clip} where the manifest leaves them out"
    )


def _python(_settings: Settings) -> Iterator[DoctorFinding]:
    installed = ".".join(map(str, sys.version_info[:3]))
    good = (3, 11) <= sys.version_info[:2] < (3, 15)
    yield DoctorFinding(
        "Python", "good" if good else "wrong", installed, "" if good else "Use Python 3.11 to 3.14."
    )


def _packages(_settings: Settings) -> Iterator[DoctorFinding]:
    for name, extra in PACKAGES.items():
        try:
            yield DoctorFinding(name, "good", version(name))
        except PackageNotFoundError:
            state: State = "note" if extra else "wrong"
            requirement = f"armillary[{extra}]" if extra else "armillary"
            yield DoctorFinding(name, state, "not installed", f"pip install '{requirement}'")


def _traps(_settings: Settings) -> Iterator[DoctorFinding]:
    """Pairs that pip takes without a word and that stop Prefect."""
    for name, limit in (("fastapi", (0, 151)), ("sqlalchemy", (2, 1))):
        installed = tuple(int(part) for part in version(name).split(".")[:2])
        if installed >= limit:
            below = ".".join(map(str, limit))
            yield DoctorFinding(
                name,
                "wrong",
                version(name),
                f"pip install '{name}<{below}': Prefect 3.8 does not run with it.",
            )


def _database(settings: Settings) -> Iterator[DoctorFinding]:
    from sqlalchemy import inspect
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import SQLAlchemyError

    from infra.db import engine

    where = make_url(settings.database).render_as_string(hide_password=True)
    try:
        is_initialised = inspect(engine(settings.database)).has_table("suite")
        state: State = "good" if is_initialised else "note"
        yield DoctorFinding(
            "database", state, where, "" if is_initialised else "Run `armillary init`."
        )
    except SQLAlchemyError:
        yield DoctorFinding(
            "database",
            "wrong",
            where,
            "It does not answer: start it or change ARMILLARY_DATABASE_URL.",
        )


def _store(settings: Settings) -> Iterator[DoctorFinding]:
    from infra.store import StoreError, open_store

    try:
        open_store(settings.objects, settings.s3_endpoint).exists("doctor/probe")
        yield DoctorFinding("object store", "good", settings.objects)
    except StoreError as error:
        yield DoctorFinding(
            "object store",
            "wrong",
            str(error),
            "Check ARMILLARY_STORE, ARMILLARY_S3_ENDPOINT and the credentials.",
        )


def _judge(settings: Settings) -> Iterator[DoctorFinding]:
    if (
        settings.judge.startswith("vlm:")
        and not Path(settings.judge.removeprefix("vlm:"), "config.json").is_file()
    ):
        yield DoctorFinding(
            "judge",
            "wrong",
            settings.judge,
            "That folder holds no model: set ARMILLARY_JUDGE to vlm:FOLDER.",
        )
    else:
        state: State = "note" if settings.judge == "scripted" else "good"
        remedy = (
            "A scripted judge says nothing about a model: set ARMILLARY_JUDGE."
            if state == "note"
            else ""
        )
        yield DoctorFinding("judge", state, settings.judge, remedy)


def _disk(settings: Settings) -> Iterator[DoctorFinding]:
    free = shutil.disk_usage(settings.home if settings.home.exists() else ".").free
    low = free < LOW_DISK
    yield DoctorFinding(
        "disk",
        "wrong" if low else "good",
        f"{free / 1024**3:.0f} GB free",
        "Free some space." if low else "",
    )


def _confinement(settings: Settings) -> Iterator[DoctorFinding]:
    """Whether handed-in models and files can be kept off the network and off our files. Without
    that no model runs, unless the settings say that it may."""
    from infra.sandbox import confinement, fence

    missing: State = "note" if settings.unconfined else "wrong"
    if fence.version():
        detail = "models write into one folder and read nothing of what is kept here"
        yield DoctorFinding("fence", "good", detail)
    else:
        remedy = "Use a kernel with Landlock (5.13 or newer) that the container may use."
        yield DoctorFinding("fence", missing, "this system has no Landlock", remedy)
    if confinement.network_can_be_cut():
        yield DoctorFinding("confinement", "good", "models and decoders run without network")
    else:
        detail = "a process can neither leave the network nor forbid itself sockets"
        remedy = "Allow user namespaces or seccomp filters (Linux on x86-64 or aarch64)."
        yield DoctorFinding("confinement", missing, detail, remedy)
    if settings.unconfined:
        detail = "ARMILLARY_UNCONFINED lets models run unfenced; their entries say so"
        yield DoctorFinding("unconfined", "note", detail, "Remove it where both rows are good.")


def _device(_settings: Settings) -> Iterator[DoctorFinding]:
    import importlib.util

    if importlib.util.find_spec("torch") is None:
        return
    from evaluators.models.device import pick_device

    device = pick_device("auto")
    yield DoctorFinding(
        "device",
        "good" if device != "cpu" else "note",
        device,
        "" if device != "cpu" else "No GPU: small models only.",
    )
