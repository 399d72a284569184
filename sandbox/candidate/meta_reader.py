"""The meta-parameters of a launch of Triton's, as the plan has them.

[[launch]]
kernel      = "softmax"
grid        = ["rows"]
args        = ["y", "x", "rows", "cols"]                # the other parameters, in order
constants   = {BLOCK = "1 << log2(2 * cols - 1)", ACT = "'gelu'", OUT = "tl.float16", EVEN = "cols % 64 == 0"}
num_warps   = "WARPS"                                   # 4 where left out
num_stages  = 2                                         # 2; further: waves_per_eu, matrix_instr_nonkdim, kpack
specialise  = ["cols"]                                  # of args, those whose value may choose the code; true: all
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from reprlib import repr as shown
from typing import Any

from records.errors import PlanError
from sandbox.candidate.plan import MetaParameters
from tasks.expressions import MAX_LENGTH

OPTIONS: Mapping[str, int] = {  # those of a launch, with what Triton takes where it is left out
    "num_warps": 4,
    "num_stages": 2,
    "waves_per_eu": 0,
    "matrix_instr_nonkdim": 0,
    "kpack": 1,
}
META_KEYS = frozenset({"constants", "specialise", *OPTIONS})
ALL = "*"  # in `specialised`: every whole number
LANES = 64
MAX_CONSTANTS = 64
_NAME = re.compile(r"[A-Za-z_]\w{0,99}", re.A)


def read_meta(table: Mapping[str, Any], label: str, line: int) -> MetaParameters:
    """Read the meta-parameters in a launch's table; `label` and `line` are for sentences. PlanError for other forms."""
    constants = table.get("constants", {})
    if not isinstance(constants, dict) or len(constants) > MAX_CONSTANTS:
        raise PlanError(f"{label}: constants must be a table such as {{BLOCK = 128}}", line)
    for name in constants:
        if not _NAME.fullmatch(name):
            raise PlanError(f"{label}: constants names {shown(name)}, which cannot be a parameter", line)
    specialised = table.get("specialise", [])
    if isinstance(specialised, bool):
        specialised = [ALL] if specialised else []
    if not isinstance(specialised, list) or not all(isinstance(x, str) for x in specialised):
        raise PlanError(f"{label}: specialise lists arguments that are whole numbers, or is true or false", line)
    return MetaParameters(
        tuple((name, _constant(value, name, label, line)) for name, value in constants.items()),
        tuple((name, _option(table[name], name, label, line)) for name in OPTIONS if name in table),
        tuple(specialised),
    )


def block_of(meta: MetaParameters) -> tuple[str, ...]:
    """Write the expression for the work-items of a workgroup."""
    warps = dict(meta.options).get("num_warps", str(OPTIONS["num_warps"]))
    return (f"{LANES} * ({warps})",)


def _constant(value: Any, name: str, label: str, line: int) -> str:
    match value:
        case bool() | int() | float():
            return repr(value)
        case str() if value.strip() and len(value) <= MAX_LENGTH:
            return value.strip()
    raise PlanError(
        f"{label}: the constant {name} is {shown(value)}; it must be a number, true, false, or a text: an expression, "
        'a type such as "tl.float16", a name in quotes of its own such as "\'gelu\'", or "None"',
        line,
    )


def _option(value: Any, name: str, label: str, line: int) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, str)) or not str(value).strip():
        raise PlanError(f"{label}: {name} must be a whole number or an expression in quotes, not {shown(value)}", line)
    return str(value).strip()
