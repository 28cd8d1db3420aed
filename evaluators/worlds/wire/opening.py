"""Which world an argument means: an address, or a factory in somebody's module."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from typing import cast

from evaluators.contracts.world_model import World, WorldCard, WorldFault
from evaluators.worlds.wire.world_client import connect


def open_world_at(where: str, device: str = "cpu") -> World:
    """The world at `http://host:port`, or what `module:factory` gives.

    A factory is called with the device if it takes an argument. **It runs code of whoever wrote the
    module**: for a lab's own machine, never for what is handed in.
    """
    if where.startswith(("http://", "https://")):
        return connect(where)
    module, _, name = where.partition(":")
    if not module or not name:
        raise WorldFault(
            f"{where!r} names no world. Write http://host:port, or module:factory for a function "
            "in a module that Python finds here."
        )
    return _checked(where, _call(where, module, name, device))


def _call(where: str, module: str, name: str, device: str) -> object:
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        factory = getattr(importlib.import_module(module), name)
        if not callable(factory):
            return factory
        return factory(device) if inspect.signature(factory).parameters else factory()
    except (ImportError, AttributeError) as error:
        raise WorldFault(
            f"{where!r} names no factory that is found here ({error}). Start in the folder of the "
            "module, and write module:factory."
        ) from error
    except Exception as error:  # a lab's module may fail in any way, and its owner reads why
        raise WorldFault(
            f"{where} did not give a world: {type(error).__name__}, {error}. Call it in Python "
            "first."
        ) from error


def _checked(where: str, world: object) -> World:
    card = getattr(world, "card", None)
    whole = all(hasattr(world, name) for name in ("forward", "inverse", "inpaint"))
    fields = [field for field in WorldCard.__dataclass_fields__ if not hasattr(card, field)]
    if not whole or fields:
        lacks = f"its card lacks {', '.join(fields)}" if fields else "it lacks one of them"
        raise WorldFault(
            f"{where} gave a {type(world).__name__}. A world has card, forward, inverse and "
            f"inpaint, the last two None where it cannot: {lacks}."
        )
    return cast(World, world)
