"""A kernel as a task folder of robust-kbench: `forward.cu`, the function that it replaces, and the configurations."""

from __future__ import annotations

import ast
import json

from exports.argument_text import parameter
from exports.provenance import Provenance, lines_of
from exports.python_reference import called_with_tensors, standalone
from exports.signature import refuse_beyond
from exports.torch_operator import LEFT_OUT, TYPES, TorchOperator
from records.errors import UsageError
from tasks.task import Task, TensorSpec

CONFIG = "original_config.json"  # beside an imported task
_BINDING = """
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ m.def("forward", &{symbol}, "{name}"); }}
"""
_MODEL = '''

import torch.nn as _nn


class Model(_nn.Module):
    """Calls the function with the tensors."""

    def forward(self, {parameters}, fn=forward_fn):
        return fn({parameters})


def get_inputs({dims}):
    """Inputs by the task's own law, from PyTorch's random state."""
    seed = int(_torch.randint(2**31 - 1, ()).item())
    case = _Namespace(name="", dims={{{pairs}}}, scalars={scalars}, absent=(), seed=seed, weight=1.0)
    drawn = make_inputs(case, np.random.default_rng(seed))
    return [{inputs}]


input_names = [{names}]
'''


def robust_kbench(operator: TorchOperator, provenance: Provenance) -> dict[str, str]:
    """Write the files by path. UsageError for a task that the format cannot hold."""
    task, signature = operator.launcher.task, operator.signature
    refuse_beyond(signature, "robust-kbench", scalars=True)
    if not operator.is_cuda:
        raise UsageError(f"robust-kbench builds with nvcc: export for h200, not for {operator.target.name}")
    if signature.explicit_dims:
        raise UsageError(
            f"{signature.explicit_dims[0]} is in no input's shape, and robust-kbench's forward gets tensors alone"
        )
    turned = [t.name for t in signature.buffers if t.layout == "column_major"]
    if turned:
        raise UsageError(f"robust-kbench moves inputs to the GPU as they are, and {turned[0]} is column-major")
    comment = "\n".join(f"// {line}" for line in lines_of(provenance))
    head = "\n".join([comment, *(f"#undef {name}" for name in LEFT_OUT["nvidia"]), "#include <torch/extension.h>"])
    forward = f"{head}\n{operator.kernel()}\n{operator.function('returns', is_alone=False)}"
    origin = task.provenance
    if origin is not None and origin.form == "robust-kbench" and (task.folder / CONFIG).is_file():
        original = (task.folder / origin.file).read_text(encoding="utf-8")
        return {
            "forward.cu": forward + _bound(operator, original),
            "func_forward.py": original,
            "config_forward.json": (task.folder / CONFIG).read_text(encoding="utf-8"),
        }
    return {
        "forward.cu": forward + _BINDING.format(symbol=operator.symbol("returns"), name=operator.name),
        "func_forward.py": _function(operator, task),
        "config_forward.json": json.dumps(_configs(task), indent=4) + "\n",
    }


def _bound(operator: TorchOperator, original: str) -> str:
    """Write a `forward` with the parameters of the original's forward_fn, in their order."""
    forward = next(n for n in ast.parse(original).body if isinstance(n, ast.FunctionDef) and n.name == "forward_fn")
    names = [a.arg for a in (*forward.args.posonlyargs, *forward.args.args, *forward.args.kwonlyargs)]
    tensors = {t.name.removeprefix("w_") if t.parameter else t.name: t for t in operator.signature.all_inputs}
    missing = [t.name for name, t in tensors.items() if name not in names]
    if missing:
        raise UsageError(f"{missing[0]} is no parameter of the original's forward_fn, so forward cannot hand it over")
    arguments_of = {t.name: f"{name}.contiguous()" for name, t in tensors.items()}
    arguments_of |= {s.name: f"{s.name}.cast<{parameter(s)}>()" for s in operator.signature.scalars}
    parameters = [f"const at::Tensor& {n}" if n in tensors else f"const py::object& {n}" for n in names]
    arguments = ", ".join(arguments_of[name] for name in operator.names())
    answer = operator.declaration("returns").partition(" ")[0] if len(operator.signature.outputs) == 1 else "auto"
    body = f"{answer} forward({', '.join(parameters)}) {{ return {operator.symbol('returns')}({arguments}); }}"
    return f"\n{body}\n" + _BINDING.format(symbol="forward", name=operator.name)


def _function(operator: TorchOperator, task: Task) -> str:
    dim_texts = {n: f"{e.tensor}.shape[{e.axis}] // {e.divisor}" for n, e in operator.signature.input_dims.items()}
    text = standalone(task, "forward_fn")
    if "import numpy as np" not in text:
        raise UsageError(
            f"{task.folder / 'reference.py'} does not import numpy as np, which its draws in robust-kbench need"
        )
    names = [tensor.name for tensor in task.inputs]
    dims = list(task.tests[0].dims)
    return (
        text
        + called_with_tensors(task, "forward_fn", dim_texts, has_scalars=False)
        + _MODEL.format(
            parameters=", ".join(names),
            dims=", ".join(f"{n}: int = {task.tests[0].dims[n]}" for n in dims),
            scalars={scalar.name: scalar.value for scalar in task.scalars},
            pairs=", ".join(f'"{n}": {n}' for n in dims),
            inputs=", ".join(_drawn(tensor) for tensor in task.inputs),
            names=", ".join(f'"{n}"' for n in names),
        )
    )


def _drawn(tensor: TensorSpec) -> str:
    """Write a Python expression of the input; float32 holds each value of a type that NumPy does not have."""
    kind = TYPES[tensor.dtype][0]
    is_narrow = tensor.dtype.startswith(("bf", "e"))
    held_dtype = "float32" if is_narrow else kind.removeprefix("torch.")
    return f'_torch.tensor(drawn["{tensor.name}"].astype("{held_dtype}")).to({kind.replace("torch", "_torch")})'


def _configs(task: Task) -> dict[str, object]:
    """Return the first benchmark alone, or all of them; the constructor takes nothing."""
    rows = [dict[str, int](case.dims) for case in task.benchmarks]
    return {
        "single_input_configs": rows[:1],
        "single_init_configs": [{}],
        "single_shared_configs": [{}],
        "multi_input_configs": rows,
        "multi_init_configs": [{}],
        "multi_shared_configs": [{}],
    }
