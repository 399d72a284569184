"""The figures of the kernel that an author with tools made in the lab."""

from benchmarks.author_lab import figures, winner
from benchmarks.whole_cases import Whole


def test_a_case_that_was_not_executed_whole_misses_the_goal() -> None:
    times = {"m=1": (14.0, 10.0), "m=2": (32.0, 20.0)}
    executions = [Whole("t", "m=1", 8, 2.0, False), Whole("t", "m=2", 4, 1.0, False)]
    near, far, count, seconds = figures(times, executions)
    assert (near.met, far.met, count.met, seconds.value, seconds.anchor_value) == (True, False, True, 3.0, 12)
    assert figures(times, [executions[0], Whole("t", "m=2", 4, 9.0, True)])[2].met is False


def test_the_kernel_is_the_one_that_the_campaign_ends_with() -> None:
    assert 'kernel = "block_gemm"' in winner() and "fetches = tid < UNITS_A + UNITS_B;" in winner()
