"""Other implementations of a shipped task on an NVIDIA GPU: PyTorch as it is, compiled, and its library calls.

Every rival is a function without arguments that queues its work on the default stream. A library that wants its inputs
another way gets them so beforehand, untimed, which favours it; the names say so. What this PyTorch does not have is
left out with its message.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

Call = Callable[[], Any]
# What PyTorch and its compilers raise for what they do not have; their own exceptions are kinds of RuntimeError.
_FAULTS = (RuntimeError, ValueError, TypeError, AttributeError, AssertionError, LookupError, ImportError, OSError)
BLOCK = 128  # values along k, and rows of b, that share a scale


def torch_module() -> Any:
    """Import PyTorch, which only the collector needs."""
    return importlib.import_module("torch")


def rivals(task: str, tensors: Mapping[str, Any]) -> tuple[dict[str, Call], dict[str, str]]:
    """Return calls by name that work, and messages of those that do not."""
    return working(_OF[task](tensors))


def working(makers: Iterable[tuple[str, Callable[[], Call]]]) -> tuple[dict[str, Call], dict[str, str]]:
    """Return calls by name that work, and messages of those that do not."""
    calls, failed = dict[str, Call](), dict[str, str]()
    torch_module()._dynamo.reset()  # what was compiled for another shape counts against a limit, then runs uncompiled
    for name, make in makers:
        try:
            call = make()
            for _ in range(3):  # compilation, tuning and the library's own choices happen now
                call()
            torch_module().cuda.synchronize()
            calls[name] = call
        except _FAULTS as error:  # the other rivals are still worth timing
            failed[name] = f"{type(error).__name__}: {error}"[:300]
    return calls, failed


def modes(function: Callable[..., Any], *arguments: Any) -> Iterator[tuple[str, Callable[[], Call]]]:
    """Yield one function as PyTorch runs it, compiled, and compiled with every option tried."""
    torch = torch_module()

    def compiled(mode: str) -> Call:
        program = torch.compile(function, dynamic=False, **({"mode": mode} if mode else {}))
        return lambda: program(*arguments)

    yield "torch eager", lambda: lambda: function(*arguments)
    yield "torch.compile", lambda: compiled("")
    yield "torch.compile max-autotune", lambda: compiled("max-autotune-no-cudagraphs")


def _norm(tensors: Mapping[str, Any]) -> Iterator[tuple[str, Callable[[], Call]]]:
    functional = torch_module().nn.functional
    x, w = tensors["x"], tensors["w"]
    yield from modes(lambda x, w: functional.rms_norm(x, (x.shape[1],), w, 1e-6), x, w)


def _softmax(tensors: Mapping[str, Any]) -> Iterator[tuple[str, Callable[[], Call]]]:
    yield from modes(lambda x: torch_module().softmax(x, 1), tensors["x"])


def _transpose(tensors: Mapping[str, Any]) -> Iterator[tuple[str, Callable[[], Call]]]:
    yield from modes(lambda x: x.t().contiguous(), tensors["x"])


def _gemm(tensors: Mapping[str, Any]) -> Iterator[tuple[str, Callable[[], Call]]]:
    torch = torch_module()
    a, b, a_scale, b_scale = (tensors[name] for name in ("a", "b", "a_scale", "b_scale"))
    rows, unit = a.contiguous(), torch.ones((), device="cuda")
    columns = b.contiguous().t()  # k x n, runs along k
    of_row, of_column = torch.ones(a.shape[0], 1, device="cuda"), torch.ones(1, b.shape[0], device="cuda")
    a16, b16 = a.to(torch.bfloat16), b.to(torch.bfloat16)

    def scaled(left: Any, right: Any, of_left: Any, of_right: Any, fast: bool = False) -> Any:
        return torch._scaled_mm(
            left, right, scale_a=of_left, scale_b=of_right, out_dtype=torch.bfloat16, use_fast_accum=fast
        )

    def dequantised(a: Any, b: Any, a_scale: Any, b_scale: Any) -> Any:
        left = a.to(torch.bfloat16) * a_scale.repeat_interleave(BLOCK, 1).to(torch.bfloat16)
        wide = b_scale.repeat_interleave(BLOCK, 0)[: b.shape[0]].repeat_interleave(BLOCK, 1)
        return left @ (b.to(torch.bfloat16) * wide.to(torch.bfloat16)).t()

    column_scales = (
        b_scale.repeat_interleave(BLOCK, 0)[: b.shape[0]].t().contiguous()
    )  # k blocks x n: one scale for 1 x 128
    prepared = "inputs turned beforehand"
    yield f"_scaled_mm, block scales, {prepared}", lambda: lambda: scaled(rows, columns, a_scale, b_scale.t())
    yield f"_scaled_mm, block scales 1 x 128, {prepared}", lambda: lambda: scaled(rows, columns, a_scale, column_scales)
    yield f"_scaled_mm, row scales of 1, {prepared}", lambda: lambda: scaled(rows, columns, of_row, of_column)
    yield f"_scaled_mm, one scale, {prepared}", lambda: lambda: scaled(rows, columns, unit, unit)
    yield f"_scaled_mm, one scale, fast sums, {prepared}", lambda: lambda: scaled(rows, columns, unit, unit, True)
    yield (
        "_scaled_mm, one scale, inputs turned each time",
        lambda: lambda: scaled(a.contiguous(), b.contiguous().t(), unit, unit),
    )
    yield "bf16 mm without scales, inputs converted beforehand", lambda: lambda: torch.mm(a16, b16.t())
    for name, make in list(modes(dequantised, a, b, a_scale, b_scale))[:2]:  # every option takes a minute a shape
        yield f"{name}, dequantised to bf16", make


_OF: Mapping[str, Callable[[Mapping[str, Any]], Iterator[tuple[str, Callable[[], Call]]]]] = {
    "rms_norm": _norm,
    "row_softmax": _softmax,
    "transpose": _transpose,
    "fp8_block_gemm": _gemm,
}
