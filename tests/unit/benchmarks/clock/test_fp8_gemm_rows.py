"""Rows drawn from a published file of results: what its lines say, and a draw that nobody picks."""

from __future__ import annotations

from collections import Counter

from benchmarks.clock.families.fp8_gemm import GemmConfiguration, configuration
from benchmarks.clock.fp8_gemm_rows import published, rows, spread

RESULTS = """executing on AMD Instinct MI300X
transpose a, b: 0.05 ms 48.59 us 755.30 GB/s
mma: (1024 1536 7168) (64 128 64) (32 32 16) 1 0 64: 0.16 ms 161.97 us 132.72 GB/s 147.92 TFLOPS
total: 0.21 ms 210.56 us
mma: (1024 1536 7168) (64 128 64) (16 16 32) 2 1 256: 0.12 ms 115.30 us 186.43 GB/s 207.78 TFLOPS
total: 0.12 ms 115.30 us
mma: (1024 1536 7168) (64 128 64) (32 32 16) 1 0 64: 0.16 ms 999.00 us 132.72 GB/s 147.92 TFLOPS
"""
ROWS_NAME, COLUMNS_NAME = "64x128x64 mfma32 pipeline1 block64 rows", "64x128x64 mfma16 pipeline2 block256 columns"
NAMES = [
    GemmConfiguration((m, n, 64), mfma, pipeline, block, reads_columns).text
    for m in (64, 128)
    for n in (64, 128)
    for mfma in (16, 32)
    for pipeline in (0, 1, 2)
    for block in (64, 128, 256)
    for reads_columns in (True, False)
]


def test_the_first_time_of_the_kernel_alone_is_read() -> None:
    shape = "m=1024,n=1536,k=7168"
    assert published(RESULTS) == {(ROWS_NAME, shape): 161.97, (COLUMNS_NAME, shape): 115.3}


def test_a_row_says_where_the_transposes_were() -> None:
    rowwise, other = rows(published(RESULTS), [ROWS_NAME, COLUMNS_NAME], ["m=1024,n=1536,k=7168"])
    assert rowwise.how.endswith("transposed before") and other.how.endswith("it transposes inside")
    assert other.dims == {"m": 1024, "n": 1536, "k": 7168} and other.measured_us == 115.3 and other.caches == "warm"


def test_a_draw_is_the_same_for_any_order_and_spreads_over_every_trait() -> None:
    drawn = spread(NAMES, 18, lambda name: True)
    assert drawn == spread(reversed(NAMES), 18, lambda name: True) != spread(NAMES, 18, lambda name: True, seed=1)
    configs = [configuration(name) for name in drawn]
    for counts in (Counter(c.pipeline for c in configs), Counter(c.block for c in configs)):
        assert sorted(counts.values()) == [6, 6, 6]
    assert Counter(c.reads_columns for c in configs) == {True: 9, False: 9}


def test_a_wrong_configuration_is_passed_over_and_another_drawn() -> None:
    wrong = set(spread(NAMES, 18, lambda name: True)[:9])
    drawn = spread(NAMES, 18, lambda name: name not in wrong)
    assert len(drawn) == 18 and not wrong & set(drawn)
