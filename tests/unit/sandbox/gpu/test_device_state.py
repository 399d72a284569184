"""The rule on state, in a child whose kernels are Python and whose device variables are bytes."""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from records.evaluation import Finding
from sandbox.candidate.prepare import prepare
from sandbox.gpu.child_link import GpuSlot
from sandbox.gpu.child_messages import CallRequest, ChainRequest, PresetRequest, VariablesRequest
from sandbox.gpu.child_process import Called, Chained, ChildProcess
from sandbox.gpu.compile.gpu_compiler import DeviceBuild
from sandbox.gpu.compiled import CompiledCandidate, LoadedCandidate, layout_of
from sandbox.gpu.device_state import ChainRule, DeviceState, StateKept
from sandbox.gpu.memory_file import Raw
from tasks.loader import load_task
from tests.support.keeping_kernels import HONEST, KEEPING, WORDS, Kernel, Memory, counts_elsewhere

SOURCE = '/*+++\n{extra}[[launch]]\nkernel = "k"\ngrid = ["1"]\nblock = ["64"]\nargs = ["y"]\n+++*/\n'
VALUES = (11, 21)  # in the two bases; their last digits are alike


class Simulated(ChildProcess):
    """A child whose candidate is a Python function; the first word of its variables is 7 at first."""

    def __init__(self, kernel: Kernel) -> None:
        self.slot, self.noise_seed, self.kernel = GpuSlot("amd", 0), 0, kernel
        self.words, self.other, self.calls = self.first(), dict[str, int](), 0
        self.sets = 16

    def first(self) -> list[int]:
        return [7, *[0] * (WORDS - 1)]

    def run(self, seed: int) -> int:
        self.calls += 1
        memory = Memory(self.words, seed, self.other)
        value = self.kernel(memory)
        self.words = [word & 0xFFFFFFFF for word in memory.variables]
        return value

    def call(self, request: CallRequest, timeout_s: float) -> Called:
        if request.is_fresh:
            self.words = self.first()
            self.other.clear()
        value = self.run(VALUES[(request.seed ^ request.number) & 1])
        outputs = {"y": np.frombuffer(struct.pack("<q", value), np.uint8)} if request.outputs else {}
        return Called(0, outputs, zlib.crc32(str(value).encode()))

    def chain(self, request: ChainRequest, timeout_s: float) -> Chained:
        self.words = self.first()
        values = [self.run(VALUES[(seed ^ n) & 1]) for seed in request.seeds for n in range(self.sets)]
        outputs = [{"y": np.frombuffer(struct.pack("<q", value), np.uint8)} for value in values if request.outputs]
        return Chained(0, tuple(zlib.crc32(str(value).encode()) for value in values), tuple(outputs))

    def variables(self, request: VariablesRequest, nbytes: int) -> Raw:
        if request.is_reset:
            self.words = self.first()
        return np.frombuffer(struct.pack(f"<{WORDS}I", *self.words), np.uint8)

    def preset(self, request: PresetRequest, data: Raw) -> None:
        self.words = list(struct.unpack(f"<{WORDS}I", data.tobytes()))


@pytest.fixture(scope="module")
def task() -> Iterator[Any]:
    yield load_task(Path(__file__).parents[3] / "kernels" / "exploits" / "tasks" / "scale")


def judge(task: Any, kernel: Kernel, is_free: bool = False, has_variables: bool = True) -> str:
    """The finding's kind, or nothing."""
    child = Simulated(kernel)
    extra = "nondeterministic = true\n" if is_free else ""
    variables = (("state", 4 * WORDS),) if has_variables else ()
    build = DeviceBuild((), b"", "", (), variables, "", 0.0)
    compiled = CompiledCandidate(prepare(SOURCE.format(extra=extra), task), build)
    loaded = LoadedCandidate(child, "B", compiled, random.Random(3))

    def grade(content: int, outputs: Mapping[str, Raw]) -> Sequence[Finding]:
        value = struct.unpack("<q", outputs["y"].tobytes())[0]
        return () if value == 3 * VALUES[content] else (Finding("wrong_result", "other than the reference"),)

    case = task.tests[0]
    state = DeviceState(loaded, case, layout_of(task, case, compiled), child.sets, grade, ChainRule())
    try:
        state.check()
    except StateKept as state_fault:
        assert state_fault.finding.case == case.name or state_fault.finding.kind == "wrong_result"
        return state_fault.finding.kind
    assert child.calls >= ChainRule().calls
    return ""


@pytest.mark.parametrize("is_free", [False, True])
@pytest.mark.parametrize("kernel", HONEST, ids=lambda kernel: kernel.__name__)
def test_a_kernel_that_keeps_nothing_passes(task: Any, kernel: Kernel, is_free: bool) -> None:
    assert [judge(task, kernel, is_free) for _ in range(8)] == [""] * 8


@pytest.mark.parametrize("is_free", [False, True])
@pytest.mark.parametrize("number", range(len(KEEPING)))
def test_a_kernel_that_keeps_something_is_found(task: Any, number: int, is_free: bool) -> None:
    assert judge(task, KEEPING[number], is_free) in ("nondeterministic", "wrong_result")


@pytest.mark.parametrize("is_free", [False, True])
@pytest.mark.parametrize("n", [7, 13, 100])
@pytest.mark.parametrize("is_from_there_on", [False, True])
def test_memory_without_a_name_shows_in_calls_in_a_row(
    task: Any, n: int, is_from_there_on: bool, is_free: bool
) -> None:
    kernel = counts_elsewhere(n, is_from_there_on)
    assert judge(task, kernel, is_free, has_variables=False) in ("nondeterministic", "wrong_result")
