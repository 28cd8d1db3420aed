"""A safetensors file, checked while it streams by: a sound header, every tensor in its place, every
number finite."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from submissions.format import strict_json
from submissions.format.errors import Problem, shown
from submissions.format.strict_json import BadJson
from submissions.model_files.quantised import quantised_tensors
from submissions.model_files.safetensors_metadata import metadata_problems

HINT = (
    "Save the model with save_pretrained(folder, safe_serialization=True) and remove everything "
    "else."
)
MOST_HEADER = 25 << 20
MOST_DIMENSIONS = 64
"""As many as torch has; the product of a million numbers takes hours."""
TENSOR_NAME = re.compile(r"[\w.\-/:]{1,500}")
BYTES = {
    **dict.fromkeys(("F64", "I64", "U64"), 8),
    **dict.fromkeys(("F32", "I32", "U32"), 4),
    **dict.fromkeys(("F16", "BF16", "I16", "U16"), 2),
    **dict.fromkeys(("F8_E4M3", "F8_E5M2", "I8", "U8", "BOOL"), 1),
}
EXPONENTS = {
    "F64": (np.uint64, 0x7FF0_0000_0000_0000),
    "F32": (np.uint32, 0x7F80_0000),
    "F16": (np.uint16, 0x7C00),
    "BF16": (np.uint16, 0x7F80),
    "F8_E4M3": (np.uint8, 0x7F),
    "F8_E5M2": (np.uint8, 0x7C),
}
"""A number whose exponent bits are all set is NaN or infinite (in F8_E4M3: whose seven low bits
are)."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor as the header declares it."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int


class UnsoundWeights(Exception):
    """The header is not one of a safetensors file; the message says why."""


class Scan:
    """Feed it a file's bytes in order; then ask what is wrong with them."""

    def __init__(self, path: str, size: int) -> None:
        self._path, self._size = path, size
        self._head = bytearray()
        self._wrong = ""
        self._nonfinite = ""
        self._at = self._next = 0
        self._rest = b""
        self._metadata: dict[str, str] = {}
        self.tensors: tuple[Tensor, ...] | None = None

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes."""
        if self._wrong:
            return
        if self.tensors is None:
            self._head += chunk
            chunk = self._begin()
        if self.tensors is not None and not self._nonfinite:
            self._scan(memoryview(chunk))

    def problems(self) -> Iterator[Problem]:
        """What was found, when all bytes have been fed."""
        if self.tensors is None:
            why = self._wrong or "The file ends within its header."
            yield Problem(
                "E_SAFETENSORS",
                shown(self._path),
                f"This is not a sound safetensors file. {why}",
                HINT,
            )
        elif self._nonfinite:
            message = f"The tensor {shown(self._nonfinite)} holds NaN or infinite numbers."
            yield Problem(
                "E_WEIGHTS_NONFINITE",
                shown(self._path),
                message,
                "Train or convert the model again.",
            )
        yield from metadata_problems(self._path, self._metadata)
        yield from quantised_tensors(self._path, [tensor.name for tensor in self.tensors or ()])

    def _begin(self) -> bytes:
        """Read the header once it is whole; what follows it is the first of the tensors' bytes."""
        if len(self._head) < 8:
            return b""
        length = struct.unpack("<Q", self._head[:8])[0]
        try:
            if not 2 <= length <= min(MOST_HEADER, self._size - 8):
                raise UnsoundWeights("Its header cannot be as long as it says.")
            if len(self._head) < 8 + length:
                return b""
            self.tensors, self._metadata = tensors_of(
                bytes(self._head[8 : 8 + length]), self._size - 8 - length
            )
        except UnsoundWeights as unsound:
            self._wrong = str(unsound)
            self._head.clear()
            return b""
        first_bytes = bytes(self._head[8 + length :])
        self._head.clear()
        return first_bytes

    def _scan(self, chunk: memoryview) -> None:
        """Look at each tensor's share of the bytes."""
        assert self.tensors is not None
        while chunk and self._next < len(self.tensors):
            tensor = self.tensors[self._next]
            part, chunk = chunk[: tensor.end - self._at], chunk[tensor.end - self._at :]
            self._at += len(part)
            self._rest = _finite_rest(tensor, self._rest + bytes(part))
            if self._rest == NONFINITE:
                self._nonfinite = tensor.name
                return
            if self._at == tensor.end:
                self._next, self._rest = self._next + 1, b""


NONFINITE = b"not finite"
"""Longer than any rest, which is less than one number."""


def _finite_rest(tensor: Tensor, data: bytes) -> bytes:
    """The bytes of a number that is not whole yet, or NONFINITE."""
    if tensor.dtype not in EXPONENTS:
        return b""
    kind, mask = EXPONENTS[tensor.dtype]
    whole = len(data) - len(data) % BYTES[tensor.dtype]
    numbers = np.frombuffer(data[:whole], kind)
    if np.any((numbers & kind(mask)) == kind(mask)):
        return NONFINITE
    return data[whole:]


def tensors_of(header: bytes, size: int) -> tuple[tuple[Tensor, ...], dict[str, str]]:
    """The tensors in the order of their bytes, which they fill without gap, and the metadata; else
    Unsound."""
    try:
        entries = strict_json.read(header)
    except BadJson as bad:
        raise UnsoundWeights(bad.message) from None
    if not isinstance(entries, dict):
        raise UnsoundWeights("The header is no object.")
    metadata = entries.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(
        isinstance(value, str) for value in metadata.values()
    ):
        raise UnsoundWeights("The metadata is not text by name.")
    tensors = tuple(
        sorted(
            (_tensor(*entry) for entry in entries.items()),
            key=lambda parsed: (parsed.start, parsed.end),
        )
    )
    at = 0
    for tensor in tensors:
        if tensor.start != at:
            raise UnsoundWeights("Tensors overlap or leave gaps.")
        at = tensor.end
    if not tensors or at != size:
        raise UnsoundWeights("The tensors do not fill the file.")
    return tensors, metadata


def _tensor(name: str, entry: Any) -> Tensor:
    if not TENSOR_NAME.fullmatch(name) or not isinstance(entry, dict):
        raise UnsoundWeights("A tensor's name or entry is not taken.")
    if entry.keys() != {"dtype", "shape", "data_offsets"} or not _is_known(entry["dtype"]):
        raise UnsoundWeights("A tensor has no known dtype, shape and offsets.")
    shape, offsets = entry["shape"], entry["data_offsets"]
    if (
        not _counts(shape)
        or not _counts(offsets)
        or len(offsets) != 2
        or len(shape) > MOST_DIMENSIONS
    ):
        raise UnsoundWeights("A tensor's shape or offsets are not whole numbers.")
    if offsets[1] - offsets[0] != math.prod(shape) * BYTES[entry["dtype"]]:
        raise UnsoundWeights("A tensor's offsets do not agree with its shape.")
    return Tensor(name, entry["dtype"], tuple(shape), *offsets)


def _is_known(dtype: Any) -> bool:
    return isinstance(dtype, str) and dtype in BYTES


def _counts(value: Any) -> bool:
    return isinstance(value, list) and all(type(number) is int and number >= 0 for number in value)
