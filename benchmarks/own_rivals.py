"""The operations of `benchmarks.own_kernels` in PyTorch, and inputs for them on the GPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from app.beating.bound_kernels import order
from benchmarks.rivals import torch_module
from tasks.task import Case, Task

TYPES = {"f32": "float32", "bf16": "bfloat16", "e4m3fn": "float8_e4m3fn", "i32": "int32", "i8": "int8"}
Function = Callable[..., Any]


def tensors_of(task: Task, case: Case, rng: np.random.Generator) -> dict[str, Any]:
    """Draw inputs and outputs in the task's layout: floats are normal, integers lie in the range the task indexes."""
    torch = torch_module()
    torch.manual_seed(int(rng.integers(1 << 30)))
    most = next((case.dims[name] for name in ("bins", "classes") if name in case.dims), 128)
    tensors = {}
    for spec in (*task.inputs, *task.outputs):
        shape = task.shape_of(spec, case)
        turned = shape[::-1] if order(spec) == "F" else shape
        dtype = getattr(torch, TYPES[spec.dtype])
        if dtype.is_floating_point:
            tensor = torch.randn(turned, device="cuda").to(dtype)
        else:
            tensor = torch.randint(0, most, turned, device="cuda").to(dtype)
        tensors[spec.name] = tensor.t() if order(spec) == "F" else tensor
    return tensors


def function_of(task: Task, case: Case) -> Function:
    """Return the operation as PyTorch writes it, of the task's inputs in their order; KeyError for one not in here."""
    torch = torch_module()
    functional = torch.nn.functional
    scalars = {scalar.name: scalar.value for scalar in task.scalars}

    def rope(x: Any, cosine: Any, sine: Any) -> Any:
        c, s = cosine[:, None, :], sine[:, None, :]
        even, odd = x[..., 0::2], x[..., 1::2]
        return torch.stack((even * c - odd * s, even * s + odd * c), dim=-1).flatten(-2)

    functions: Mapping[str, Function] = {
        "argmax": lambda x: x.argmax(1).to(torch.int32),
        "axpby": lambda x, y: scalars["alpha"] * x + scalars["beta"] * y,
        "batched_gemv": lambda a, x: torch.bmm(a, x.unsqueeze(-1)).squeeze(-1),
        "bias_gelu": lambda x, bias: functional.gelu(x + bias, approximate="tanh"),
        "cross_entropy": lambda logits, target: functional.cross_entropy(logits, target.long(), reduction="none"),
        "dequantise": lambda q, scale: q.float() * scale.unsqueeze(1),
        "histogram": lambda values: torch.bincount(values, minlength=case.dims["bins"]).to(torch.int32),
        "layer_norm": lambda x, w, b: functional.layer_norm(x, (x.shape[1],), w, b, scalars["eps"]),
        "rope": rope,
        "row_sum": lambda x: x.sum(1),
        "small_gemm": torch.matmul,
        "transpose_add": lambda x, z: x.t() + z,
        "row_softmax": lambda x: torch.softmax(x, 1),
        "rms_norm": lambda x, w: functional.rms_norm(x, (x.shape[1],), w, 1e-6),
        "transpose": lambda x: x.t().contiguous(),
    }
    return functions[task.name]
