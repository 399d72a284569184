"""A kernel as a `submission.py` of GPU MODE's boards: one file, launched on the null queue.

The boards refuse a text that holds the letters of a certain word anywhere, in comments too. So comments with it are
left out, and names with it get another one.
"""

from __future__ import annotations

import re

from app.exports.inline_module import compiled_inline
from app.exports.provenance import Provenance, lines_of
from app.exports.refused_words import without
from app.exports.torch_operator import TorchOperator
from records.errors import UsageError
from records.quantity import counted

MOST_BYTES = 1_000_000
FORBIDDEN = re.compile("stream", re.I)
_LAUNCHED = re.compile(r"(?m)^#define KERNEL_(STREAM|LAUNCH)\b.*$")
_SUBMISSION = '''\
"""{title}

{said}
"""

import os

{environment}import torch
from torch.utils.cpp_extension import load_inline

{compiled}

def custom_kernel(data):
    """The task's outputs, written into those at the end of `data` where there are any."""
    given = tuple(data) if isinstance(data, (tuple, list)) else (data,)
    inputs, outputs = given[:{inputs}], given[{inputs}:]
    if len(inputs) < {inputs} or len(outputs) not in (0, {outputs}):
        raise TypeError(f"{name} takes {taken}, not {{len(given)}} values")
    if not outputs:
        outputs = _made(*inputs)
    COMPILED.{symbol}(*inputs, *outputs)
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def _made({parameters}):
{allocated}
'''
_ON_AMD = """\
os.environ["PYTORCH_ROCM_ARCH"] = "{arch}"
os.environ["CXX"] = "clang++"
"""


def gpumode_submission(made: TorchOperator, provenance: Provenance) -> str:
    """The file's text. UsageError for a kernel that the boards' rules leave no form for."""
    signature, asked = made.signature, made.asked("into")
    if asked:
        raise UsageError(f"{asked[0]} is in no tensor's shape, and a submission gets tensors alone")
    kernel = plain(_LAUNCHED.sub(_on_null_queue, made.kernel()))
    operator = plain(made.function("into", is_queued=False))
    rows = made.made(made.signature.inputs[0].name)
    allocated = [*rows[:-1], f"{rows[-1]},"]  # a tuple, of one tensor as well
    if made.signature.asked:
        allocated = [f'raise TypeError("{made.name} needs its outputs at the end of data: no input shows their shape")']
    inputs, outputs = (
        counted(len(t), kind) for t, kind in ((signature.inputs, "input"), (signature.outputs, "output"))
    )
    text = _SUBMISSION.format(
        title=made.launcher.task.title.rstrip(".") + ".",
        said="\n".join(lines_of(provenance)),
        environment="" if made.is_cuda else _ON_AMD.format(arch=made.target.arch) + "\n",
        compiled=compiled_inline(made, "into", kernel, operator),
        name=made.name,
        symbol=made.symbol("into"),
        taken=f"{inputs} and then {outputs} or none",
        inputs=len(signature.inputs),
        outputs=len(signature.outputs),
        parameters=", ".join(tensor.name for tensor in made.signature.inputs),
        allocated="\n".join(f"    {line}" for line in allocated),
    )
    if FORBIDDEN.search(text):
        raise UsageError("the task's title or names hold the word 'stream', which GPU MODE's boards refuse")
    if len(text.encode()) > MOST_BYTES:
        raise UsageError(f"the submission has {len(text.encode()):,} bytes, and GPU MODE takes {MOST_BYTES:,}")
    return text


def plain(text: str) -> str:
    """The C++ text without the forbidden word."""
    return without(text, FORBIDDEN, "queue", "GPU MODE's boards")


def _on_null_queue(found: re.Match[str]) -> str:
    """The launcher's macros with a literal 0 in the place of what it is given."""
    line = found[0]
    if "KERNEL_LAUNCH" in line:
        head, _, tail = line.partition(") ")
        return f"{head}) {tail.replace('lds, stream)', 'lds, 0)')}"
    return "#define KERNEL_STREAM void*"
