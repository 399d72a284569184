"""The number of leading or trailing zeros of 0, which `__builtin_clz` and its like leave undefined.

Processors differ: x86 gives the width or what the register held, a GPU minus one, and a compiler that knows the number
gives anything. So it is as unset as a variable before its first value: another number in each work-item.
"""

from __future__ import annotations

import re

_COUNT = re.compile(
    r"(?<=call )(?:range\(i\d+ -?\d+, -?\d+\) )?i(32|64) @llvm\.(ct[lt]z)\.i\1\(i\1 ([^,()]+), i1 true\)"
)
_WIDTHS = (32, 64)

RUNTIME = "".join(
    f"""define internal i{bits} @ks.{name}.{bits}(i{bits} %value) alwaysinline sanitize_address {{
  %nothing = icmp eq i{bits} %value, 0
  %known = call i{bits} @llvm.{name}.i{bits}(i{bits} %value, i1 false)
  %byte = call i8 @ks.unset(i32 {number})
  %unset = sext i8 %byte to i{bits}
  %zeros = select i1 %nothing, i{bits} %unset, i{bits} %known
  ret i{bits} %zeros
}}
"""
    for bits in _WIDTHS
    for number, name in enumerate(("ctlz", "cttz"), bits)
)
DECLARED = "".join(f"declare i{b} @llvm.{name}.i{b}(i{b}, i1)\n" for b in _WIDTHS for name in ("ctlz", "cttz"))


def with_unset_counts(text: str) -> str:
    """The module, as the front end made it, in which the count is unset where there is nothing to count."""
    if "@llvm.ctlz." not in text and "@llvm.cttz." not in text:
        return text
    made = _COUNT.sub(lambda found: f"i{found[1]} @ks.{found[2]}.{found[1]}(i{found[1]} {found[3]})", text)
    if made == text:
        return text
    missing = "".join(row + "\n" for row in DECLARED.splitlines() if row.split("(")[0] + "(" not in text)
    return f"{made}{missing}{RUNTIME}"
