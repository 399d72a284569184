"""Conversions of floating-point numbers to integers that do not hold them, as a GPU makes them.

C++ leaves them undefined, and processors differ: x86 gives the least integer for all of them, a GPU the nearest that
there is, and zero for what is no number. A kernel could tell the lab by it. So each conversion to 32 bits or fewer is
the GPU's; one to 64 bits, which a GPU computes in several steps, stays as it is.
"""

from __future__ import annotations

import re

_NAME = r"%(?:\"[^\"]*\"|[-\w$.]+)"
_CONVERSION = re.compile(
    rf"^  (?P<made>{_NAME}) = (?P<op>fptosi|fptoui) (?P<real>(?:<(?P<count>\d+) x )?(?P<kind>half|float|double)>?) "
    r"(?P<value>[^\s,]+) to (?:<\d+ x )?i(?P<bits>8|16|32)>?(?P<rest>, [^\n]*)?$",
    re.M,
)
_SHORT = {"half": "f16", "float": "f32", "double": "f64"}


def saturating(text: str) -> str:
    """The module, as the front end made it, with such conversions."""
    return _CONVERSION.sub(_saturated, text) if " = fptosi " in text or " = fptoui " in text else text


def _saturated(found: re.Match[str]) -> str:
    count, kind, bits = found["count"], found["kind"], int(found["bits"])
    wide = bits if bits == 16 and kind == "half" else 32  # the instructions there are
    many, suffix = (f"<{count} x i{{}}>", f"v{count}") if count else ("i{}", "")
    call = f"@llvm.{found['op']}.sat.{suffix}i{wide}.{suffix}{_SHORT[kind]}({found['real']} {found['value']})"
    rest = found["rest"] or ""
    if wide == bits:
        return f"  {found['made']} = call {many.format(wide)} {call}{rest}"
    name, number = f"%ks.wide.{found.start()}", many.format(wide)
    return (
        f"  {name} = call {number} {call}{rest}\n  {found['made']} = trunc {number} {name} to {many.format(bits)}{rest}"
    )
