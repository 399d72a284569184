"""Instructions, executed on given registers and memory by the machine's interpreter: 64 lanes, many states a call."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sandbox.machine.decoded_program import decode_listing
from sandbox.machine.executor import executor
from tests.support.compiler_cache import COMPILED, toolchain

LANES = 64
EXEC, VCC, SCC, M0 = 126, 106, 128, 124
ALL_LANES, WORD = (1 << 64) - 1, 0xFFFFFFFF
_SCALARS = 1024  # code of s0 in the file of states
_MEMORIES = {"buffer": 2048, "lds": 2049, "scratch": 2050}  # codes; of scratch, lane after lane
MEMORY_BYTES, BUFFER = 4096, 1 << 40  # of each memory; guest address of the buffer

Words = npt.NDArray[np.uint32]
Bytes = npt.NDArray[np.uint8]
Masks = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Registers:
    """Values by register number: vectors (states, 64) and scalars (states,) of uint32, and what of them is defined.

    Defined of vectors: (states, 4) uint64, bit l of byte b; of scalars: (states,) uint32. Missing ones: all.
    """

    vectors: Mapping[int, Words] = field(default_factory=dict)
    scalars: Mapping[int, Words] = field(default_factory=dict)
    vectors_defined: Mapping[int, Masks] = field(default_factory=dict)
    scalars_defined: Mapping[int, Words] = field(default_factory=dict)
    # By name: buffer, lds, scratch; (states, 4096) of uint8, and 1 where a byte is defined (missing: all of it).
    memory: Mapping[str, Bytes] = field(default_factory=dict)
    memory_defined: Mapping[str, Bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Stepped(Registers):
    """Registers after the instructions, and in which states something was reported."""

    reports: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))


@cache
def _program() -> Path:
    return executor(toolchain(), COMPILED)


def step(text: str, before: Registers, vectors: Sequence[int] = (), scalars: Sequence[int] = ()) -> Stepped:
    """Execute one or more lines of assembly on each state and read these registers, and the memories that are given.

    EXEC is full unless given.
    """
    count = len(next(iter([*before.vectors.values(), *before.scalars.values()])))
    full = np.full(count, WORD, np.uint32)
    inputs = {EXEC: full, EXEC + 1: full} | dict(before.scalars)
    memories = [_MEMORIES[name] for name in before.memory]
    codes = [*before.vectors, *(_SCALARS + i for i in inputs), *memories]
    outputs = [*vectors, *(_SCALARS + i for i in scalars), *memories]
    parts = [
        *(_vector(before, i, count) for i in before.vectors),
        *(np.stack([inputs[i], before.scalars_defined.get(i, full)], axis=1).astype(np.uint32) for i in inputs),
        *(_memory(before, name).view("<u4") for name in before.memory),
    ]
    head = np.array([count, len(codes), len(outputs), *codes, *outputs], np.uint64)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        decode_listing(text + "\n").write_image(folder / "program")
        (folder / "states").write_bytes(head.tobytes() + np.concatenate(parts, axis=1).astype("<u4").tobytes())
        subprocess.run([_program(), "step", folder / "program", folder / "states", folder / "results"], check=True)
        return _read((folder / "results").read_bytes(), vectors, scalars, tuple(before.memory))


def expanded(defined: Masks) -> Words:
    """Bits of each lane, (states, 64), that (states, 4) masks of bytes call defined."""
    lanes = np.arange(LANES, dtype=np.uint64)
    bits = [(defined[:, b, None] >> lanes & np.uint64(1)).astype(np.uint32) * np.uint32(255 << 8 * b) for b in range(4)]
    words: Words = bits[0] | bits[1] | bits[2] | bits[3]
    return words


def _vector(before: Registers, index: int, count: int) -> Words:
    defined = before.vectors_defined.get(index, np.full((count, 4), ALL_LANES, np.uint64))
    return np.concatenate([before.vectors[index], expanded(defined)], axis=1)


def _memory(before: Registers, name: str) -> Bytes:
    content = before.memory[name]
    return np.concatenate([content, before.memory_defined.get(name, np.ones_like(content))], axis=1)


def _read(results: bytes, vectors: Sequence[int], scalars: Sequence[int], memories: Sequence[str]) -> Stepped:
    fields = [(f"v{i}", "<u4", (2, LANES)) for i in vectors] + [(f"s{i}", "<u4", (2,)) for i in scalars]
    fields += [(name, "u1", (2, MEMORY_BYTES)) for name in memories]
    states = np.frombuffer(results, np.dtype([*fields, ("reported", "<u4")]))
    return Stepped(
        {i: states[f"v{i}"][:, 0] for i in vectors},
        {i: states[f"s{i}"][:, 0] for i in scalars},
        {i: _masks(states[f"v{i}"][:, 1]) for i in vectors},
        {i: states[f"s{i}"][:, 1] for i in scalars},
        {name: states[name][:, 0] for name in memories},
        {name: states[name][:, 1] for name in memories},
        states["reported"] != 0,
    )


def _masks(bits: Words) -> Masks:
    lanes = np.arange(LANES, dtype=np.uint64)
    return np.stack([((bits >> 8 * b & 255).astype(np.uint64) // 255 << lanes).sum(axis=1) for b in range(4)], axis=1)
