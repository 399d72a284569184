"""Changes of places: rows in LDS, work-items along the lanes, blocks on the chiplets."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from agents.playbook.plan_moves import LANES
from agents.source import KernelFile, KernelText, closing, substitute, with_plan, words
from records.errors import PlanError
from tasks.expressions import evaluate

LDS_BYTES = 65536
STATIC_BYTES = 49152  # what NVIDIA's compiler takes as __shared__ arrays
THREADS_MARK = "// work-item axes exchanged\n"
GRID_MARK = "// block axes exchanged\n"
ELEMENT_BYTES: Mapping[str, int] = {
    "float": 4,
    "int": 4,
    "unsigned": 4,
    "double": 8,
    "_Float16": 2,
    "__half": 2,
    "short": 2,
    "__hip_bfloat16": 2,
    "hip_bfloat16": 2,
    "half": 2,
    "unsigned short": 2,
    "uint16_t": 2,
    "int16_t": 2,
    "char": 1,
    "signed char": 1,
    "unsigned char": 1,
    "int8_t": 1,
    "uint8_t": 1,
    "unsigned int": 4,
    "int32_t": 4,
    "uint32_t": 4,
    "long": 8,
    "int64_t": 8,
    "uint64_t": 8,
}
_SHARED = re.compile(r"__shared__\s+(?P<type>(?:unsigned\s+)?\w+)\s+(?P<name>\w+)\s*(?P<dims>(?:\[[^\][]+\]\s*)+);")


def xcd_variants(file: KernelFile, arch: str, reserved: frozenset[str]) -> tuple[str, ...]:
    """`8` for one-dimensional grids on chiplet GPUs, where every use of `blockIdx` is `blockIdx.x` inside a kernel."""
    if not arch.startswith("gfx94") or "xcd_block" in file.code or not file.kernels:
        return ()
    one_axis = all(all(str(e).strip() == "1" for e in x.get("grid", [])[1:]) for x in file.plan["launch"])
    return ("8",) if one_axis and _only_inside(file, "blockIdx", "x") else ()


def xcd_order(file: KernelFile, variant: str) -> str:
    """Permute the blocks: those that land on one chiplet become neighbours.

    The rest keep their place.
    """
    edits = []
    for kernel in file.kernels:
        uses = words(file.code, r"blockIdx\s*\.\s*x", *kernel.body)
        if uses:
            edits += [(m.start(), m.end(), "xcd_block") for m in uses]
            edits.append(
                (
                    kernel.body[0],
                    kernel.body[0],
                    (
                        f"\n    const unsigned xcd_share = gridDim.x / {variant}u;"
                        f"\n    const unsigned xcd_block = blockIdx.x < {variant}u * xcd_share"
                        f"\n        ? (blockIdx.x % {variant}u) * xcd_share + blockIdx.x / {variant}u : blockIdx.x;"
                    ),
                )
            )
    return substitute(file.source, edits)


def padding_variants(file: KernelFile, arch: str, reserved: frozenset[str]) -> tuple[str, ...]:
    """`bank` where a two-dimensional LDS array is used by its two subscripts only and still fits when padded."""
    return ("bank",) if _paddings(file, LDS_BYTES if arch.startswith("gfx") else STATIC_BYTES) else ()


def pad_lds(file: KernelFile, variant: str) -> str:
    """Widen the last dimension by one bank."""
    return substitute(file.source, [(offset, offset, f" + {extra}") for offset, extra in _paddings(file, LDS_BYTES)])


def thread_swap_variants(file: KernelFile, arch: str, reserved: frozenset[str]) -> tuple[str, ...]:
    """`xy` for two-dimensional blocks whose lanes exchange nothing."""
    if THREADS_MARK in file.source or LANES.search(file.code):
        return ()
    two = all(len(_axes(x, "block")) == 2 for x in file.plan["launch"])
    inside = _only_inside(file, "threadIdx", "xy") and _only_inside(file, "blockDim", "xy", required=False)
    return ("xy",) if two and inside else ()


def swap_threads(file: KernelFile, variant: str) -> str:
    """Exchange the axes in code and plan."""
    return _swapped(file, ("threadIdx", "blockDim"), "block", THREADS_MARK)


def grid_swap_variants(file: KernelFile, arch: str, reserved: frozenset[str]) -> tuple[str, ...]:
    """`xy` for two-dimensional grids; not on NVIDIA, where the second extent is limited to 65535."""
    if GRID_MARK in file.source or not arch.startswith("gfx"):
        return ()
    two = all(len(_axes(x, "grid")) == 2 for x in file.plan["launch"])
    inside = _only_inside(file, "blockIdx", "xy") and _only_inside(file, "gridDim", "xy", required=False)
    return ("xy",) if two and inside and "xcd_block" not in file.code else ()


def swap_grid(file: KernelFile, variant: str) -> str:
    """Exchange the axes in code and plan."""
    return _swapped(file, ("blockIdx", "gridDim"), "grid", GRID_MARK)


def _axes(launch: Mapping[str, object], key: str) -> list[str]:
    value = launch.get(key)
    axes = [str(e).strip() for e in value] if isinstance(value, list) else []
    while len(axes) > 2 and axes[-1] == "1":
        axes.pop()
    return axes


def _only_inside(file: KernelFile, word: str, axes: str, required: bool = True) -> bool:
    """Tell whether every use of `word` is one of its axes within a launched kernel, and each such kernel uses it."""
    inside = [m for k in _launched(file) for m in words(file.code, rf"{word}\s*\.\s*[{axes}]", *k.body)]
    if required and not all(words(file.code, word, *k.body) for k in _launched(file)):
        return False
    return len(words(file.code, word)) == len(inside) and bool(inside or not required)


def _launched(file: KernelFile) -> list[KernelText]:
    return [k for k in file.kernels if file.launches(k.name)]


def _swapped(file: KernelFile, names: tuple[str, ...], key: str, mark: str) -> str:
    edits = []
    for kernel in _launched(file):
        for name in names:
            for use in words(file.code, rf"{name}\s*\.\s*[xy]", *kernel.body):
                other = "y" if use.group().endswith("x") else "x"
                edits.append((use.end() - 1, use.end(), other))
    start = file.plan_span[1]
    launches = [{**x, key: [x[key][1], x[key][0], *x[key][2:]]} for x in file.plan["launch"]]
    source = substitute(file.source, [*edits, (start, start, "\n" + mark.rstrip("\n"))])
    return with_plan(file, {**file.plan, "launch": launches}, source)


def _paddings(file: KernelFile, most_bytes: int) -> list[tuple[int, int]]:
    """Place and number of elements of the padding of each LDS array that can take one; none when LDS might overflow."""
    sizes, paddings, total = _constants(file), list[tuple[int, int]](), 0
    for match in _SHARED.finditer(file.code):
        element = ELEMENT_BYTES.get(" ".join(match["type"].split()))
        dims = re.findall(r"\[([^\][]+)\]", match["dims"])
        try:
            extents = [evaluate(d.replace("/", "//"), sizes) for d in dims]
        except PlanError:
            return []
        extra = 0
        whole_lines = len(dims) == 2 and "+" not in dims[1] and extents[1] * (element or 1) % 128 == 0
        if element and whole_lines and _by_subscripts(file, match):
            extra = max(1, 4 // element)
            paddings.append((match.start("dims") + match["dims"].rindex("]"), extra))
        rows = extents[0] if len(extents) == 2 else 1
        size_bytes = (element or 16) * (rows * (extents[1] + extra) if len(extents) == 2 else math.prod(extents))
        total += size_bytes
    unmatched = len(words(file.code, "__shared__")) - len(list(_SHARED.finditer(file.code)))
    dynamic = any(str(x.get("lds", "0")) != "0" for x in file.plan["launch"])
    return paddings if total <= most_bytes and not unmatched and not dynamic else []


def _by_subscripts(file: KernelFile, match: re.Match[str]) -> bool:
    for use in words(file.code, re.escape(match["name"])):
        if match.start() <= use.start() < match.end():
            continue
        offset = use.end()
        for _ in range(2):
            opening = re.compile(r"\s*\[").match(file.code, offset)
            if not opening:
                return False
            offset = closing(file.code, opening.end() - 1) + 1
        if not offset or file.code[: use.start()].rstrip().endswith(("&", "sizeof(", "sizeof")):
            return False
    return True


def _constants(file: KernelFile) -> dict[str, int]:
    """Values of integer constants of the code, and the largest value of every tunable."""
    constants = {name: max(values) for name, values in file.tunables.items()}
    pattern = re.compile(
        r"(?:constexpr|const)\s+(?:static\s+)?(?:int|unsigned|size_t|auto)\s+(\w+)\s*=\s*([^;,]+);"
        r"|^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+([^\n]+)$",
        re.M,
    )
    for match in pattern.finditer(file.code):
        name, text = match[1] or match[3], match[2] or match[4]
        try:
            constants[name] = evaluate(text.strip().replace("/", "//"), constants)
        except PlanError:
            continue
    return constants
