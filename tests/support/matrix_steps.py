"""Matrix instructions of the machine, executed one by one on registers that a test gives."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sandbox.machine.executor import level
from sandbox.machine.instruction_decoder import decode_instruction
from tests.support.interpreter_program import interpreter_program
from tests.support.matrix_layouts import NUMPY, oracle, types_of

DRIVER = Path(__file__).with_name("matrix_steps.cpp")
UNITS = ("matrix", "sparse_matrix", "matrix_operands", "matrix_exact")
WINDOW = 96  # registers of a step; as in matrix_steps.cpp
A_AT, B_AT, INDEX_AT, C_AT, D_AT = 0, 8, 16, 32, 64
ALL = (1 << 64) - 1


@cache
def program(architecture: str) -> Path:
    """The program of matrix_steps.cpp."""
    return interpreter_program(DRIVER, UNITS, f"-march={architecture}")


def processors() -> list[str]:
    """The plainest architecture and the best one that this machine runs."""
    return sorted({"x86_64", level()})


def listed() -> list[str]:
    """The names of semantics that there are."""
    process = subprocess.run([program(processors()[-1]), "list"], capture_output=True, text=True, check=True)
    return process.stdout.split()


def dwords(name: str) -> tuple[int, int, int]:
    """Registers of A, B and D."""
    about, (type_a, type_b) = oracle()[name], types_of(name)
    stored = about["k"] // 2 if "smfmac" in name else about["k"]
    m, blocks = about["m"], about["blocks"]
    a = m * stored * blocks * np.dtype(NUMPY[type_a]).itemsize // 256
    b = m * about["k"] * blocks * np.dtype(NUMPY[type_b]).itemsize // 256
    return max(a, 1), max(b, 1), m * m * blocks // 64 * (2 if type_a == "f64" else 1)


@dataclass
class Registers:
    """A window of a wave's vector registers: values [WINDOW, 64], defined bytes [WINDOW, 4] as masks of lanes."""

    values: npt.NDArray[np.uint32] = field(default_factory=lambda: np.zeros((WINDOW, 64), np.uint32))
    defined: npt.NDArray[np.uint64] = field(default_factory=lambda: np.full((WINDOW, 4), ALL, np.uint64))
    origin: npt.NDArray[np.uint32] = field(default_factory=lambda: np.arange(1000, 1000 + WINDOW, dtype=np.uint32))
    findings: tuple[int, int, int, int] = (0, 0, 0, 0)  # how many; kind, lanes and detail of the last one

    def put(self, first: int, lanes: npt.NDArray[np.uint8]) -> None:
        """Set registers from `at` on to the bytes of all lanes, lane after lane."""
        values = np.ascontiguousarray(lanes).view(np.uint32).reshape(64, -1).T
        self.values[first : first + len(values)] = values

    def get(self, first: int, count: int) -> npt.NDArray[np.uint8]:
        """The bytes of all lanes, lane after lane."""
        return np.ascontiguousarray(self.values[first : first + count].T).view(np.uint8).reshape(-1)


@dataclass(frozen=True)
class Step:
    """One instruction: its operands lie at A_AT, B_AT, INDEX_AT and `c` of the window, its result at `d`."""

    name: str
    registers: Registers
    c: int = C_AT
    d: int = C_AT
    constant: str | None = None  # in place of C's registers
    cbsz: int = 0
    abid: int = 0
    blgp: int = 0
    negated: tuple[bool, bool, bool] = (False, False, False)  # A, B, C
    exec: int = ALL
    present: int = ALL
    is_exact: bool = False
    base: int = 0  # the window's first register: 256 for a0

    @property
    def text(self) -> str:
        """The instruction as the compiler writes it."""
        a, b, d = dwords(self.name)
        third = self.constant or self._operand(self.c, d)
        if "smfmac" in self.name:
            third = self._operand(INDEX_AT, 1)
        operands = self._operand(self.d, d), self._operand(A_AT, a), self._operand(B_AT, b), third
        options = {"cbsz": self.cbsz, "abid": self.abid, "blgp": self.blgp}
        modifiers = [f"{key}:{value}" for key, value in options.items() if value]
        if any(self.negated):
            modifiers.append(f"neg:[{','.join(str(int(flag)) for flag in self.negated)}]")
        return " ".join((self.name, ", ".join(operands), *modifiers))

    def _operand(self, first: int, count: int) -> str:
        file = "a" if self.base and first != INDEX_AT else "v"
        return f"{file}{first}" if count == 1 else f"{file}[{first}:{first + count - 1}]"

    def encoded(self) -> bytes:
        """The record of matrix_steps.cpp."""
        decoded, of = decode_instruction(self.text), self.registers
        head = struct.pack("<48s4x132s8Q", decoded.row.semantics.encode(), decoded.body, self.exec, self.present,
                           self.is_exact, self.base, 0, 0, 0, 0)  # fmt: skip
        return head.ljust(256, b"\0") + of.values.tobytes() + of.defined.tobytes() + of.origin.tobytes()


def run(steps: Sequence[Step], architecture: str | None = None) -> list[Registers]:
    """The registers after each step; each begins with its own."""
    records = b"".join(step.encoded() for step in steps)
    process = subprocess.run(
        [program(architecture or processors()[-1])], input=records, capture_output=True, check=True
    )
    size = len(records) // len(steps)
    return [_decoded(process.stdout[i * size : (i + 1) * size]) for i in range(len(steps))]


def _decoded(record: bytes) -> Registers:
    findings = struct.unpack("<4Q", record[216:248])
    values, defined, origin = 256, 256 + WINDOW * 256, 256 + WINDOW * 288
    return Registers(
        np.frombuffer(record[values:defined], np.uint32).reshape(WINDOW, 64).copy(),
        np.frombuffer(record[defined:origin], np.uint64).reshape(WINDOW, 4).copy(),
        np.frombuffer(record[origin:], np.uint32).copy(),
        (findings[0], findings[1], findings[2], findings[3]),
    )
