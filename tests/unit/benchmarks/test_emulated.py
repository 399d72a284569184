"""The lab with the H200's description, its comparison with stored measurements, and how those are read."""

from __future__ import annotations

import pytest

from benchmarks.emulated import ALL_BLOCKS, count, stored
from benchmarks.lab_counters import Row as Counted
from benchmarks.lab_ranking import Row, chosen, recall, spearman
from benchmarks.profiler import parse_ncu
from benchmarks.specimens import counter_specimens
from sandbox.gpu.compile.dialect import headers, translate
from sandbox.lab.cost.counters import LDS_LOAD, LDS_STORE, LOAD, STORE
from sandbox.lab.cost.phases import lane_groups
from sandbox.lab.lab import Lab
from sandbox.target import load_target
from tests.support.compiler_cache import COMPILED, toolchain

KERNELS = stored("lab_counters_h200.json")["kernels"]
SECTORS = "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_"


@pytest.mark.parametrize(
    "name",
    [
        "load stride 3",
        "store shifted by 1",
        "gather random, float2",
        "lanes without bits 3",
        "LDS stride 8",
        "LDS float2 stride 2",
        "LDS random float4",
        "block sum, way 2",
        "transpose tile padded",
    ],
)
def test_the_lab_counts_what_an_h200_counted(name: str) -> None:
    specimen = next(s for s in counter_specimens() if s.name == name)
    measured = KERNELS[name]["source_counters"]
    lab = Lab(toolchain(), COMPILED, load_target("h200"), cores=2)
    seen = count(lab, specimen, specimen.inputs(), None, ALL_BLOCKS)
    assert seen.total("segments", LOAD) == measured[f"{SECTORS}ld.sum"]
    assert seen.total("segments", STORE) == measured[f"{SECTORS}st.sum"]
    beyond = measured["memory_l1_wavefronts_shared"] - measured["memory_l1_wavefronts_shared_ideal"]
    assert seen.total("conflicts", LDS_LOAD, LDS_STORE) == beyond
    assert seen.waves == seen.blocks * -(-seen.threads // 32)


def test_a_warp_has_one_conflict_group_for_4_bytes_and_four_for_16() -> None:
    groups = lane_groups("nvidia", 32)
    assert set(groups[:32]) == {0} and [groups[3 * 64 + lane] for lane in (0, 7, 8, 31)] == [0, 0, 1, 3]


def test_a_kernel_agrees_only_within_the_limits() -> None:
    assert Counted("k", (102, 100), (0, 0), (105, 100)).agrees
    assert not Counted("k", (103, 100), (0, 0), (0, 0)).agrees
    assert not Counted("k", (100, 100), (1, 0), (0, 0)).agrees
    assert not Counted("k", (100, 100), (0, 0), (106, 100)).agrees


def test_rank_correlation_shares_the_ranks_of_equal_values() -> None:
    assert spearman([1, 2, 3, 4], [10, 20, 30, 99]) == pytest.approx(1.0)
    assert spearman([1, 2, 3, 4], [4, 3, 2, 1]) == pytest.approx(-1.0)
    assert spearman([1, 1, 2, 3], [1, 2, 3, 4]) == pytest.approx(0.9486833)


def test_ties_are_broken_by_lot_in_the_recall() -> None:
    tied = [Row(str(i), "hbm", 7.0, float(i + 1)) for i in range(10)]
    assert chosen(tied[0], tied) == 0.5 and recall(tied) == 0.5
    assert recall([Row(str(i), "hbm", float(i), float(i + 1)) for i in range(10)]) == 1.0
    assert Row("k", "hbm", 2.0, 1.0).exceeds and not Row("k", "hbm", 1.0, 1.0).exceeds


def test_both_forms_of_the_profilers_tables_are_read() -> None:
    rows = (
        '==PROF== noise\n"ID","Kernel Name","Metric Name","Metric Value"\n"0","k007_copy","a__b.sum","1,024"\n'
        '"1","k008_copy","a__b.sum","n/a"\n"2","other","a__b.sum","5"\n'
    )
    assert parse_ncu(rows) == {7: {"a__b.sum": 1024.0}, 8: {}}
    assert parse_ncu('"ID","Kernel Name","a__b.sum"\n"0","k003_x","12"\n') == {3: {"a__b.sum": 12.0}}
    assert parse_ncu("nothing") == {}


def test_a_candidate_becomes_cuda_on_the_same_lines() -> None:
    source = "#include <hip/hip_runtime.h>\ntypedef float Pack\n  __attribute__((ext_vector_type(2 * N)));\nPack p;\n"
    text = translate(source)
    assert "typedef ks_vector<float, (2 * N)> Pack;" in text and "ext_vector_type" not in text
    assert text.split("\n")[3] == "Pack p;"
    assert "hip/hip_runtime.h" in headers()
