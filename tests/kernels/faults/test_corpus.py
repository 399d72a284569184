"""Every faulty kernel of the corpus is reported with its kind at its line, and its honest twin is not."""

from __future__ import annotations

import numpy as np
import pytest

from records.evaluation import FINDING_KINDS
from sandbox.candidate.resolve import ResolvedPlan
from sandbox.lab.lab import Buffer, Checks, ExecutionRequest
from tests.kernels.faults.faults import Case, cases, findings, is_found
from tests.support.lab_bench import HEAD, build, lab, launch

PAIRS = list(cases())
OF_THE_WHOLE = ("unwritten_output", "over_limit")  # name the buffer or the kernel instead of a line


@pytest.mark.parametrize("case", [pair[0] for pair in PAIRS], ids=lambda case: case.id)
def test_the_fault_is_found_at_its_line(case: Case) -> None:
    said = findings(case)
    assert is_found(case, said), said
    assert {f.kind for f in said} == {case.kind}
    assert all(f.line or f.kind in OF_THE_WHOLE for f in said)


@pytest.mark.parametrize("case", [pair[1] for pair in PAIRS], ids=lambda case: case.id)
def test_the_twin_has_no_finding(case: Case) -> None:
    assert findings(case) == ()


def test_without_the_checks_for_order_only_the_bounds_are_watched() -> None:
    source = """
__global__ void k(const float* x, float* y) {
    __shared__ float tile[128];
    tile[threadIdx.x] = x[threadIdx.x];
    y[threadIdx.x + (int)x[0]] = tile[127 - threadIdx.x];
}"""
    plan = ResolvedPlan((launch("k", ["x", "y"], block=[128]),), {})
    program = build(HEAD + source, plan.launches)

    def kinds(first: float, checks: Checks) -> list[str]:
        x = np.full(128, first, np.float32)
        buffers = (Buffer("x", x, "input"), Buffer("y", np.zeros(128, np.float32), "output"))
        done = lab().execute(ExecutionRequest(program, plan, buffers, deadline_s=20, checks=checks))
        return [finding.kind for finding in done.findings]

    assert kinds(0, "all") == ["race"] and kinds(0, "bounds") == [] and kinds(9, "bounds") == ["out_of_bounds"]


@pytest.mark.parametrize("kind", ["unsigned char", "unsigned short", "unsigned"])
def test_a_barrier_orders_writes_to_parts_of_a_word(kind: str) -> None:
    ordered = f"""
__global__ void k({kind}* y) {{
    y[threadIdx.x] = 7;
    __syncthreads();
    y[127 - threadIdx.x] = 9;
}}"""
    plan = ResolvedPlan((launch("k", ["y"], block=[128]),), {})
    dtype = {"unsigned char": np.uint8, "unsigned short": np.uint16, "unsigned": np.uint32}[kind]

    def kinds(source: str) -> list[str]:
        buffers = (Buffer("y", np.zeros(128, dtype), "output"),)
        program = build(HEAD + source, plan.launches)
        done = lab().execute(ExecutionRequest(program, plan, buffers, deadline_s=20))
        return [finding.kind for finding in done.findings]

    assert kinds(ordered) == []
    assert kinds(ordered.replace("__syncthreads();", "")) == ["race"]


@pytest.mark.parametrize("kind", ["unsigned char", "unsigned short"])
def test_workgroups_may_update_parts_of_one_word(kind: str) -> None:
    kernel = f"__global__ void k({kind}* y, {kind}* z) {{ %s y[blockIdx.x] = y[blockIdx.x] + 1; }}"
    own, mixed = kernel % "", kernel % "z[blockIdx.x] = y[blockIdx.x ^ 1];"
    dtype = {"unsigned char": np.uint8, "unsigned short": np.uint16}[kind]
    plan = ResolvedPlan((launch("k", ["y", "z"], grid=[64], block=[1]),), {})

    def kinds(source: str) -> list[str]:
        buffers = (Buffer("y", np.zeros(64, dtype), "inout"), Buffer("z", np.zeros(64, dtype), "output"))
        done = lab().execute(ExecutionRequest(build(HEAD + source, plan.launches), plan, buffers, deadline_s=20))
        return [finding.kind for finding in done.findings]

    assert kinds(own) == []
    assert kinds(mixed)[:1] == ["race"]


def test_a_race_names_both_places_and_what_would_order_them() -> None:
    race = next(
        finding
        for faulty, _ in PAIRS
        if faulty.name == "read before the others have written"
        for finding in findings(faulty)
    )
    assert race.buffer == "LDS" and race.line is not None and f"wrote in line {race.line - 2}" in race.message
    assert race.message.startswith("work-item (") and "__syncthreads()" in race.message


def test_the_corpus_covers_every_kind_that_execution_finds() -> None:
    others = {"compile_error", "wrong_result", "below_roofline", "nondeterministic"}
    assert {faulty.kind for faulty, _ in PAIRS} - others == set(FINDING_KINDS) - others
    assert len(PAIRS) >= 60
