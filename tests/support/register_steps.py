"""Single instructions, executed on given registers by the machine's interpreter: 64 lanes a state, many states a call."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sandbox.machine.instruction_decoder import decode_instruction

LANES = 64
EXEC, VCC, SCC, M0 = 126, 106, 128, 124
ALL_LANES = (1 << 64) - 1
_TOOL = "/work/helpers/integers-build/x86_64_v3/step"

Words = np.ndarray  # of uint32


@dataclass(frozen=True)
class Registers:
    """Values by register number: vectors (states, 64) uint32, scalars (states,) uint32, and what of them is defined.

    Defined of vectors: (states, 4) uint64, bit l of byte b; of scalars: (states,) uint32. Missing ones: all.
    """

    vectors: Mapping[int, Words] = field(default_factory=dict)
    scalars: Mapping[int, Words] = field(default_factory=dict)
    vectors_defined: Mapping[int, Words] = field(default_factory=dict)
    scalars_defined: Mapping[int, Words] = field(default_factory=dict)


@dataclass(frozen=True)
class Stepped(Registers):
    """Registers after the instruction, and what it reported: (states,) counts, kinds as bits, the next instruction."""

    reports: Words = field(default_factory=lambda: np.zeros(0, np.uint32))
    kinds: Words = field(default_factory=lambda: np.zeros(0, np.uint32))
    following: Words = field(default_factory=lambda: np.zeros(0, np.uint32))


def step(text: str, before: Registers, vectors: Sequence[int] = (), scalars: Sequence[int] = ()) -> Stepped:
    """Execute one instruction on each state and read these registers; EXEC is full unless given."""
    count = len(next(iter([*before.vectors.values(), *before.scalars.values()])))
    decoded = decode_instruction(text)
    lists = (list(before.vectors), list(vectors), list(before.scalars), list(scalars))
    head = struct.pack("<I48s", 1, decoded.row.semantics.encode()) + bytes(4) + decoded.body
    head += struct.pack("<5I", count, *map(len, lists)) + b"".join(struct.pack(f"<{len(x)}I", *x) for x in lists)
    reply = subprocess.run([_TOOL], input=head + _packed(before, count), capture_output=True, check=True).stdout
    return _unpacked(reply, vectors, scalars)


def _packed(before: Registers, count: int) -> bytes:
    parts = []
    for index, words in before.vectors.items():
        whole = np.full((count, 4), ALL_LANES, np.uint64)
        parts += [_bytes(words, "<u4", count), _bytes(before.vectors_defined.get(index, whole), "<u8", count)]
    for index, words in before.scalars.items():
        whole = np.full(count, 0xFFFFFFFF, np.uint32)
        parts += [_bytes(words, "<u4", count), _bytes(before.scalars_defined.get(index, whole), "<u4", count)]
    return np.concatenate(parts, axis=1).tobytes()


def _bytes(words: Words, dtype: str, count: int) -> Words:
    return np.ascontiguousarray(words.astype(dtype)).reshape(count, -1).view(np.uint8)


def _unpacked(reply: bytes, vectors: Sequence[int], scalars: Sequence[int]) -> Stepped:
    dtype = [(f"v{i}", [("value", "<u4", LANES), ("defined", "<u8", 4)]) for i in vectors]
    dtype += [(f"s{i}", [("value", "<u4"), ("defined", "<u4")]) for i in scalars]  # type: ignore[misc]
    states = np.frombuffer(reply, np.dtype([*dtype, ("reports", "<u4"), ("kinds", "<u4"), ("next", "<u4"), ("state", "<u4")]))
    return Stepped(
        {i: states[f"v{i}"]["value"] for i in vectors},
        {i: states[f"s{i}"]["value"] for i in scalars},
        {i: states[f"v{i}"]["defined"] for i in vectors},
        {i: states[f"s{i}"]["defined"] for i in scalars},
        states["reports"],
        states["kinds"],
        states["next"],
    )
