"""Ways to multiply parts of two rows: an instruction of the matrix cores, or fused steps of each lane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Shape = tuple[int, int, int, int]  # waves along rows and columns, tiles of each along both

# Rows and columns of the result that a lane's sums lie at; both operands lie in LDS by rows.
_OF_WAVE = (
    "const int lane_ = threadIdx.x % 64, half_ = lane_ / 32, spot_ = lane_ % 32;",
    "const int wave_i_ = threadIdx.x / 64 % WAVESI * TILESI, wave_j_ = threadIdx.x / 64 / WAVESI * TILESJ;",
)
_OF_LANE = (
    "constexpr int SPOTS_ = WAVESI * WAVESJ * 64;",
    "const int slice_ = threadIdx.x / SPOTS_, spot_ = threadIdx.x % SPOTS_;",
    "const int lane_j_ = spot_ % (WAVESJ * 8), lane_i_ = spot_ / (WAVESJ * 8);",
)


@dataclass(frozen=True)
class ProductKind:
    """One way, with the C++ that it consists of."""

    name: str
    bytes: int  # of an element in LDS
    element: str  # its type
    result: str  # the type of a sum
    total: str  # the type of a lane's sums of one tile
    results: int  # results that it holds
    tile: int  # rows and columns of a tile
    lanes: int  # work-items that share the tiles of one "wave"
    step: int  # bytes along the inner axis that are used at a time
    positions: Sequence[str]  # statements that find a lane's place
    left_row: str
    right_row: str
    part_number: str  # of a row in LDS, at byte `c_`
    row: str
    column: str
    taken: str
    shapes: Sequence[Shape]  # to choose the first from
    usual: Sequence[Sequence[int]]  # values of each of the four to try
    most_tiles: int
    depths: Sequence[int] = (64, 128, 32)  # bytes along the inner axis in LDS
    text: str = ""
    is_gathered: bool = False  # long sums are added up in stretches
    is_sliced: bool = False  # waves may share the inner axis of one tile

    @property
    def each(self) -> int:
        """Elements of a part of 16 bytes."""
        return 16 // self.bytes

    @property
    def part(self) -> str:
        """Name the type of 16 bytes."""
        return f"Part_{self.name}"

    @property
    def multiply(self) -> str:
        """Name the function that adds the products of two parts to sums."""
        return f"multiply_{self.name}"

    @property
    def functions(self) -> str:
        """Write the types and the function."""
        vector = f"typedef {self.element} {self.part} __attribute__((ext_vector_type({self.each})));"
        return f"{vector}\n{self.text}\n"


_MATRIX_SHAPES = (
    *((2, 2, 2, 2), (4, 2, 2, 2), (4, 4, 2, 2), (2, 4, 2, 1), (4, 2, 1, 2), (2, 2, 1, 1), (2, 2, 2, 1)),
    *((1, 4, 1, 1), (4, 1, 1, 1), (1, 2, 1, 1)),
)


_MATRIX_SHAPES = (
    *((2, 2, 2, 2), (4, 2, 2, 2), (4, 4, 2, 2), (2, 4, 2, 1), (4, 2, 1, 2), (2, 2, 1, 1), (2, 2, 2, 1)),
    *((1, 4, 1, 1), (4, 1, 1, 1), (1, 2, 1, 1)),
)


def _matrix(
    name: str, element: str, size: int, builtin: str, operand: str, per_operand: int, whole: bool = False
) -> ProductKind:
    """Describe an instruction for tiles of 32 by 32; each lane gives `per_operand` bytes of a row."""
    scalar, total = ("int", "Whole_sums") if whole else ("float", "Sums")
    count = 16 // per_operand
    pieces = f"__builtin_bit_cast(Operands_{name}, x)"
    typedefs = {
        "_Float16": f"typedef _Float16 Operand_{name} __attribute__((ext_vector_type(4)));",
        "short": f"typedef short Operand_{name} __attribute__((ext_vector_type(4)));",
        "long": f"typedef long Operand_{name};",
        "float": f"typedef float Operand_{name};",
    }
    text = "\n".join(
        [
            f"typedef {scalar} {total}_{name} __attribute__((ext_vector_type(16)));",
            typedefs[operand],
            f"struct Operands_{name} {{ Operand_{name} of[{count}]; }};",
            f"__device__ __forceinline__ void multiply_{name}(Part_{name} x, Part_{name} y, {total}_{name}& sums) {{",
            f"    const Operands_{name} left = {pieces}, right = __builtin_bit_cast(Operands_{name}, y);",
            "#pragma unroll",
            f"    for (int s = 0; s < {count}; ++s) sums = {builtin}(left.of[s], right.of[s], sums, 0, 0, 0);",
            "}",
        ]
    )
    return ProductKind(
        name=name,
        bytes=size,
        element=element,
        result=scalar,
        total=f"{total}_{name}",
        results=16,
        tile=32,
        lanes=64,
        step=32,
        positions=_OF_WAVE,
        left_row="(wave_i_ + m_) * 32 + spot_",
        right_row="(wave_j_ + n_) * 32 + spot_",
        part_number="c_ / 16 + half_",
        row="first_i_ + (wave_i_ + m_) * 32 + r_ / 4 * 8 + half_ * 4 + r_ % 4",
        column="first_j_ + (wave_j_ + n_) * 32 + spot_",
        taken="totals_[m_][n_][r_]" if operand == "float" else "sums_[m_][n_][r_]",
        shapes=_MATRIX_SHAPES,
        usual=((2, 1, 4), (2, 1, 4), (2, 1, 4), (2, 1)),
        most_tiles=8,
        text=text,
        is_gathered=operand == "float",
    )


def _fused(name: str, scalar: str, size: int) -> ProductKind:
    """Describe sums of each lane by fused steps: two at once of single precision."""
    is_pair = scalar == "float"
    total = f"Sums_{name}"
    if is_pair:
        step = "sums = __builtin_elementwise_fma(x.xy, y.xy, sums); sums = __builtin_elementwise_fma(x.zw, y.zw, sums);"
        declared = f"typedef float {total} __attribute__((ext_vector_type(2)));"
    else:
        step = f"for (int s = 0; s < {16 // size}; ++s) sums += x[s] * y[s];"
        declared = f"typedef {scalar} {total};"
    head = f"__device__ __forceinline__ void multiply_{name}(Part_{name} x, Part_{name} y, {total}& sums)"
    return ProductKind(
        name=name,
        bytes=size,
        element=scalar,
        result=scalar,
        total=total,
        results=1,
        tile=8,
        lanes=64,
        step=16,
        positions=_OF_LANE,
        left_row="lane_i_ + m_ * WAVESI * 8",
        right_row="lane_j_ + n_ * WAVESJ * 8",
        part_number="c_ / 16 + slice_",
        row="first_i_ + at_ / (WAVESJ * 8) + m_ * WAVESI * 8",
        column="first_j_ + at_ % (WAVESJ * 8) + n_ * WAVESJ * 8",
        taken="sums_[m_][n_].x + sums_[m_][n_].y" if is_pair else "sums_[m_][n_]",
        shapes=[(w, v, i, j) for w, v in ((1, 1), (2, 1), (1, 2), (2, 2)) for i in range(4, 11) for j in range(4, 11)],
        usual=((1, 2), (1, 2), (8, 4, 6, 5, 7), (8, 4, 6, 7)),
        most_tiles=80,
        text=f"{declared}\n{head} {{ {step} }}",
        is_sliced=True,
        depths=(128, 64, 256),
    )


BITS = {"f16": "unsigned short", "bf16": "unsigned short", "e4m3fnuz": "unsigned char", "e5m2fnuz": "unsigned char"}
_MFMA = "__builtin_amdgcn_mfma"
KINDS: Mapping[str, ProductKind] = {
    kind.name: kind
    for kind in (
        _matrix("f16", BITS["f16"], 2, f"{_MFMA}_f32_32x32x8f16", "_Float16", 8),
        _matrix("bf16", BITS["bf16"], 2, f"{_MFMA}_f32_32x32x8bf16_1k", "short", 8),
        _matrix("f32", "float", 4, f"{_MFMA}_f32_32x32x2f32", "float", 4),
        _matrix("e4m3fnuz", BITS["e4m3fnuz"], 1, f"{_MFMA}_f32_32x32x16_fp8_fp8", "long", 8),
        _matrix("e5m2fnuz", BITS["e5m2fnuz"], 1, f"{_MFMA}_f32_32x32x16_bf8_bf8", "long", 8),
        _matrix("i8", "signed char", 1, f"{_MFMA}_i32_32x32x16_i8", "long", 8, whole=True),
        _fused("fused_f32", "float", 4),
        _fused("fused_f64", "double", 8),
        _fused("fused_i32", "int", 4),
        _fused("fused_i64", "long long", 8),
    )
}
