"""Text of kernels that multiply matrices tile by tile: operands through LDS, sums in the registers of waves.

Both operands lie in LDS by rows along the inner axis, in parts of 16 bytes. Whoever writes a kernel says how elements
are loaded (`Operand`) and what becomes of a sum; tiles, ragged ends and the overlap of loads and sums are here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agents.product_kinds import ProductKind
from agents.tile_loads import UNROLLED, Operand, direct_loads, indented, turned_loads

TUNABLES = ("WAVESI", "WAVESJ", "TILESI", "TILESJ", "SLICES", "DEPTH", "BUFFERS")
STRETCH = 64  # products that are added up before they join what came before
APART = "what follows may come a wait state too early behind a matrix instruction"


_SIDES = (("left", "ROWS_", "first_i_"), ("right", "COLUMNS_", "first_j_"))


@dataclass(frozen=True)
class TiledProduct:
    """One kernel. `parameters` and `arguments` are what its device functions take and get."""

    name: str
    kind: ProductKind
    left: Operand
    right: Operand
    depth: str  # the extent of the inner axis, in C++
    parameters: str
    arguments: str
    whole: str  # the condition under which neighbours may be taken together, in C++; "" for always
    results: Sequence[str]  # statements that use `sum_` at row `i_` and column `j_` of matrix `o_`
    before: Sequence[str] = ()  # declarations that all of these texts rest on

    def functions(self) -> list[str]:
        """Write the device functions: loads of both operands, and the tiles."""
        lines = [*self._loads("left", self.left), *self._loads("right", self.right)]
        return [*lines, *self._tiles()]

    def calls(self) -> list[str]:
        """Write the body of the kernel."""
        size = "BUFFERS * (ROWS_ + COLUMNS_) * DEPTH"
        if self.kind.is_sliced:
            joined = f"{self.lanes} * TILESJ * {self.kind.bytes}"
            size = f"SLICES > 1 && {joined} > {size} ? {joined} : {size}"
        lines = [f"{self._extents()}", f"__shared__ __attribute__((aligned(16))) unsigned char staged_[{size}];"]
        if not self.whole:
            return [*lines, f"{self.name}_tiles<true>(staged_, {self.arguments});"]
        return [
            *lines,
            f"if ({self.whole}) {self.name}_tiles<true>(staged_, {self.arguments});",
            f"else {self.name}_tiles<false>(staged_, {self.arguments});",
        ]

    def _extents(self) -> str:
        each = self.kind.tile
        return f"constexpr int ROWS_ = WAVESI * TILESI * {each}, COLUMNS_ = WAVESJ * TILESJ * {each};"

    @property
    def lanes(self) -> str:
        """Work-items of a workgroup, in the plan's terms."""
        return f"WAVESI * WAVESJ * {'SLICES * ' if self.kind.is_sliced else ''}{self.kind.lanes}"

    def _loads(self, side: str, operand: Operand) -> list[str]:
        """Write a function that takes a lane's parts of one tile from memory."""
        kind = self.kind
        head = [
            "template <int TILE_ROWS_, int WIDE_, bool ENDS_>",
            f"__device__ __forceinline__ void {self.name}_{side}({kind.part} (&parts_)[parts_of(TILE_ROWS_, "
            f"DEPTH, {self.lanes}, {'WIDE_' if operand.is_turned else '1'})],",
            f"        int o_, int first_, int from_, {self.parameters}) {{",
            *indented(self.before),
            "    constexpr int V = WIDE_;",
            f"    const int rows_ = {operand.rows}, depth_ = {self.depth};",
        ]
        body = turned_loads(kind, self.lanes, operand) if operand.is_turned else direct_loads(kind, self.lanes, operand)
        return [*head, *indented(body), "}", ""]

    def _tiles(self) -> list[str]:
        """Write the function of one workgroup: its tiles along the inner axis, loaded a tile ahead."""
        kind, name = self.kind, self.name
        ahead = f"if (from_ + K_ < depth_) {{ {self._loading('from_ + K_', 'true')} }}"
        return [
            "template <bool WHOLE_>",
            f"__device__ __forceinline__ void {name}_tiles(unsigned char* staged_, {self.parameters}) {{",
            *indented(self.before),
            f"    {self._extents()}",
            f"    constexpr int K_ = DEPTH / {kind.bytes};",
            f"    const int rows_ = {self.left.rows}, columns_ = {self.right.rows}, depth_ = {self.depth};",
            "    const int tiles_i_ = (rows_ - 1) / ROWS_ + 1, tiles_j_ = (columns_ - 1) / COLUMNS_ + 1;",
            "    const int o_ = blockIdx.x / (tiles_i_ * tiles_j_), tile_ = blockIdx.x % (tiles_i_ * tiles_j_);",
            "    const int first_i_ = tile_ % tiles_i_ * ROWS_, first_j_ = tile_ / tiles_i_ * COLUMNS_;",
            *indented(kind.positions),
            f"    {kind.total} sums_[TILESI][TILESJ] = {{}};",
            *([f"    {kind.total} totals_[TILESI][TILESJ] = {{}};"] if kind.is_gathered else []),
            *(
                f"    {kind.part} {side}_[parts_of({rows}, DEPTH, {self.lanes}, {self._together(side)})];"
                for side, rows, _ in _SIDES
            ),
            f"    if (K_ <= depth_) {{ {self._loading('0', 'false')} }}",
            f"    else {{ {self._loading('0', 'true')} }}",
            "    int buffer_ = 0, from_ = 0;",
            "    for (; from_ + 2 * K_ <= depth_; from_ += K_) {",
            *indented(self._step(self._loading("from_ + K_", "false")), 2),
            "    }",
            "    for (; from_ < depth_; from_ += K_) {",
            *indented(self._step(ahead), 2),
            "    }",
            *([] if kind.is_sliced else [f"    __syncthreads();  // {APART}"]),
            *indented(self._ends()),
            "}",
            "",
        ]

    def _step(self, following: str) -> list[str]:
        """Write one tile: to LDS, the loads of the following one, and the sums."""
        return [
            "unsigned char* const left_tile_ = staged_ + buffer_ * (ROWS_ + COLUMNS_) * DEPTH;",
            "unsigned char* const right_tile_ = left_tile_ + ROWS_ * DEPTH;",
            "if (BUFFERS == 1) __syncthreads();",
            *(
                f"stage_parts<{rows}, DEPTH, {self.lanes}, {self._together(side)}, "
                f"{'true' if getattr(self, side).is_turned else 'false'}>({side}_, {side}_tile_);"
                for side, rows, _ in _SIDES
            ),
            "__syncthreads();",
            following,
            *_sums(self.kind),
            *(_gathered() if self.kind.is_gathered else []),
            "if (BUFFERS == 2) buffer_ ^= 1;",
        ]

    def _loading(self, start: str, ends: str) -> str:
        return " ".join(
            f"{self.name}_{side}<{rows}, {self._wide(side)}, {ends}>({side}_, o_, {first}, {start}, {self.arguments});"
            for side, rows, first in _SIDES
        )

    def _together(self, side: str) -> str:
        """Count the rows that a lane's parts are of, in C++."""
        return self._wide(side) if getattr(self, side).is_turned else "1"

    def _wide(self, side: str) -> str:
        rows = {name: extent for name, extent, _ in _SIDES}[side]
        if getattr(self, side).is_turned:
            return f"(WHOLE_ ? wide_of(parts_of({rows}, DEPTH, {self.lanes}, 1), {self.kind.each}) : 1)"
        return f"(WHOLE_ ? {self.kind.each} : 1)"

    def _ends(self) -> list[str]:
        """Write what becomes of the sums."""
        if self.kind.is_sliced:
            return self._joined()
        loops = [f"for (int {v} = 0; {v} < {end}; ++{v}) {{" for v, end in _LOOPS]
        return _nested([*loops, f"for (int r_ = 0; r_ < {self.kind.results}; ++r_) {{"], self._result(self.kind.taken))

    def _result(self, taken: str) -> list[str]:
        return [
            f"const int i_ = {self.kind.row}, j_ = {self.kind.column};",
            "if (i_ < rows_ && j_ < columns_) {",
            f"    const {self.kind.result} sum_ = {taken};",
            *indented(self.results),
            "}",
        ]

    def _joined(self) -> list[str]:
        """Write the results of waves that share the inner axis: their sums meet in LDS, a row of tiles at a time."""
        kind, lanes = self.kind, self.lanes
        alone = ["const int at_ = spot_;", *self._result(kind.taken)]
        return [
            "if constexpr (SLICES == 1) {",
            *indented(_nested([f"for (int {v} = 0; {v} < {end}; ++{v}) {{" for v, end in _LOOPS], alone)),
            "} else {",
            f"    {kind.result}* const shared_ = ({kind.result}*)staged_;",
            UNROLLED,
            "    for (int m_ = 0; m_ < TILESI; ++m_) {",
            "        __syncthreads();",
            UNROLLED,
            "        for (int n_ = 0; n_ < TILESJ; ++n_)",
            f"            shared_[n_ * ({lanes}) + (int)threadIdx.x] = {kind.taken};",
            "        __syncthreads();",
            f"        for (int all_ = threadIdx.x; all_ < TILESJ * SPOTS_; all_ += {lanes}) {{",
            "            const int n_ = all_ / SPOTS_, at_ = all_ % SPOTS_;",
            f"            {kind.result} joined_ = shared_[n_ * ({lanes}) + at_];",
            UNROLLED,
            "            for (int s_ = 1; s_ < SLICES; ++s_)",
            f"                joined_ += shared_[n_ * ({lanes}) + s_ * SPOTS_ + at_];",
            *indented(self._result("joined_"), 3),
            "        }",
            "    }",
            "}",
        ]


_LOOPS = (("m_", "TILESI"), ("n_", "TILESJ"))


def _sums(kind: ProductKind) -> list[str]:
    """Write the products of the tiles in LDS."""
    left, right = (
        f"*(const {kind.part}*)({side}_tile_ + place_of<DEPTH>({place}, {kind.part_number}))"
        for side, place in (("left", kind.left_row), ("right", kind.right_row))
    )
    return [
        UNROLLED,
        f"for (int c_ = 0; c_ < DEPTH; c_ += {'SLICES * ' if kind.is_sliced else ''}{kind.step}) {{",
        f"    {kind.part} of_left_[TILESI], of_right_[TILESJ];",
        UNROLLED,
        f"    for (int m_ = 0; m_ < TILESI; ++m_) of_left_[m_] = {left};",
        UNROLLED,
        f"    for (int n_ = 0; n_ < TILESJ; ++n_) of_right_[n_] = {right};",
        UNROLLED,
        "    for (int m_ = 0; m_ < TILESI; ++m_)",
        UNROLLED,
        "        for (int n_ = 0; n_ < TILESJ; ++n_)",
        f"            {kind.multiply}(of_left_[m_], of_right_[n_], sums_[m_][n_]);",
        "}",
    ]


def _gathered() -> list[str]:
    """Add up stretches of long sums apart, so that their rounding stays small."""
    return [
        f"if ((from_ + K_) % (K_ < {STRETCH} ? {STRETCH} : K_) == 0 || from_ + K_ >= depth_) {{",
        UNROLLED,
        "    for (int m_ = 0; m_ < TILESI; ++m_)",
        UNROLLED,
        "        for (int n_ = 0; n_ < TILESJ; ++n_) {",
        "            totals_[m_][n_] += sums_[m_][n_];",
        "            sums_[m_][n_] = {};",
        "        }",
        "}",
    ]


def _nested(loops: Sequence[str], inner: Sequence[str]) -> list[str]:
    lines = list(inner)
    for loop in reversed(loops):
        lines = [UNROLLED, loop, *indented(lines), "}"]
    return lines
