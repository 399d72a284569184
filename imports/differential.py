"""A translation beside PyTorch in double precision, at sizes that it was not made from. In the import's process."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from imports.graph import Graph
from imports.numpy_text import reference_text
from imports.refusal import FAULTS, ImportDiffers, ImportUnfitted
from imports.results import results_of
from imports.source_file import Instance
from tasks.loader import functions_of
from tasks.task import Case

CLOSE = 1e-9
PLACES = ("argmax", "argmin", "sort", "topk", "max", "min", "median")  # their places are free where values are equal
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 6.0, -3.0)  # ends of pieces, and halves that are rounded
WRONG = "its translation to NumPy does not give what PyTorch gives in double precision"
UNWRITTEN = "its result holds memory of torch.empty that nothing has written"


def refuse_difference(
    graph: Graph, drawn: Graph | None, instance: Instance, config: Mapping[str, int], scalars: Mapping[str, float]
) -> None:
    """ImportRefused where they differ: on the file's own inputs, and on some of both signs, whatever it draws itself.

    Weights are moved off their initial values, since a weight of ones or zeros would hide that it is left out.
    """
    text = reference_text(graph, drawn, list(config), "plain", "check", list(scalars))
    compute = functions_of(Path("reference.py"), text, hashlib.sha256(text.encode()).hexdigest())["reference"]
    generator = torch.Generator().manual_seed(1)
    state = {n: moved(t) for n, t in instance.state.items()}
    are_free = any(node.op.split(".")[1:2] == [name] for node in graph.nodes for name in PLACES)
    for arguments in (instance.arguments, tuple(_wide(a, generator, not are_free) for a in instance.arguments)):
        case = Case("", dict(config), 0, scalars=scalars)
        _compare(graph, compute, instance, state, tuple(doubled(a) for a in arguments), case)


def _compare(
    graph: Graph,
    compute: Any,
    instance: Instance,
    state: Mapping[str, torch.Tensor],
    arguments: tuple[Any, ...],
    case: Case,
) -> None:
    inputs = {f"w_{n.replace('.', '_')}": t.clone().numpy() for n, t in state.items()}
    for name, value in zip(instance.names, arguments, strict=True):
        if isinstance(value, torch.Tensor):
            inputs[name] = value.clone().numpy()
    updated = {n: t.clone() for n, t in state.items()}
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad(), Double():
            results = instance.call(updated, arguments)
    except FAULTS as error:
        raise ImportUnfitted(f"it does not run in double precision: {type(error).__name__}: {error}"[:300]) from None
    finally:
        torch.set_default_dtype(torch.float32)
    want = [t.numpy() for t in results_of(results)]
    news = {f"new_w_{n.replace('.', '_')}": t.numpy() for n, t in updated.items()}
    computed = compute(inputs, case)
    written_inputs = {
        n: a.numpy() for n, a in zip(instance.names, arguments, strict=True) if isinstance(a, torch.Tensor)
    }
    for index, (spec, _) in enumerate(graph.outputs):
        right = want[index] if index < len(want) else written_inputs.get(spec.initial or spec.name, news.get(spec.name))
        assert right is not None
        if not agree(computed[spec.name], right.reshape(1) if spec.shape == (1,) and right.size == 1 else right):
            raise ImportDiffers(UNWRITTEN if _shows_unwritten(graph, computed[spec.name], right) else WRONG)


def _shows_unwritten(graph: Graph, computed: Any, right: Any) -> bool:
    """Tell whether a value is the one by which the translation marks memory that nothing has written."""
    asks = any(".empty" in node.op or "_empty" in node.op for node in graph.nodes)
    is_real = asks and np.asarray(computed).dtype.kind == "f" and np.shape(computed) == np.shape(right)
    # PyTorch's own memory may hold a few NaNs as well.
    return is_real and bool((np.isnan(computed) & ~np.isnan(right)).any())


class Double(torch.utils._python_dispatch.TorchDispatchMode):  # type: ignore[misc]
    """Gives a file double precision for every real type that it asks for: the reference rounds to none between."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        options = dict(kwargs or {})
        dtype = options.get("dtype")
        if isinstance(dtype, torch.dtype) and dtype.is_floating_point:
            options["dtype"] = torch.float64
        return func(*args, **options)


def agree(mine: Any, right: Any) -> bool:
    """Tell whether both are the same numbers to nine digits of the largest, infinities and NaN included."""
    if mine.shape != right.shape:
        return False
    right = right.astype(np.float64)
    finite = np.isfinite(right)
    if not np.array_equal(mine[~finite], right[~finite], equal_nan=True):
        return False
    scale = max(1e-30, float(np.abs(right[finite]).max(initial=0.0)))
    return bool(np.abs(mine - right)[finite].max(initial=0.0) <= CLOSE * scale)


def doubled(value: Any) -> Any:
    """Give a real tensor in double precision; other values as they are."""
    if not isinstance(value, torch.Tensor):
        return value
    return value.to(torch.float64, copy=True) if value.is_floating_point() else value.clone()  # it may be written into


def moved(tensor: torch.Tensor) -> torch.Tensor:
    """Make a weight a little larger in each element, in double precision, so that a variance stays one."""
    if not tensor.is_floating_point():
        return tensor
    generator = torch.Generator().manual_seed(1)
    return tensor.double() + 0.25 * torch.rand(tensor.shape, generator=generator, dtype=torch.float64)


def _wide(value: Any, generator: torch.Generator, with_ties: bool) -> Any:
    """Numbers of both signs and some special ones in the place of a real argument."""
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return value
    numbers = 3 * torch.randn(value.shape, generator=generator, dtype=torch.float64)
    if with_ties and numbers.numel():
        positions = torch.randint(numbers.numel(), (len(SPECIAL),), generator=generator)
        numbers.view(-1)[positions] = torch.tensor(SPECIAL, dtype=torch.float64)
    return numbers
