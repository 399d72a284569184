"""A kernel as a `submission.py` of GPU MODE's boards: one file, launched on the null queue.

The boards refuse a text that holds the letters of a certain word anywhere, in comments too. So comments with it are
left out, and names with it get another one.
"""

from __future__ import annotations

import json
import re

from exports.inline_module import compiled_inline
from exports.provenance import Provenance, lines_of, spoken
from exports.refused_words import without
from exports.signature import refuse_beyond
from exports.torch_operator import TorchOperator
from records.errors import UsageError
from records.quantity import counted

MOST_BYTES = 1_000_000
ARGUMENTS = "original_arguments.json"  # beside an imported task: the names of the values of its data
FORBIDDEN = re.compile("stream", re.I)
_LAUNCHED = re.compile(r"(?m)^#define KERNEL_(STREAM|LAUNCH|LAUNCH_TOGETHER)\b(?:.*\\\n)*.*$")
_SUBMISSION = '''\
"""{title}

{said}
"""

import os

{environment}import torch
from torch.utils.cpp_extension import load_inline

{compiled}

def custom_kernel(data):
    """The task's outputs, written into those that `data` has."""
    given_ = _parts(data)
    if len(given_) not in ({least}, {most}):
        raise TypeError(f"{name} takes {taken}, not {{len(given_)}} values")
    {given} = given_{fresh}
    COMPILED.{symbol}({handed})
    return {results}


def _parts(data):
    """The values that data is made of, in their order."""
    parts = data.values() if isinstance(data, dict) else data
    return sum(map(_parts, parts), ()) if isinstance(data, (tuple, list, dict)) else (data,)
{allocated}
'''
_ON_AMD = """\
os.environ["PYTORCH_ROCM_ARCH"] = "{arch}"
os.environ["CXX"] = "clang++"
"""


def gpumode_submission(operator: TorchOperator, provenance: Provenance) -> str:
    """Write the file's text. UsageError for a kernel that the boards' rules leave no form for."""
    signature, explicit_dims = operator.signature, operator.explicit_dims("into")
    order, fresh = _order(operator)
    has_scalars = all(scalar.name in order for scalar in signature.scalars)
    refuse_beyond(signature, "a submission to GPU MODE's boards", strides=True, scalars=has_scalars)
    if explicit_dims:
        raise UsageError(f"{explicit_dims[0]} is in no tensor's shape, and a submission gets tensors alone")
    kernel_cpp = plain(_LAUNCHED.sub(_on_null_queue, operator.kernel()))
    operator_cpp = plain(operator.function("into", is_queued=False))
    inputs = counted(len(order), "input") + (f" and then {counted(len(fresh), 'output')} or none" if fresh else "")
    tensor_count = len(order) + len(fresh)
    text = _SUBMISSION.format(
        title=spoken(operator.launcher.task.title) + ".",
        said="\n".join(lines_of(provenance)),
        environment="" if operator.is_cuda else _ON_AMD.format(arch=operator.target.arch) + "\n",
        compiled=compiled_inline(operator, "into", kernel_cpp, operator_cpp),
        name=operator.name,
        symbol=operator.symbol("into"),
        taken=inputs,
        least=len(order),
        most=tensor_count,
        given=f"{', '.join([*order, *fresh])},",
        fresh=f" if len(given_) == {tensor_count} else (*given_, *_made(*given_))" if fresh else "",
        handed=", ".join(
            [
                *(t.name for t in signature.inputs),
                *(t.initial or t.name for t in signature.outputs),
                *(s.name for s in signature.scalars),
            ]
        ),
        results=", ".join(t.initial or t.name for t in signature.outputs),
        allocated=_allocated(operator, order, fresh) if fresh else "",
    )
    if FORBIDDEN.search(text):
        raise UsageError("the task's title or names hold the word 'stream', which GPU MODE's boards refuse")
    if len(text.encode()) > MOST_BYTES:
        raise UsageError(f"the submission has {len(text.encode()):,} bytes, and GPU MODE takes {MOST_BYTES:,}")
    return text


def _order(operator: TorchOperator) -> tuple[list[str], list[str]]:
    """List the values of `data` in their order, and the outputs that may follow or be made.

    A task that was imported from a board keeps the order that it has there.
    """
    task, outputs = operator.launcher.task, [t.name for t in operator.signature.outputs if not t.initial]
    origin, path = task.provenance, task.folder / ARGUMENTS
    if origin is None or origin.form != "gpumode" or not path.is_file():
        return [t.name for t in task.inputs], outputs
    order = [str(name) for name in json.loads(path.read_text(encoding="utf-8"))]
    return order, [name for name in outputs if name not in order]


def _allocated(operator: TorchOperator, order: list[str], fresh: list[str]) -> str:
    rows = operator.output_lines(operator.signature.first.name, fresh)
    rows[-1] += ","  # a tuple, of one tensor as well
    if operator.signature.explicit_dims:
        rows = [f'raise TypeError("{operator.name} needs its outputs at the end of data: no input shows their shape")']
    body = "\n".join(f"    {line}" for line in rows)
    return f"\n\ndef _made({', '.join(order)}):\n{body}"


def plain(text: str) -> str:
    """Write the C++ text without the forbidden word."""
    return without(text, FORBIDDEN, "queue", "GPU MODE's boards")


def _on_null_queue(macro: re.Match[str]) -> str:
    """Put a literal 0 into the launcher's macros in the place of what they are given."""
    line = macro[0]
    if "KERNEL_LAUNCH" in line:
        head, _, tail = line.partition(") ")
        return f"{head}) {tail.replace('lds, stream)', 'lds, 0)')}"
    return "#define KERNEL_STREAM void*"
