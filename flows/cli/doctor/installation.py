"""What is installed on this machine: Python, packages, device, disk, and what fences models."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from flows.cli.doctor.finding import DoctorFinding, State
from infra.settings import Settings

PACKAGES = {
    "prefect": "",
    "sqlmodel": "",
    "streamlit": "board",
    "altair": "board",
    "torch": "models",
    "transformers": "models",
    "diffusers": "models",
    "peft": "models",
    "robosuite": "engines",
    "vizdoom": "engines",
    "boto3": "",
    "great-expectations": "",
}
LOW_DISK = 5 * 1024**3


def python(_settings: Settings) -> Iterator[DoctorFinding]:
    installed = ".".join(map(str, sys.version_info[:3]))
    good = (3, 11) <= sys.version_info[:2] < (3, 15)
    yield DoctorFinding(
        "Python", "good" if good else "wrong", installed, "" if good else "Use Python 3.11 to 3.14."
    )


def packages(_settings: Settings) -> Iterator[DoctorFinding]:
    for name, extra in PACKAGES.items():
        try:
            yield DoctorFinding(name, "good", version(name))
        except PackageNotFoundError:
            state: State = "note" if extra else "wrong"
            requirement = f"armillary[{extra}]" if extra else "armillary"
            yield DoctorFinding(name, state, "not installed", f"pip install '{requirement}'")


def traps(_settings: Settings) -> Iterator[DoctorFinding]:
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


def disk(settings: Settings) -> Iterator[DoctorFinding]:
    free = shutil.disk_usage(settings.home if settings.home.exists() else ".").free
    low = free < LOW_DISK
    yield DoctorFinding(
        "disk",
        "wrong" if low else "good",
        f"{free / 1024**3:.0f} GB free",
        "Free some space." if low else "",
    )


def confinement(settings: Settings) -> Iterator[DoctorFinding]:
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


def device(_settings: Settings) -> Iterator[DoctorFinding]:
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
