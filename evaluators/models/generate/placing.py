"""Where the parts of a pipeline go: on one GPU, over several, or in main memory until they are
needed. Numbers in, a plan out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

ROOM_FOR_WEIGHTS = 0.75
"""The part of free memory that weights may take; activations get what is left."""
Kind = Literal["whole", "spread", "offload", "group"]


@dataclass(frozen=True, slots=True)
class Placing:
    """`whole` on the first GPU, `spread` over several with `gpus` saying which part goes where, a
    part at a time (`offload`), or a layer at a time (`group`)."""

    kind: Kind
    gpus: Mapping[str, int] = field(default_factory=dict)


def placing_of(parts: Mapping[str, int], free: Sequence[int]) -> Placing:
    """The quickest placing that fits: bytes of each part's weights, free bytes of each GPU.

    >>> placing_of({"transformer": 60, "vae": 5}, [100]).kind
    'whole'
    >>> placing_of({"transformer": 60, "text_encoder": 40}, [100, 100]).gpus
    {'transformer': 0, 'text_encoder': 1}
    >>> placing_of({"transformer": 60, "text_encoder": 40}, [100]).kind
    'offload'
    >>> placing_of({"transformer": 90}, [100]).kind
    'group'
    """
    room = [int(memory * ROOM_FOR_WEIGHTS) for memory in free]
    if sum(parts.values()) <= room[0]:
        return Placing("whole")
    if (gpus := _spread(parts, room)) is not None:
        return Placing("spread", gpus)
    largest = max(parts.values(), default=0)
    return Placing("offload" if largest <= room[0] else "group")


def _spread(parts: Mapping[str, int], room: Sequence[int]) -> dict[str, int] | None:
    """The largest part first, each where most room is left; None where one fits nowhere."""
    left, gpus = list(room), dict[str, int]()
    for name in sorted(parts, key=lambda part: -parts[part]):
        number = max(range(len(left)), key=lambda gpu: left[gpu])
        if parts[name] > left[number]:
            return None
        left[number] -= parts[name]
        gpus[name] = number
    return gpus
