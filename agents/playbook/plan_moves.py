"""Changes that tie the code to its launch plan: launch bounds, aliasing, a block size that can be searched."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from agents.source import KernelFile, KernelText, closing, on_directive, substitute, with_plan, words

SIZES = (64, 128, 256, 512, 1024)
_BOUNDS = re.compile(r"__launch_bounds__\s*\(")
_CONSTANT = re.compile(
    r"(?:static\s+)?(?:constexpr|const)\s+(?:static\s+)?(?:int|unsigned|unsigned\s+int|auto|size_t|uint32_t|int32_t)\s+"
    r"(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<value>\d+)[uU]?\s*;|^[ \t]*#[ \t]*define[ \t]+(?P<macro>[A-Za-z_]\w*)[ \t]+"
    r"(?P<number>\d+)[uU]?[ \t]*$",
    re.M,
)
LANES = re.compile(r"__shfl|__ballot|__any|__all\b|mfma|dpp|readlane|readfirstlane|mbcnt|ds_bpermute|warpSize|__lane")


def bounds_variants(file: KernelFile, arch: str, reserved: frozenset[str]) -> tuple[str, ...]:
    """`1` adds bounds where there are none; `2` and `4` add a minimum to bounds that have none.

    The minimum counts waves per SIMD on AMD, blocks per multiprocessor on NVIDIA: less registers, more at a time.
    """
    bare = any(bounds_of(file, k) is None and block_in_c(file, k) for k in file.kernels)
    single = [k for k in file.kernels if (b := bounds_of(file, k)) and "," not in file.code[b[0] : b[1]]]
    return ("1",) if bare else ("2", "4") if single else ()


def add_bounds(file: KernelFile, variant: str) -> str:
    """Write the bounds as an expression of tunables, so that they follow the search."""
    edits: list[tuple[int, int, str]] = []
    for kernel in file.kernels:
        bounds, block = bounds_of(file, kernel), block_in_c(file, kernel)
        if variant == "1" and bounds is None and block:
            edits.append((kernel.head[1], kernel.head[1], f"__launch_bounds__({block}) "))
        elif variant != "1" and bounds and "," not in file.code[bounds[0] : bounds[1]]:
            edits.append((bounds[1], bounds[1], f", {variant}"))
    return substitute(file.source, edits)


def block_in_c(file: KernelFile, kernel: KernelText) -> str:
    """Write the work-items of a block as a C expression; empty when launches differ or a size is known only later."""
    blocks = {tuple(str(e) for e in x.get("block", [])) for x in file.launches(kernel.name)}
    if len(blocks) != 1 or "amdgpu_flat_work_group_size" in file.code[slice(*kernel.head)]:
        return ""
    parts = [e.strip() for e in blocks.pop() if e.strip() != "1"] or ["1"]
    for part in parts:
        if not re.fullmatch(r"[\w\s+*()/-]+", part) or set(re.findall(r"[A-Za-z_]\w*", part)) - set(file.tunables):
            return ""
    return " * ".join(p.replace("//", "/") if re.fullmatch(r"\w+", p) else f"({p.replace('//', '/')})" for p in parts)


def restrict_variants(file: KernelFile, arch: str, reserved: frozenset[str]) -> tuple[str, ...]:
    """`all` where a pointer lacks the promise and no launch passes one buffer twice."""
    return ("all",) if any(_open_pointers(file, k) for k in file.kernels) else ()


def add_restrict(file: KernelFile, variant: str) -> str:
    """Put `__restrict__` before the names."""
    return substitute(
        file.source, [(offset, offset, "__restrict__ ") for k in file.kernels for offset in _open_pointers(file, k)]
    )


def block_variants(file: KernelFile, arch: str, reserved: frozenset[str]) -> tuple[str, ...]:
    """List the fixed block sizes that nothing in the code depends on but through one name or `blockDim`."""
    return tuple(str(size) for size in SIZES if _block_plan(file, size, reserved) is not None)


def expose_block(file: KernelFile, variant: str) -> str:
    """Turn the size into a tunable whose default is the old value."""
    size = int(variant)
    edits_and_plan = _block_plan(file, size, frozenset())
    if edits_and_plan is None:
        return file.source
    edits, plan = edits_and_plan
    return with_plan(file, plan, substitute(file.source, edits))


def _block_plan(
    file: KernelFile, size: int, reserved: frozenset[str]
) -> tuple[list[tuple[int, int, str]], Mapping[str, Any]] | None:
    """Make the edits of the code and the new plan; None when the change is not certain to be safe."""
    launches = file.plan["launch"]
    if not launches or any([str(e) for e in x.get("block", [])] != [str(size)] for x in launches):
        return None
    if any(str(x.get("lds", "0")) != "0" and not re.search(rf"\b{size}\b", str(x["lds"])) for x in launches):
        return None
    constants = [m for m in _CONSTANT.finditer(file.code) if (m["value"] or m["number"]) == str(size)]
    bounds = [bounds_of(file, k) for k in file.kernels]
    origins = [
        (m.end(2) - len(m[2]), m.end(2))
        for m in re.finditer(rf"(blockIdx\s*\.\s*x\s*\*\s*)({size})\b(?![.\w])", file.code)
    ]
    free = [
        m
        for m in words(file.code, rf"{size}[uU]?")
        if not on_plan(file, m.start())
        and m.span() not in origins
        and not any(c.start() <= m.start() < c.end() for c in constants)
        and not any(b and b[0] <= m.start() < b[1] for b in bounds)
    ]
    arrays = [m.group() for m in re.finditer(r"__shared__[^;]*;", file.code)]
    if free or len(constants) > 1:
        return None
    if constants:
        name = constants[0]["name"] or constants[0]["macro"]
        if any(not words(text, name) for text in arrays) or len(words(file.code, name)) < 2:
            return None
        edits = [(constants[0].start(), constants[0].end(), "")]
    else:
        name = next((n for n in ("BLOCK", "BLOCK_SIZE", "GROUP") if not words(file.code, n) and n not in reserved), "")
        adapts = origins or words(file.code, r"blockDim\s*\.\s*x")
        if arrays or not name or not adapts or LANES.search(file.code):
            return None
        edits = []
    if name in reserved or name in file.tunables or name in file.plan.get("workspace", {}):
        return None
    edits += [(start, end, name) for start, end in origins]
    edits += [(b[0], b[1], re.sub(rf"\b{size}[uU]?\b", name, file.source[b[0] : b[1]])) for b in bounds if b]
    return edits, _with_name(file.plan, size, name)


def _with_name(plan: Mapping[str, Any], size: int, name: str) -> dict[str, Any]:
    """Return the plan with the size's name in every launch and its values among the tunables."""

    def renamed(value: Any) -> Any:
        if isinstance(value, list):
            return [renamed(v) for v in value]
        return re.sub(rf"\b{size}\b", name, str(value)) if isinstance(value, (str, int)) else value

    launches = [{k: renamed(v) if k in ("grid", "block", "lds") else v for k, v in x.items()} for x in plan["launch"]]
    values = [size, *(s for s in SIZES if s != size)]
    return {**plan, "launch": launches, "tunables": {**plan.get("tunables", {}), name: values}}


def integer_constants(file: KernelFile) -> dict[str, int]:
    """Names that stand for one integer wherever the file has them: no parameter and no other constant is called so."""
    constants = [(m["name"] or m["macro"], int(m["value"] or m["number"])) for m in _CONSTANT.finditer(file.code)]
    names = [name for name, _ in constants] + [p.name for kernel in file.kernels for p in kernel.parameters]
    return {name: value for name, value in constants if names.count(name) == 1}


def on_plan(file: KernelFile, offset: int) -> bool:
    """Tell whether an offset lies in the plan's comment."""
    return file.plan_span[0] <= offset < file.plan_span[1]


def bounds_of(file: KernelFile, kernel: KernelText) -> tuple[int, int] | None:
    """Compute the span of the arguments of a kernel's launch bounds."""
    before = max(file.code.rfind(c, 0, kernel.head[0]) for c in ";}") + 1
    match = _BOUNDS.search(file.code, before, kernel.head[1])
    if not match or on_directive(file.code, match.start()):
        return None
    return match.end(), closing(file.code, match.end() - 1)


def _open_pointers(file: KernelFile, kernel: KernelText) -> list[int]:
    for launch in file.launches(kernel.name):
        args = launch.get("args", [])
        buffers = [a for a, p in zip(args, kernel.parameters, strict=False) if p.is_pointer]
        if len(args) != len(kernel.parameters) or len(set(buffers)) != len(buffers):
            return []
    if not file.launches(kernel.name):
        return []
    return [
        p.name_at
        for p in kernel.parameters
        if p.is_pointer
        and "restrict" not in p.text
        and "volatile" not in p.text
        and "(" not in p.text
        and "[" not in p.text
        and p.text.count("*") == 1
    ]
