"""The model of a user's file, with its inputs drawn again for each number, and the package that was written for it."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from exports.models.check.checking import Subject
from records.errors import UsageError

SEED = 42
_FAULTS = (
    *(ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, NameError, OSError),
    *(RuntimeError, SyntaxError, TypeError, ValueError),
)


def read_subject(package: Path, source: str, kernels_from: str) -> Subject:
    """Execute FILE:CLASS and import the package; UsageError where either is none."""
    module = import_package(package)
    facts = json.loads((package / "package.json").read_text(encoding="utf-8"))
    path, _, name = source.rpartition(":")
    file = Path(path)
    if not path or not file.is_file():
        raise UsageError(f"{source} names no class of a file: give FILE:CLASS, as model scan was given it")
    space = vars(_executed(file))
    if not callable(space.get("get_inputs")) or not callable(space.get(name)):
        raise UsageError(f"{file} must have {name} and get_inputs(), from which the inputs are drawn")
    device = torch.device("cuda" if torch.cuda.is_available() and kernels_from == "device" else "cpu")
    torch.manual_seed(SEED)
    words = space["get_init_inputs"]() if callable(space.get("get_init_inputs")) else []
    model = space[name](*words)
    model = model.to(device).eval() if isinstance(model, torch.nn.Module) else model
    names = tuple(kernel["name"] for kernel in facts["kernels"])
    return Subject(name, model, Draws(space["get_inputs"], device), module, names, kernels_from)


class Draws:
    """Draws inputs by number: what get_inputs gives, or the like where it gives the same each time."""

    def __init__(self, get_inputs: Any, device: torch.device) -> None:
        """Find out whether the numbers change what it gives."""
        self._get_inputs, self._device = get_inputs, device
        first, second = self._given(1), self._given(2)
        self._is_fixed = all(_same(a, b) for a, b in zip(tree_leaves(first), tree_leaves(second), strict=True))

    def __call__(self, number: int) -> Sequence[Any]:
        """Draw the inputs of this number."""
        inputs = self._given(number)
        return tree_map(_like, inputs) if self._is_fixed and number else inputs

    def _given(self, number: int) -> Sequence[Any]:
        torch.manual_seed(number)
        inputs = list(self._get_inputs())
        torch.manual_seed(number)
        moved = tree_map(lambda v: v.to(self._device) if isinstance(v, torch.Tensor) else v, inputs)
        return moved  # type: ignore[no-any-return]


def _same(first: Any, second: Any) -> bool:
    return torch.equal(first, second) if isinstance(first, torch.Tensor) else bool(first == second)


def _like(value: Any) -> Any:
    """Draw real numbers with a tensor's mean and spread; whole numbers stay, as they may be places or masks."""
    if not isinstance(value, torch.Tensor) or not value.is_floating_point() or value.numel() < 2:
        return value
    wide = value.float()
    return torch.empty_like(value).copy_(wide.mean() + wide.std() * torch.randn_like(wide))


def _executed(path: Path) -> ModuleType:
    """Execute the file as Python would import it: what stands beside it can be imported."""
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        return _imported(path.stem, path, None)
    finally:
        sys.path.remove(folder)


def import_package(folder: Path) -> ModuleType:
    """Import the package under its own name; UsageError where the folder holds none."""
    if not (folder / "package.json").is_file():
        raise UsageError(f"{folder} is no package that kernel-scientist model apply has written")
    return _imported(folder.resolve().name, folder / "__init__.py", folder)


def _imported(name: str, path: Path, folder: Path | None) -> ModuleType:
    folders = [str(folder)] if folder else None
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=folders)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is no Python file")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except _FAULTS as error:
        raise UsageError(f"{path} does not run: {type(error).__name__}: {error}") from None
    return module
