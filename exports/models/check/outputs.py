"""Outputs of a model before and after on drawn inputs, with float64 as the truth and eager's error as the yardstick."""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from exports.models.check.model_verdict import OutputCheck

RMS, MOST = 1.5, 2.0  # of eager's error
RULE = (
    f"on every draw the root mean square error of each output is at most {RMS} times that of eager, and its greatest "
    f"error at most {MOST} times, or both are below half a unit in the last place of the output's type, or below four "
    "of float32"
)
_NARROW = (torch.float32, torch.float16, torch.bfloat16)
FEW_UNITS = 4  # of float32, in which kernels compute: two right ones may differ so in the order of their sums
NEW_TOKENS = 16


class InDouble(TorchDispatchMode):  # type: ignore[misc]
    """Computes in float64 what the model asks for in a narrower real type; fp8 is kept, it is what a model means."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call the operator with every narrow type widened."""
        return func(*tree_map(_widened, args), **tree_map(_widened, kwargs or {}))


def _widened(value: Any) -> Any:
    if isinstance(value, torch.dtype):
        return torch.float64 if value in _NARROW else value
    return value.double() if isinstance(value, torch.Tensor) and value.dtype in _NARROW else value


def fits(model: Any, inputs: Sequence[Any]) -> bool:
    """Tell whether a copy of the model in float64 fits into the device's memory."""
    tensors = [t for t in (*model.parameters(), *model.buffers(), *tree_leaves(inputs)) if isinstance(t, torch.Tensor)]
    needed_bytes = 24 * sum(t.numel() for t in tensors)  # the copy, and as much again for what it computes
    devices = {t.device for t in tensors if t.device.type == "cuda"}
    return all(torch.cuda.mem_get_info(device)[0] > needed_bytes for device in devices)


def double_of(model: Any) -> Callable[..., Any]:
    """Make the model in float64."""
    wide = copy.deepcopy(model).double()

    def call(*inputs: Any) -> Any:
        with InDouble():
            return wide(*tree_map(_widened, inputs))

    return call


class Errors:
    """Errors so far of one output."""

    def __init__(self) -> None:
        """Begin with none."""
        self.rms_ratio, self.most_ratio, self.reason = 0.0, 0.0, ""

    def note(self, name: str, truth: torch.Tensor, eager: torch.Tensor, applied: torch.Tensor) -> None:
        """Compare one draw."""
        if applied.shape != eager.shape or applied.dtype != eager.dtype:
            self.reason = f"{name} is {applied.dtype}{list(applied.shape)} and was {eager.dtype}{list(eager.shape)}"
        elif not eager.dtype.is_floating_point:
            self._count(name, truth, eager, applied)
        else:
            self._measure(name, truth, eager, applied)

    def _count(self, name: str, truth: torch.Tensor, eager: torch.Tensor, applied: torch.Tensor) -> None:
        eager_errors, new = int((eager != truth).sum()), int((applied != truth).sum())
        self.rms_ratio = max(self.rms_ratio, new / eager_errors if eager_errors else float(new > 0))
        if new > eager_errors:
            self.reason = (
                f"{new} elements of {name} differ from the float64 answer, and {eager_errors} without the kernels"
            )

    def _measure(self, name: str, truth: torch.Tensor, eager: torch.Tensor, applied: torch.Tensor) -> None:
        wide = [tensor.double() for tensor in (truth, eager, applied)]
        finite = torch.isfinite(wide[1])
        if not torch.equal(finite, torch.isfinite(wide[2])):
            self.reason = f"{name} is not finite in other places than without the kernels"
            return
        right, before, after = (tensor[finite & torch.isfinite(wide[0])] for tensor in wide)
        if not right.numel():
            return
        unit = max(torch.finfo(eager.dtype).eps / 2, FEW_UNITS * torch.finfo(torch.float32).eps)
        floors = unit * math.sqrt(float((right**2).mean())), unit * float(right.abs().max())
        rms = [math.sqrt(float(((values - right) ** 2).mean())) for values in (before, after)]
        most = [float((values - right).abs().max()) for values in (before, after)]
        self.rms_ratio = max(self.rms_ratio, rms[1] / (rms[0] or floors[0] or 1.0))
        self.most_ratio = max(self.most_ratio, most[1] / (most[0] or floors[1] or 1.0))
        if rms[1] > max(RMS * rms[0], floors[0]):
            self.reason = f"the error of {name} is {rms[1]:.3g} and was {rms[0]:.3g} without the kernels"
        elif most[1] > max(MOST * most[0], floors[1]):
            self.reason = f"the greatest error of {name} is {most[1]:.3g} and was {most[0]:.3g} without the kernels"


def compare(model: Any, applied: Any, draw: Callable[[int], Sequence[Any]], draws: int) -> OutputCheck:
    """Compare the outputs on so many draws; `draw` makes inputs for a number."""
    errors = dict[int, Errors]()
    with torch.no_grad():
        is_wide = fits(model, draw(0))
        truth_of = double_of(model) if is_wide else copy.deepcopy(model).float()
        for number in range(draws):
            for number_of, tensors in enumerate(_outputs(truth_of, model, applied, draw, number)):
                errors.setdefault(number_of, Errors()).note(f"output {number_of}", *tensors)
            if any(error.reason for error in errors.values()):
                break
        decoding, wrong = _decoded(model, applied, draw)
    reason = next((error.reason for error in errors.values() if error.reason), wrong)
    return OutputCheck(
        draws,
        not reason,
        max((error.rms_ratio for error in errors.values()), default=0.0),
        max((error.most_ratio for error in errors.values()), default=0.0),
        "float64" if is_wide else "float32",
        reason,
        RULE,
        decoding,
    )


def _outputs(
    truth_of: Any, model: Any, applied: Any, draw: Callable[[int], Sequence[Any]], number: int
) -> Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    """Yield each output of one draw: the truth, before, after."""
    results = []
    for call in (truth_of, model, applied):
        torch.manual_seed(number)
        inputs = draw(number)  # each call gets its own: a model may update them
        torch.manual_seed(number)
        wide = inputs if call is not truth_of else tree_map(lambda v: v.float() if _is_narrow(v) else v, inputs)
        results.append([t for t in tree_leaves(call(*wide)) if isinstance(t, torch.Tensor)])
    yield from zip(*results, strict=True)


def _is_narrow(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype in _NARROW


def _decoded(model: Any, applied: Any, draw: Callable[[int], Sequence[Any]]) -> tuple[str, str]:
    """Compare greedy decoding: a sentence, and why it is wrong; both empty where the model does not generate."""
    if not callable(getattr(model, "generate", None)):
        return "", ""
    parameters = inspect.signature(model.generate).parameters
    is_open = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    options = {"max_new_tokens": NEW_TOKENS, "do_sample": False}
    chosen = {name: value for name, value in options.items() if is_open or name in parameters}
    before, after = (_tokens(one.generate(*draw(0), **chosen)) for one in (model, applied))
    if before.shape != after.shape:
        return "", f"greedy decoding gives {list(after.shape)} tokens and gave {list(before.shape)}"
    same, total = int((before == after).sum()), before.numel()
    text = f"greedy decoding gives the same token in {same} of {total} places"
    return text, "" if 2 * same >= total else text


def _tokens(value: Any) -> torch.Tensor:
    return next(t for t in tree_leaves(getattr(value, "sequences", value)) if isinstance(t, torch.Tensor))
