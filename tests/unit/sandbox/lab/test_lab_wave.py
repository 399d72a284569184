"""Operations across the 64 lanes of a wave, each against a model in numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.support.lab_bench import execute, launch

LANE = np.arange(64)
X = np.random.default_rng(11).integers(1, 1 << 31, 64, np.int64)  # never 0, all different
Lanes = npt.NDArray[Any]


def lanes(statement: str, *, kind: str = "int", active: str = "true") -> list[int]:
    """The value of `y` in each lane after the statement, which only `active` lanes reach; the others give -1."""
    dtype = {"int": np.int32, "long": np.int64, "unsigned long long": np.uint64}[kind]
    execution = execute(
        f"""
__global__ void k(const long* values, {kind}* out) {{
    int lane = threadIdx.x;
    {kind} x = values[lane], y = -1;
    if ({active}) {{ {statement}; }}
    out[lane] = y;
}}""",
        [launch("k", ["x", "y"])],
        {"x": X},
        {"y": np.zeros(64, dtype)},
    )
    assert execution.findings == ()
    return [int(v) for v in execution.outputs["y"].tolist()]


WIDTHS, AMOUNTS = (2, 4, 8, 16, 32, 64), (0, 1, 3, 17)
SHUFFLES = ("__shfl", "__shfl_up", "__shfl_down", "__shfl_xor")


@pytest.fixture(scope="module")
def shuffled() -> Lanes:
    """By width, amount and function: one kernel for all."""
    calls = [(name, amount, width) for width in WIDTHS for amount in AMOUNTS for name in SHUFFLES]
    execution = execute(
        f"""
__global__ void k(const long* x, long* y) {{
    int i = threadIdx.x;
    {" ".join(f"y[{64 * n} + i] = {name}(x[i], {m}, {w});" for n, (name, m, w) in enumerate(calls))}
}}""",
        [launch("k", ["x", "y"])],
        {"x": X << 20 | X},
        {"y": np.zeros(64 * len(calls), np.int64)},
    )
    assert execution.findings == ()
    return execution.outputs["y"].reshape(len(WIDTHS), len(AMOUNTS), len(SHUFFLES), 64)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("amount", AMOUNTS)
def test_shuffles_stay_in_their_segment(shuffled: Lanes, width: int, amount: int) -> None:
    start, rank = LANE // width * width, LANE % width
    expected = {
        "__shfl": X[start + amount % width],
        "__shfl_up": np.where(rank >= amount, X[LANE - amount], X),
        "__shfl_down": np.where(rank + amount < width, X[(LANE + amount) % 64], X),
        "__shfl_xor": np.where((LANE ^ amount) < start + width, X[(LANE ^ amount) % 64], X),
    }
    for row, name in zip(shuffled[WIDTHS.index(width), AMOUNTS.index(amount)], SHUFFLES, strict=True):
        assert np.array_equal(row, expected[name] << 20 | expected[name]), name


def test_ballots_have_64_bits_and_none_of_absent_lanes() -> None:
    everyone = sum(1 << i for i in range(64) if X[i] % 3 == 0)
    assert lanes("y = __ballot(x % 3 == 0)", kind="unsigned long long") == [everyone] * 64
    upper = sum(1 << i for i in range(40, 64) if X[i] % 3 == 0)
    assert lanes("y = __ballot(x % 3 == 0)", kind="unsigned long long", active="lane >= 40")[40:] == [upper] * 24
    assert lanes("y = __activemask() >> 32", kind="unsigned long long", active="lane & 1")[1] == 0xAAAAAAAA


def test_votes_count_the_lanes_that_are_there() -> None:
    assert lanes("y = __all(lane < 32) * 10 + __any(lane == 40)", active="lane < 32")[:32] == [10] * 32
    assert lanes("y = __all(lane < 32) * 10 + __any(lane == 40)") == [1] * 64


def test_one_lane_is_read_by_all() -> None:
    assert lanes("y = __builtin_amdgcn_readlane(x, 37)") == [int(X[37])] * 64
    assert lanes("y = __builtin_amdgcn_readfirstlane(x)", active="lane > 20")[21:] == [int(X[21])] * 43


def test_pull_and_push_permutations() -> None:
    source = (LANE * 7 + 3) % 64
    assert lanes("y = __builtin_amdgcn_ds_bpermute(4 * (lane * 7 + 3), x)") == X[source].tolist()  # wraps at 64
    pushed = np.zeros(64, np.int64)
    pushed[source] = X
    assert lanes("y = __builtin_amdgcn_ds_permute(4 * (lane * 7 + 3), x)") == pushed.tolist()
    assert lanes("y = __builtin_amdgcn_ds_permute(4 * (lane / 2), x)") == [*X[1::2].tolist(), *[0] * 32]


PATTERNS = [
    0x401F,
    0x041F,
    0x0818,
    0x00E0,
    0x7C1F,
    0x801B,
    0x80E4,
    0x8000,
    0xC020,
    0xC460,
    0xC3E0,
    0xC0A0,
    0xE000,
    0xE010,
    0xE018,
    0xE01F,
]


@pytest.fixture(scope="module")
def swizzled() -> dict[int, list[int]]:
    """By pattern: one kernel for all."""
    body = "".join(f"y[{64 * n} + i] = __builtin_amdgcn_ds_swizzle(v, 0x{p:X});\n" for n, p in enumerate(PATTERNS))
    execution = execute(
        f"__global__ void k(const long* x, int* y) {{ int i = threadIdx.x, v = x[i];\n{body}}}",
        [launch("k", ["x", "y"])],
        {"x": X},
        {"y": np.zeros(64 * len(PATTERNS), np.int32)},
    )
    assert execution.findings == ()
    return dict(zip(PATTERNS, execution.outputs["y"].reshape(-1, 64).tolist(), strict=True))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_swizzles(swizzled: dict[int, list[int]], pattern: int) -> None:
    half = LANE % 32
    if pattern < 0x8000:
        source = ((half & pattern % 32) | pattern >> 5 & 31) ^ pattern >> 10
    elif pattern < 0xC000:
        source = half // 4 * 4 + (pattern >> 2 * (LANE % 4) & 3)
    elif pattern >= 0xE000:
        mirrored = np.array([int(f"{lane:05b}"[::-1], 2) for lane in half])
        source = mirrored >> (pattern & 31).bit_count() | half & pattern
    else:
        turn = (pattern >> 5 & 31) * (-1 if pattern & 0x400 else 1)  # no mask: LLVM's listings leave it out
        source = half + turn & 31
    expected = X[LANE // 32 * 32 + source]
    assert swizzled[pattern] == expected.tolist()


def test_the_swizzle_of_an_fft_takes_the_lanes_that_the_isa_lists(swizzled: dict[int, list[int]]) -> None:
    listed = {
        0xE000: "00 10 08 18 04 14 0c 1c 02 12 0a 1a 06 16 0e 1e 01 11 09 19 05 15 0d 1d 03 13 0b 1b 07 17 0f 1f",
        0xE010: "00 08 04 0c 02 0a 06 0e 01 09 05 0d 03 0b 07 0f 10 18 14 1c 12 1a 16 1e 11 19 15 1d 13 1b 17 1f",
    }
    for pattern, text in listed.items():
        source = np.array([int(lane, 16) for lane in text.split()])
        expected = np.concatenate([X[:32][source], X[32:][source]])
        assert swizzled[pattern] == expected.tolist()


def dpp_source(control: int) -> Lanes:
    """The lane each lane reads, -1 for none. Rows have 16 lanes."""
    row, lane, n = LANE // 16 * 16, LANE % 16, control % 16
    if control < 0x100:
        return LANE // 4 * 4 + (control >> 2 * (LANE % 4) & 3)
    shifts = {
        0x100: np.where(lane + n < 16, LANE + n, -1),
        0x110: np.where(lane >= n, LANE - n, -1),
        0x120: row + (lane - n) % 16,
        0x150: row + n,
    }
    sources = {
        0x130: np.where(LANE < 63, LANE + 1, -1),
        0x134: (LANE + 1) % 64,
        0x138: LANE - 1,
        0x13C: (LANE - 1) % 64,
        0x140: row + 15 - lane,
        0x141: LANE // 8 * 8 + 7 - LANE % 8,
        0x142: np.where(LANE >= 16, row - 1, -1),
        0x143: np.where(LANE >= 32, 31, -1),
    }
    return sources[control] if control in sources else shifts[control & 0x1F0]


CONTROLS = [
    0x00,
    0x1B,
    0xB1,
    0xE4,
    0x101,
    0x104,
    0x10F,
    0x111,
    0x118,
    0x11F,
    0x121,
    0x12F,
    0x130,
    0x134,
    0x138,
    0x13C,
    0x140,
    0x141,
    0x142,
    0x143,
    0x150,
    0x15B,
]


@pytest.mark.parametrize("rows,banks", [(0xF, 0xF), (0xA, 0xF), (0xF, 0x6), (0x5, 0x9)])
def test_dpp_with_row_and_bank_masks(rows: int, banks: int) -> None:
    """Both ways to treat a source that is not there, with all lanes and with a third of them absent."""
    is_active = LANE % 3 != 1
    for active, condition in ((np.ones(64, bool), "true"), (is_active, "lane % 3 != 1")):
        body = "".join(
            f"y[{64 * (2 * n + zero)} + lane] = __builtin_amdgcn_update_dpp(-7, x, 0x{control:X}, {rows}, {banks}, "
            f"{'true' if zero else 'false'});\n"
            for n, control in enumerate(CONTROLS)
            for zero in range(2)
        )
        execution = execute(
            f"""
__global__ void k(const long* values, int* y) {{
    int lane = threadIdx.x, x = values[lane];
    if ({condition}) {{ {body} }}
}}""",
            [launch("k", ["x", "y"])],
            {"x": X},
            {"y": np.zeros(128 * len(CONTROLS), np.int32)},
        )
        assert execution.findings == ()
        is_written = (rows >> LANE // 16 & 1).astype(bool) & (banks >> LANE % 16 // 4 & 1).astype(bool)
        for n, control in enumerate(CONTROLS):
            source = dpp_source(control)
            valid = (source >= 0) & active[source]
            for zero in range(2):
                expected = np.where(is_written, np.where(valid, X[source], 0 if zero else -7), -7)
                actual = execution.outputs["y"].reshape(-1, 64)[2 * n + zero]
                assert np.array_equal(actual[active], expected[active]), (hex(control), zero, condition)


def test_mbcnt_counts_the_bits_below_a_lane() -> None:
    mask = 0xDEADBEEF12345678
    expected = [100 + bin(mask & (1 << i) - 1).count("1") for i in range(64)]
    assert (
        lanes(f"y = __builtin_amdgcn_mbcnt_hi({mask >> 32}u, __builtin_amdgcn_mbcnt_lo({mask & 0xFFFFFFFF}u, 100))")
        == expected
    )


def test_a_barrier_between_two_equal_conditions_is_one_barrier() -> None:
    """What stands behind each of them must not make the compiler copy the barriers into both branches."""
    execution = execute(
        """
__device__ int total(int* t, int v) {
    t[threadIdx.x] = v;
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < 128; i++) sum += t[i];
    __syncthreads();
    return sum;
}
__global__ void k(int* y) {
    __shared__ int t[128], first[4];
    int i = threadIdx.x;
    if (i < 4) first[i] = i;
    __syncthreads();
    int sum = total(t, i);
    __syncthreads();
    if (i < 4) y[i] = first[i] + sum;
}""",
        [launch("k", ["y"], block=[128])],
        {},
        {"y": np.zeros(4, np.int32)},
    )
    assert execution.findings == () and execution.outputs["y"].tolist() == [8128 + i for i in range(4)]
