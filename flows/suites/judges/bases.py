"""The base of an adapter: which folder it is, under which name it is known, and where a judge finds
it again."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evaluators.models.vlm.adapter import Base

BASE_ID = r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}@[0-9a-f]{40}"
EXAMPLE = "google/paligemma2-3b-pt-224@ and the 40 hexadecimal digits of its commit"
WANTED = "Name the folder of a PaliGemma, SmolVLM or Qwen-VL as save_pretrained wrote it."
CHAT_TEMPLATES = ("chat_template.jinja", "chat_template.json")


class CannotAdapt(ValueError):
    """The base or the data cannot be used; the message says what to do."""


@dataclass(frozen=True, slots=True)
class KnownBase:
    """A base's folder, and the name and commit that adapters of it carry.

    `declared` tells whether they are those of a hub, so that the adapter's declaration names them;
    a base without them can be judged with here, and handed in by nobody.
    """

    folder: Path
    base: Base
    declared: bool
    packaged: bool = False


def find_base(folder: Path | None, base_id: str, shelf: Path | None) -> KnownBase:
    """The base that was named: by its folder, by its id on the shelf, by both, or the packaged
    one."""
    from evaluators.models.adapt.folder import base_of
    from evaluators.models.vlm.adapter import PACKAGED, Base, packaged_base

    if folder is None and not base_id:
        return KnownBase(packaged_base(), base_of(packaged_base(), PACKAGED), False, True)
    if base_id and not re.fullmatch(BASE_ID, base_id):
        raise CannotAdapt(f"{base_id!r} names no base. Write it like {EXAMPLE}.")
    name, _, commit = base_id.partition("@")
    if folder is None:
        return KnownBase(_checked(_on_shelf(name, commit, shelf)), Base(name, commit), True)
    if base_id:
        return KnownBase(_checked(folder), Base(name, commit), True)
    lies_at = _shelved(folder)
    if lies_at is not None:
        return KnownBase(_checked(folder), lies_at, True)
    return KnownBase(_checked(folder), base_of(folder), False)


def put_on_shelf(known: KnownBase, shelf: Path | None) -> None:
    """Lay a base where a judge looks for it, as a link; what lies there already stays."""
    if shelf is None or not known.declared:
        return
    place = shelf / known.base.name.replace("/", "--") / known.base.revision
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(known.folder.resolve(), target_is_directory=True)


def _on_shelf(name: str, commit: str, shelf: Path | None) -> Path:
    where = f"{name.replace('/', '--')}/{commit}"
    if shelf is None:
        raise CannotAdapt(
            f"Where {name} lies is not known. Name its folder with --base, or set ARMILLARY_SHELF "
            f"to a folder that holds {where}."
        )
    if not (shelf / where).is_dir():
        raise CannotAdapt(
            f"There is no {where} on the shelf ({shelf}). Put the model there, or name its folder "
            "with --base."
        )
    return shelf / where


def _shelved(folder: Path) -> Base | None:
    """The id of a folder that lies as it would on a shelf: ORG--NAME/COMMIT."""
    from evaluators.models.vlm.adapter import Base

    place = folder.absolute()
    organisation, between, name = place.parent.name.partition("--")
    base_id = f"{organisation}/{name}@{place.name}"
    fits = between and re.fullmatch(BASE_ID, base_id)
    return Base(f"{organisation}/{name}", place.name) if fits else None


def paligemma_config(folder: Path) -> dict[str, Any]:
    """The config of a PaliGemma's folder, whose needs can be counted."""
    config = _config(folder)
    if config.get("model_type") != "paligemma":
        raise CannotAdapt(
            f"The base {folder} is of type {config.get('model_type')!r}. What is needed is counted "
            "for a PaliGemma: name the folder of one."
        )
    return config


def _config(folder: Path) -> dict[str, Any]:
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
    except FileNotFoundError:
        raise CannotAdapt(f"The base {folder} holds no config.json. {WANTED}") from None
    except ValueError:
        raise CannotAdapt(f"The config.json of the base {folder} is not JSON. {WANTED}") from None
    return config if isinstance(config, dict) else {}


def _checked(folder: Path) -> Path:
    """A folder of a model that can be adapted: a PaliGemma, or one that is talked to."""
    kind = _config(folder).get("model_type")
    talks = any((folder / name).is_file() for name in CHAT_TEMPLATES)
    if kind != "paligemma" and not (isinstance(kind, str) and talks):
        raise CannotAdapt(
            f"The base {folder} is of type {kind!r} and has no chat template. {WANTED}"
        )
    return folder
