"""Exports of shipped kernels, and a stand-in for the part of PyTorch that the exported files ask for when imported."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from exports.launcher import Launcher
from exports.provenance import Provenance
from exports.torch_operator import TorchOperator
from sandbox.candidate.prepare import prepare
from sandbox.target import load_target
from tasks.loader import load_task

KNOWN = Provenance(
    "a_task", "AMD Instinct MI300X (gfx942)", "ab" * 32, "r1, attempt g1", "in the lab", 12.5, "predicted"
)


def operator(name: str, target: str = "mi300x", source: str = "") -> TorchOperator:
    """The operator of a task's first seed, or of another source."""
    task, gpu = load_task(name, target), load_target(target)
    text = source or task.seeds[0].read_text(encoding="utf-8")
    return TorchOperator(Launcher(prepare(text, task), gpu), gpu)


class Held(np.ndarray[Any, Any]):
    """An array with the few methods of a tensor that the exported Python calls."""

    def new_empty(self, shape: tuple[int, ...], dtype: str) -> Held:
        return np.empty(shape, dtype).view(Held)

    def contiguous(self) -> Held:
        return np.ascontiguousarray(self).view(Held)

    def t(self) -> Held:
        return self.T

    def to(self, dtype: str) -> Held:
        return self.astype(dtype)


def held(values: Any, dtype: str = "float32") -> Held:
    return np.asarray(values, dtype).view(Held)


@contextmanager
def torch_with(compiled: Callable[..., Any]) -> Iterator[list[dict[str, Any]]]:
    """A stand-in for `torch` whose `load_inline` records its arguments and gives every function this body."""
    calls = list[dict[str, Any]]()

    def load_inline(**options: Any) -> SimpleNamespace:
        calls.append(options)
        return SimpleNamespace(**dict.fromkeys(options["functions"], compiled))

    names = ["torch", "torch.nn", "torch.utils", "torch.utils.cpp_extension"]
    before = {name: sys.modules.get(name) for name in names}
    modules = {name: ModuleType(name) for name in names}
    modules["torch"].nn = modules["torch.nn"]  # type: ignore[attr-defined]
    modules["torch.nn"].Module = object  # type: ignore[attr-defined]
    modules["torch.utils.cpp_extension"].load_inline = load_inline  # type: ignore[attr-defined]
    modules["torch"].version = SimpleNamespace(hip="7.0", cuda="13.0")  # type: ignore[attr-defined]
    for kind in ("float32", "float16", "int32", "int64"):
        setattr(modules["torch"], kind, kind)
    sys.modules.update(modules)
    try:
        yield calls
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


def run(text: str) -> dict[str, Any]:
    """The names that a Python text defines."""
    space: dict[str, Any] = {}
    exec(compile(text, "exported.py", "exec"), space)
    return space
