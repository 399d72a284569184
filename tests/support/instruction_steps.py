"""Single instructions on 64 lanes, executed by the interpreter's `step`; operands are arrays of any length."""

from __future__ import annotations

import io
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sandbox.machine.executor import executor
from sandbox.machine.image_layout import HEADER, MAGIC, NAME_BYTES
from sandbox.machine.instruction_decoder import decode_instruction
from tests.support.compiler_cache import COMPILED, toolchain

Array = npt.NDArray[Any]
LANES, SCALARS = 64, 1024  # scalar register n has the code SCALARS + n
VCC, EXEC = SCALARS + 106, SCALARS + 126
NEAREST, UP, DOWN, TO_ZERO = range(4)
_FIRST, _RESULT = 2, 20  # registers of the first source and of the result
_ALL = 0xFFFFFFFF


def mode(
    *, single: int = 0, double: int = 0, denormals: int = 15, dx10: int = 1, ieee: int = 1, overflow: int = 0
) -> int:
    """MODE's bits; `denormals` has two bits for single and two for double and half, `overflow` is FP16_OVFL."""
    return single | double << 2 | denormals << 4 | dx10 << 8 | ieee << 9 | overflow << 23


@cache
def _tool() -> Path:
    return executor(toolchain(), COMPILED)


def image(lines: Sequence[str]) -> bytes:
    """The program that these lines of assembly are, without a kernel."""
    decoded = [decode_instruction(line) for line in lines]
    names = list(dict.fromkeys(d.row.semantics for d in decoded))
    room = io.BytesIO(HEADER.pack(MAGIC, len(names), 0, 0, 0, len(decoded)))
    room.seek(0, io.SEEK_END)
    for name in names:
        room.write(name.encode().ljust(NAME_BYTES, b"\0"))
    for d in decoded:
        room.write(struct.pack("<I", names.index(d.row.semantics)) + d.body)
    return room.getvalue()


def run(lines: Sequence[str], inputs: dict[int, tuple[Array, Array]], outputs: Sequence[int]) -> tuple[Any, Array]:
    """Each output's (values, masks of defined bits), and where something was reported.

    Vector registers are (states, 64) of uint32, scalar ones (states,).
    """
    count = len(next(iter(inputs.values()))[0])
    head = np.array([count, len(inputs), len(outputs), *inputs, *outputs], "<u8").tobytes()
    parts = [np.ascontiguousarray(x.reshape(count, -1), "<u4") for pair in inputs.values() for x in pair]
    with tempfile.TemporaryDirectory() as folder:
        program, states, results = (Path(folder, name) for name in ("program", "states", "results"))
        program.write_bytes(image(lines))
        states.write_bytes(head + np.concatenate(parts, axis=1).tobytes())
        subprocess.run([_tool(), "step", program, states, results], check=True)
        reply = np.frombuffer(results.read_bytes(), "<u4").reshape(count, -1)
    registers, start = [], 0
    for code in outputs:
        width = LANES if code < SCALARS else 1
        registers.append((reply[:, start : start + width], reply[:, start + width : start + 2 * width]))
        start += 2 * width
    return registers, reply[:, -1].astype(bool)


def _states(values: Array) -> Array:
    rows = -(-len(values) // LANES)
    return np.concatenate([values, np.repeat(values[-1:], rows * LANES - len(values))]).reshape(rows, LANES)


def words(values: Array) -> list[Array]:
    """An array as the 32-bit words that registers hold: one or two arrays of uint32; halves stand in lower halves."""
    size = values.dtype.itemsize
    bits = np.ascontiguousarray(values).view(f"u{size}").astype(np.uint64)
    return [(bits >> np.uint64(32 * k)).astype(np.uint32) for k in range(max(1, size // 4))]


def evaluate(text: str, *operands: Array, result: Any = np.uint32, setting: int | None = None, old: int = 0) -> Array:
    """The result of `text` on each element of the operands.

    `{0}`, `{1}` and `{2}` in the text stand for the sources, `{d}` for the result, whose registers held `old` before.
    """
    count, names, inputs, register = len(operands[0]), {}, {}, _FIRST
    for index, operand in enumerate(operands):
        parts = words(operand)
        names[str(index)] = f"v{register}" if len(parts) == 1 else f"v[{register}:{register + 1}]"
        for k, part in enumerate(parts):
            inputs[register + k] = _states(part)
        register += 2
    width = max(1, np.dtype(result).itemsize // 4)
    lines = [_named(line, names, width) for line in text.split("\n")]
    outputs = range(_RESULT, _RESULT + width)
    for k in outputs:
        inputs[k] = np.full((-(-count // LANES), LANES), old, np.uint32)
    if setting is not None:
        lines.insert(0, f"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 32), {setting:#x}")
    defined = {k: (x, np.full_like(x, _ALL)) for k, x in inputs.items()}
    registers, _ = run(lines, defined, outputs)
    bits = sum(values.ravel()[:count].astype(np.uint64) << np.uint64(32 * k) for k, (values, _) in enumerate(registers))
    size = np.dtype(result).itemsize
    return np.asarray(bits).astype(f"u{size}").view(result)


def _named(line: str, names: dict[str, str], width: int) -> str:
    target = f"v{_RESULT}" if width == 1 else f"v[{_RESULT}:{_RESULT + 1}]"
    for key, name in {**names, "d": target}.items():
        line = line.replace("{" + key + "}", name)
    return line
