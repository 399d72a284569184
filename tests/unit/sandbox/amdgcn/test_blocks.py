from __future__ import annotations

from sandbox.amdgcn.blocks import blocks_in, walk
from sandbox.amdgcn.mnemonics import bytes_per_lane, issue_category, memory_class
from sandbox.lab.cost.counters import LaunchCounters
from sandbox.lab.cost.issue import ExecutedCode, executions
from sandbox.target import load_target

MI300X = load_target("mi300x")

LISTING = """\t.file\t1 "." "candidate.hip"
\t.type\tk,@function
k:
\t.loc\t1 10 3
\tv_mov_b32_e32 v0, 0
.LBB0_1:
\t.loc\t1 12 5
\tglobal_load_dwordx2 v[2:3], v[0:1], off
\tglobal_load_dwordx2 v[4:5], v[0:1], off offset:8
\tv_add_f32_e32 v0, v2, v3
\tv_exp_f32_e32 v0, v0
\ts_cbranch_scc1 .LBB0_1
\tv_mul_f32_e32 v0, v0, v0
.LBB0_3:
\t.loc\t1 20 1
\tglobal_store_dword v0, v1, s[0:1]
\ts_endpgm
\t.section\t.rodata
"""


RUNS = (1.0, 5.0, 1.0, 1.0)  # of each block, by a wave


def counted(waves: float, runs: tuple[float, ...]) -> LaunchCounters:
    return LaunchCounters("k", 1, 64, 1, waves, 0, 0, 0, (), runs=runs)


def test_blocks_end_at_labels_and_branches_and_know_their_loop() -> None:
    blocks = blocks_in(walk(LISTING, "candidate.hip"))["k"]
    assert [(b.valu, b.trans, dict(b.anchors), b.loop) for b in blocks] == [
        (1, 0, {}, -1),
        (1, 1, {"12:load": 16}, 1),
        (1, 0, {}, -1),
        (0, 0, {"20:store": 4}, -1),
    ]


def test_vector_clocks_are_of_the_blocks_as_often_as_a_wave_ran_them() -> None:
    blocks = blocks_in(walk(LISTING, "candidate.hip"))["k"]
    assert ExecutedCode.of(counted(3, RUNS), blocks, MI300X).vector_clocks() == 3 * (4 + 5 * (4 + 16) + 4)


def test_blocks_of_another_listing_than_was_executed_are_not_known_to_have_run() -> None:
    blocks = blocks_in(walk(LISTING, "candidate.hip"))["k"]
    assert executions(counted(3, RUNS), blocks) == [*RUNS]
    assert executions(counted(3, RUNS[1:]), blocks) == [0.0] * 4


def test_another_device_needs_no_copies_and_two_instructions_for_a_packed_one() -> None:
    listing = LISTING.replace("\tv_add_f32_e32 v0, v2, v3", "\tv_pk_add_f32 v[0:1], v[2:3], v[4:5]")
    blocks = blocks_in(walk(listing, "candidate.hip"))["k"]
    assert [(b.copies, b.packed) for b in blocks] == [(1, 0), (0, 1), (0, 0), (0, 0)]
    seen = counted(3, RUNS)
    assert ExecutedCode.of(seen, blocks, MI300X).vector_clocks() == 3 * (4 + 5 * (4 + 16) + 4)
    assert ExecutedCode.of(seen, blocks, load_target("h200")).vector_clocks() == 3 * (0 + 5 * (2 + 1) + 1)


def test_loops_that_share_a_block_are_one_region_and_waits_belong_to_their_block() -> None:
    text = LISTING.replace("\tv_add_f32_e32 v0", "\ts_waitcnt vmcnt(0)\n\tv_add_f32_e32 v0")
    blocks = blocks_in(walk(text, "candidate.hip"))["k"]
    assert [(b.region, b.loads, b.stalls) for b in blocks] == [(-1, 0, 0.0), (1, 2, 1.0), (-1, 0, 0.0), (-1, 0, 0.0)]
    crossing = "".join(f".LBB0_{n}:\n\ts_cbranch_scc1 .LBB0_{to}\n" for n, to in ((5, 9), (6, 5), (7, 6), (8, 8)))
    found = blocks_in(walk("\t.type\tk,@function\nk:\n" + crossing, "candidate.hip"))["k"]
    assert [b.region for b in found if b.issued] == [1, 1, 1, 7]


def test_memory_instructions_are_told_apart() -> None:
    assert [
        memory_class(m)
        for m in (
            "ds_read2st64_b64",
            "ds_write_b128",
            "global_load_ubyte",
            "buffer_store_dword",
            "global_atomic_add_f32",
            "s_load_dword",
        )
    ] == ["lds load", "lds store", "load", "store", "", ""]
    assert [
        bytes_per_lane(m)
        for m in (
            "ds_read2st64_b64",
            "ds_read_b128",
            "global_load_dwordx4",
            "global_load_ubyte",
            "global_load_short_d16",
            "global_store_dword",
        )
    ] == [16, 16, 16, 1, 2, 4]


def test_issue_is_the_fullest_category_or_all_over_the_waves_that_share_a_simd() -> None:
    blocks = blocks_in(walk(LISTING, "candidate.hip"))["k"]
    assert [dict(b.issued) for b in blocks] == [
        {"vector": 1},
        {"memory": 2, "vector": 2, "branch": 1},
        {"vector": 1},
        {"memory": 1},
    ]
    seen = counted(3, RUNS)
    # A wave: 12 vector, 11 memory, 5 branches; alone on its SIMD they come one after the other, else the vectors bind.
    assert ExecutedCode.of(seen, blocks, MI300X).issue_clocks(1.0) == 3 * 4 * 28
    assert ExecutedCode.of(seen, blocks, MI300X).issue_clocks(8.0) == 3 * 4 * 12
    assert ExecutedCode.of(seen, (), MI300X).issue_clocks(1.0) == 0.0


def test_waits_take_no_issue_slot() -> None:
    assert [
        issue_category(m)
        for m in (
            "s_waitcnt",
            "s_nop",
            "s_add_i32",
            "s_load_dwordx2",
            "ds_read_b128",
            "v_mfma_f32_32x32x16_fp8_fp8",
            "s_cbranch_execz",
            "buffer_load_dword",
        )
    ] == ["", "", "scalar", "scalar", "lds", "vector", "branch", "memory"]
