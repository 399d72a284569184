"""Expected times of pairs of kernels that differ in one rule of the machine."""

from __future__ import annotations

from sandbox.lab.cost.forecast import PlanForecast
from tests.support.forecasts import forecast_of
from tests.support.lab_bench import launch

GRID = [launch("k", ["x", "y"], [304 * 4], [64])]


def kernel(body: str, elements: int = 1 << 20) -> PlanForecast:
    source = f"__global__ void k(const float* x, float* y) {{ const int t = threadIdx.x, b = blockIdx.x; {body} }}"
    return forecast_of(source, GRID, elements)


def loop(instructions: int, turns: int) -> PlanForecast:
    """Of a loop whose body has so many instructions."""
    add = f'_Pragma("clang loop unroll(full)") for (int j = 0; j < {instructions}; ++j) a = a * t + 1.5f;'
    loop_text = f'_Pragma("clang loop unroll(disable)") for (int i = 0; i < {turns}; ++i) {{ {add} }}'
    return kernel(f"float a = t; {loop_text} y[b * 64 + t] = a;")


def test_a_loop_that_the_instruction_cache_does_not_hold_waits_for_its_code() -> None:
    short, long = loop(1 << 10, 32), loop(1 << 14, 2)
    assert long.warm_us - long.overhead_us > 1.2 * (short.warm_us - short.overhead_us)
    assert long.stalls_us["issue"] > 1.2 * short.stalls_us["issue"]


def test_exchanges_on_one_address_wait_for_each_other() -> None:
    loop_of_exchanges = """
    int seen = *(volatile int*)y, had;
    do { had = seen; seen = atomicCAS((int*)y, had, had + 1); } while (seen != had);"""
    added, exchanged = (kernel(f"if (t == 0) {{ {body} }}") for body in ("atomicAdd((int*)y, 1);", loop_of_exchanges))
    assert exchanged.resource == "atomics" and exchanged.cold_us > 10 * added.cold_us


def test_a_fence_costs_a_round_trip() -> None:
    plain, fenced = (
        kernel(f"for (int i = 0; i < 16; ++i) {{ y[(b * 16 + i) * 64 + t] = i; {fence} }}", 1 << 22)
        for fence in ("", "__threadfence();")
    )
    assert fenced.warm_us > 2 * plain.warm_us


def test_lines_a_power_of_two_apart_last_in_the_l1() -> None:
    def rows(stride: int) -> PlanForecast:
        return kernel(
            f"float s = 0; for (int j = 0; j < 32; ++j) s += x[t * {stride} + (b % 4) * 32 + j]; y[b * 64 + t] = s;",
            1 << 22,
        )

    assert rows(1 << 14).resources_us["l2"] < 1.5 * rows((1 << 14) + 32).resources_us["l2"]
