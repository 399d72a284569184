"""Incumbents as calls: a shared object by ctypes, PyTorch's functions on this processor."""

from __future__ import annotations

import ctypes
import subprocess
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from app.beating.incumbent_names import Incumbent
from app.beating.race_calls import RaceMemory, incumbent_call
from records.errors import UsageError
from tasks.loader import load_task
from tasks.origin import Origin

C = """
int transpose_launch(const float* x, float* y, long long rows, long long cols, void* scratch, void* stream) {
    for (long long i = 0; i < rows; ++i) for (long long j = 0; j < cols; ++j) y[j * rows + i] = x[i * cols + j];
    return stream != 0;
}
"""
ORIGINAL = "def doubled(y, times=2.0, *, z):\n    return y * times + z\n"


def memory_of(**arrays: Any) -> Any:
    """A race's memory, on this processor."""
    buffers = {name: SimpleNamespace(address=array.ctypes.data) for name, array in arrays.items()}
    scratch = SimpleNamespace(data_ptr=lambda: 0)
    return SimpleNamespace(
        buffers=buffers, tensors=arrays, torch=SimpleNamespace(zeros=lambda *a, **k: scratch, uint8=0)
    )


def test_a_shared_object_is_called_with_buffers_and_dims(tmp_path: Path) -> None:
    (tmp_path / "mine.c").write_text(C, encoding="utf-8")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "mine.so", "mine.c"], cwd=tmp_path, check=True)
    task = load_task("transpose")
    case = task.tests[0]
    x = np.arange(case.dims["rows"] * case.dims["cols"], dtype=np.float32).reshape(case.dims["rows"], -1)
    y = np.zeros((case.dims["cols"], case.dims["rows"]), np.float32)
    mine = Incumbent("mine.so", "shared object", str(tmp_path / "mine.so"))
    incumbent_call(mine, task, case, memory_of(x=x, y=y))()
    assert np.array_equal(y, x.T)
    with pytest.raises(UsageError, match="no function row_softmax_launch"):
        softmax = load_task("row_softmax")
        incumbent_call(mine, softmax, softmax.tests[0], memory_of(x=x, y=y))
    assert ctypes.sizeof(ctypes.c_longlong) == 8


def test_an_expression_knows_inputs_dims_and_the_original_its_parameters(tmp_path: Path) -> None:
    task = load_task("transpose")
    case, x = task.tests[0], np.ones((2, 2), np.float32)
    call = incumbent_call(Incumbent("a", "library", "x * rows"), task, case, memory_of(x=x, y=x))
    assert np.array_equal(call(), x * case.dims["rows"])
    with pytest.raises(UsageError, match=r"--beat 'torch\.compile:"):
        incumbent_call(Incumbent("torch-eager", "torch-eager"), task, case, memory_of(x=x, y=x))
    (tmp_path / "original.py").write_text(ORIGINAL, encoding="utf-8")
    origin = Origin("ops.py", "pytorch", file="original.py", parameters="y: x, times=2.0, *, z: y")
    imported = replace(task, title="doubled", folder=tmp_path, provenance=origin)
    called = incumbent_call(Incumbent("torch-eager", "torch-eager"), imported, case, memory_of(x=x, y=x))
    assert np.array_equal(called(), x * 3)


class HostLibrary:
    """Copies in the memory of this processor, as a driver's library makes them on a GPU."""

    def call(self, name: str, target: Any, *words: Any) -> None:
        if name == "copy_in":
            ctypes.memmove(target.value, words[0], words[1].value)
        else:
            assert name == "fill"
            ctypes.memset(target.value, words[0].value, 4 * words[1].value)


class HostTorch:
    """PyTorch that has no GPU."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._torch, name)
        if name not in ("zeros", "ones", "empty"):
            return found
        return lambda *shape, device, **options: found(*shape, **options)


@pytest.mark.parametrize("name", ["row_softmax", "transpose", "fp8_block_gemm"])
def test_pytorch_sees_the_task_s_buffers_and_other_results_are_told_apart(name: str) -> None:
    torch = pytest.importorskip("torch")
    device: Any = SimpleNamespace(driver=HostLibrary(), event=object)
    task = load_task(name, "h200")
    case = task.tests[0]
    memory = RaceMemory(HostTorch(torch), device, task, case, 1 << 12)
    output = task.outputs[0].name
    inputs = {spec.name: memory.tensors[spec.name].double().numpy() for spec in task.inputs}
    right = torch.from_numpy(np.asarray(task.reference(inputs, case)[output]))

    def ours() -> None:
        memory.tensors[output].copy_(right)

    assert memory.apart(ours, lambda: right.clone()) < 0.01
    assert memory.apart(ours, lambda: right + right.abs().max()) > 0.1
    if name == "row_softmax":
        softmax = incumbent_call(Incumbent("eager", "torch-eager", "torch.softmax(x, 1)"), task, case, memory)
        assert memory.apart(ours, softmax) < 1e-5
    with pytest.raises(UsageError, match="and the task's"):
        memory.apart(ours, lambda: right[:1])
