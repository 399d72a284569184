"""A task's reference as one Python file: it needs NumPy and, for narrow types, ml_dtypes, nothing of this project."""

from __future__ import annotations

import ast

from exports.torch_operator import TYPES
from records.errors import UsageError
from tasks.task import Task, TensorSpec

_ALIASES = frozenset({"Array", "Case", "Tensors"})  # of tasks.task: they only stand in annotations
_BITS = {"bf16": "int16", "e4m3fnuz": "uint8", "e5m2fnuz": "uint8", "e4m3fn": "uint8", "e5m2": "uint8"}
_ML_TYPES = {
    "bf16": "bfloat16",
    "e4m3fnuz": "float8_e4m3fnuz",
    "e5m2fnuz": "float8_e5m2fnuz",
    "e4m3fn": "float8_e4m3fn",
    "e5m2": "float8_e5m2",
}
_CALLED = '''

from types import SimpleNamespace as _Namespace

import torch as _torch


def {function}({parameters}):
    """The float64 reference in NumPy on the CPU, rounded to the outputs' types."""
{dims}
    _case = _Namespace(name="", dims={{{pairs}}}, scalars={scalars}, absent=(), seed=0, weight=1.0, role="test")
    _inputs = {{{inputs}}}
    _made = reference(_inputs, _case)
    return {outputs}
'''


def standalone(task: Task, function: str) -> str:
    """Write the text of reference.py without imports from this project.

    UsageError where it imports more of it than the names of types, or has the function's name already.
    """
    path = task.folder / "reference.py"
    text = path.read_text(encoding="utf-8")
    tree, lines = ast.parse(text), text.splitlines()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == function:
            raise UsageError(f"{path} has its own {function}, a name that the format keeps: rename it there")
        if not isinstance(node, ast.ImportFrom) or node.level or (node.module or "").split(".")[0] != "tasks":
            continue
        names = [alias.asname or alias.name for alias in node.names]
        if node.module != "tasks.task" or not _ALIASES.issuperset(alias.name for alias in node.names):
            raise UsageError(f"{path} imports {node.module}, which the format cannot take along")
        lines[node.lineno - 1 : node.end_lineno] = [f"{' = '.join(names)} = object  # types, for annotations only"] + [
            ""
        ] * ((node.end_lineno or node.lineno) - node.lineno)
    return "\n".join(lines) + "\n"


def called_with_tensors(task: Task, function: str, dims: dict[str, str], has_scalars: bool = True) -> str:
    """Write a function of PyTorch's tensors, inputs then scalars, that returns what the reference makes of them.

    `dims` has a Python expression for each dim. Column-major tensors come and go as the transposed, dense ones.
    """
    parameters = [tensor.name for tensor in task.inputs]
    parameters += [scalar.name for scalar in task.scalars] if has_scalars else []
    first = task.inputs[0].name
    turned = [f"    {t.name} = {t.name}.t()" for t in task.inputs if t.layout == "column_major"]
    results = [_result(tensor, first) for tensor in task.outputs]
    return _CALLED.format(
        function=function,
        parameters=", ".join(parameters),
        dims="\n".join([*turned, *(f"    _{name} = {text}" for name, text in dims.items())]),
        scalars={scalar.name: scalar.value for scalar in task.scalars},
        pairs=", ".join(f'"{name}": _{name}' for name in dims),
        inputs=", ".join(f'"{tensor.name}": {_array(tensor)}' for tensor in task.inputs),
        outputs=results[0] if len(results) == 1 else f"({', '.join(results)})",
    )


def _array(tensor: TensorSpec) -> str:
    if tensor.dtype not in _BITS:
        return f"{tensor.name}.cpu().numpy()"
    bits = f"{tensor.name}.cpu().contiguous().view(_torch.{_BITS[tensor.dtype]}).numpy()"
    return f'{bits}.view(__import__("ml_dtypes").{_ML_TYPES[tensor.dtype]})'


def _result(tensor: TensorSpec, first: str) -> str:
    text = f'_torch.tensor(_made["{tensor.name}"]).to(dtype={TYPES[tensor.dtype][0].replace("torch", "_torch")}'
    return f"{text}, device={first}.device)" + (".t().contiguous()" if tensor.layout == "column_major" else "")
