"""Text of loads for tiles: from memory into parts of 16 bytes of each lane, and from these into LDS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agents.product_kinds import ProductKind

PART_BYTES = 16
UNROLLED = "#pragma unroll"


@dataclass(frozen=True)
class Operand:
    """One operand: statements that set `x_[v_]` for V neighbours that begin at row `i_` and inner place `k_`."""

    lines: Sequence[str]
    rows: str  # the number of rows, in C++
    is_turned: bool  # neighbours follow along rows, not along the inner axis


def direct_loads(kind: ProductKind, lanes: str, operand: Operand) -> list[str]:
    """Load along the inner axis: a part is some neighbours, zeros behind the end."""
    return [
        f"constexpr int ALONG_ = DEPTH / {PART_BYTES}, PARTS_ = TILE_ROWS_ * ALONG_;",
        UNROLLED,
        f"for (int part_ = 0; part_ < parts_of(TILE_ROWS_, DEPTH, {lanes}, 1); ++part_) {{",
        f"    const int at_ = part_ * ({lanes}) + (int)threadIdx.x;",
        f"    if (PARTS_ % ({lanes}) != 0 && at_ >= PARTS_) break;",
        "    const int wanted_ = first_ + at_ / ALONG_, i_ = wanted_ < rows_ ? wanted_ : rows_ - 1;",
        UNROLLED,
        f"    for (int s_ = 0; s_ < {kind.each}; s_ += V) {{",
        f"        const int next_ = from_ + at_ % ALONG_ * {kind.each} + s_;",
        "        const int k_ = !ENDS_ || next_ < depth_ ? next_ : depth_ - V;",
        f"        {kind.element} x_[V];",
        *indented(operand.lines, 2),
        UNROLLED,
        "        for (int v_ = 0; v_ < V; ++v_) parts_[part_][s_ + v_] = !ENDS_ || next_ < depth_ ? x_[v_] : 0;",
        "    }",
        "}",
    ]


def turned_loads(kind: ProductKind, lanes: str, operand: Operand) -> list[str]:
    """Load along rows, some inner places one after the other, and turn them in registers."""
    return [
        f"constexpr int GROUPS_ = TILE_ROWS_ / V, UNITS_ = GROUPS_ * (DEPTH / {PART_BYTES});",
        UNROLLED,
        f"for (int unit_ = 0; unit_ < (UNITS_ - 1) / ({lanes}) + 1; ++unit_) {{",
        f"    const int at_ = unit_ * ({lanes}) + (int)threadIdx.x;",
        f"    if (UNITS_ % ({lanes}) != 0 && at_ >= UNITS_) break;",
        "    const int wanted_ = first_ + at_ % GROUPS_ * V, i_ = wanted_ < rows_ ? wanted_ : rows_ - V;",
        UNROLLED,
        f"    for (int s_ = 0; s_ < {kind.each}; ++s_) {{",
        f"        const int next_ = from_ + at_ / GROUPS_ * {kind.each} + s_;",
        "        const int k_ = !ENDS_ || next_ < depth_ ? next_ : depth_ - 1;",
        f"        {kind.element} x_[V];",
        *indented(operand.lines, 2),
        UNROLLED,
        "        for (int v_ = 0; v_ < V; ++v_) parts_[unit_ * V + v_][s_] = !ENDS_ || next_ < depth_ ? x_[v_] : 0;",
        "    }",
        "}",
    ]


def indented(lines: Sequence[str], by: int = 1) -> list[str]:
    """Indent lines of code."""
    return [line if line.startswith("#") else f"{'    ' * by}{line}" for line in lines]


STAGING = """// Parts of 16 bytes that each lane takes of a tile, in groups of so many rows.
constexpr int parts_of(int rows, int depth, int lanes, int wide) {
    return ((rows / wide) * (depth / 16) - 1) / lanes * wide + wide;
}
// The place of a part in LDS: parts of one column lie in different banks, row after row.
template <int depth> __device__ __forceinline__ int place_of(int row, int part) {
    constexpr int parts = depth / 16, rows = parts < 8 ? 8 / parts : 1;
    return row * depth + (part ^ row / rows % parts) * 16;
}
constexpr int wide_of(int parts, int each) { return parts >= 4 && each >= 4 ? 4 : parts >= 2 ? 2 : 1; }
template <int rows, int depth, int lanes, int wide, bool turned, class Part, int count>
__device__ __forceinline__ void stage_parts(const Part (&parts)[count], unsigned char* tile) {
    constexpr int groups = turned ? rows / wide : depth / 16, all = rows / wide * (depth / 16);
#pragma unroll
    for (int unit = 0; unit < count / wide; ++unit) {
        const int at = unit * lanes + (int)threadIdx.x;
        if (all % lanes != 0 && at >= all) break;
        const int row = turned ? at % groups * wide : at / groups, part = turned ? at / groups : at % groups;
#pragma unroll
        for (int v = 0; v < wide; ++v) *(Part*)(tile + place_of<depth>(row + v, part)) = parts[unit * wide + v];
    }
}
// Neighbours in memory as they are, in one load where it is wide enough.
template <int V, class Element, class From>
__device__ __forceinline__ void load_whole(const From* from, Element (&x)[V]) {
    static_assert(sizeof(From) == sizeof(Element));
    __builtin_memcpy(x, from, V * sizeof(Element));
}
"""
