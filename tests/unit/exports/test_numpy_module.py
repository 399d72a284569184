"""The module for NumPy: its function checks shapes and hands all to the compiled half, which is a stand-in here."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from exports.launcher import Launcher
from exports.numpy_module import numpy_module
from records.errors import UsageError
from sandbox.candidate.prepare import prepare
from sandbox.target import load_target
from tasks.loader import load_task
from tasks.origin import Origin
from tests.support.exports import KNOWN


def module_of(name: str, parameters: str = "", target: str = "mi300x") -> str:
    task, gpu = load_task(name, target), load_target(target)
    if parameters:
        task = replace(task, provenance=Origin("f.py", form="numpy", parameters=parameters))
    launcher = Launcher(prepare(task.seeds[0].read_text(encoding="utf-8"), task), gpu)
    return numpy_module(launcher, gpu, KNOWN)


class Library:
    """The compiled half: it doubles what it is given, as a kernel would."""

    def __init__(self, code: int = 0) -> None:
        self.code, self.calls = code, list[tuple[Any, ...]]()

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any) -> int:
            self.calls.append(arguments)
            x, y, rows, cols = arguments[:4]
            count = rows.value * cols.value
            source, answer = (ctypes.cast(p, ctypes.POINTER(ctypes.c_float)) for p in (x, y))
            for i in range(count):
                answer[i] = 2 * source[i]
            return self.code

        return call


def space_of(text: str, library: Library) -> dict[str, Any]:
    space: dict[str, Any] = {}
    exec(compile(text, "module", "exec"), space)
    space["_library"] = lambda: library
    return space


def test_arrays_go_in_and_come_back_under_the_originals_parameters() -> None:
    library = Library()
    space = space_of(module_of("row_softmax", "the_x: x, axis=-1"), library)
    x = np.arange(6, dtype=np.float64).reshape(2, 3)
    assert np.array_equal(space["row_softmax"](the_x=x), 2 * x.astype(np.float32))
    assert [a.value for a in library.calls[0][2:4]] == [2, 3]
    for wrong in ({"the_x": x[0]}, {"the_x": x, "axis": 0}):
        with pytest.raises(ValueError, match=r"axes|frozen"):
            space["row_softmax"](**wrong)
    with pytest.raises(RuntimeError, match="error 7"):
        space_of(module_of("row_softmax"), Library(7))["row_softmax"](x)


@pytest.mark.parametrize(("target", "compiler"), [("mi300x", "hipcc"), ("h200", "nvcc")])
def test_the_compiled_half_holds_the_kernel_its_launcher_and_the_call(target: str, compiler: str) -> None:
    text = module_of("scan", target=target)
    assert f'["{compiler}"' in text.replace("'", '"')
    assert 'extern "C" int scan_call(' in text and "scan_launch(gpu_[0]" in text


def test_types_that_numpy_lacks_are_refused() -> None:
    with pytest.raises(UsageError, match="--as hip"):
        module_of("bf16_gemm")
