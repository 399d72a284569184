"""The corpus of Triton kernels with planted faults: each has a plan that fits its task, and compiles for gfx942."""

from __future__ import annotations

import pytest

from records.evaluation import FINDING_KINDS
from sandbox.amdgcn.annotation import annotate
from sandbox.amdgcn.compiler import Compiler
from sandbox.candidate.language import SOURCE_NAMES
from sandbox.candidate.prepare import Prepared, prepare
from sandbox.guests.listed_plan import PlanCompiler
from sandbox.target import load_target
from tasks.loader import load_task
from tests.kernels.triton.executed import findings
from tests.kernels.triton.planted import PlantedKernel, pairs
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.triton_kernels import needs_triton

PAIRS = list(pairs())
OF_THE_WHOLE = ("unwritten_output", "wrong_result")  # name the buffer instead of a line
NOT_YET = {"reduction_workspace": "a value from unset memory is told where it is used, two lines below its load"}
KERNELS = [kernel for pair in PAIRS for kernel in pair]


def prepared(kernel: PlantedKernel) -> Prepared:
    made = prepare(kernel.source, load_task(kernel.task, "mi300x"))
    assert made.refusal is None, made.refusal
    return made


def test_there_are_a_dozen_faults_of_many_kinds() -> None:
    kinds = {faulty.kind for faulty, _ in PAIRS}
    assert len(PAIRS) >= 12 and len(kinds) >= 6
    assert kinds <= set(FINDING_KINDS)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[0].name)
def test_a_fault_and_its_twin_differ_in_marked_lines_only(pair: tuple[PlantedKernel, PlantedKernel]) -> None:
    faulty, twin = (kernel.source.split("\n") for kernel in pair)
    differing = [(a, b) for a, b in zip(faulty, twin, strict=True) if a != b]
    assert differing and all(not a or not b for a, b in differing)
    assert pair[0].source.split("\n")[pair[0].line - 1].strip()
    assert not any("BUG" in line or line.endswith(("# -", "# +")) for line in (*faulty, *twin))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.id)
def test_the_plan_fits_the_task(kernel: PlantedKernel) -> None:
    assert prepared(kernel).candidate.language == "triton"


@needs_triton
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.id)
def test_the_kernel_compiles_and_its_code_names_the_line(kernel: PlantedKernel) -> None:
    made, compiler = prepared(kernel), PlanCompiler(Compiler(toolchain(), COMPILED, load_target("mi300x")), COMPILED)
    case = made.task.tests[0]
    listed = compiler.compile(made, case)
    assert not listed.findings, listed.findings
    lines = {
        row.line
        for each in listed.compilations
        for rows in annotate(each.listing, SOURCE_NAMES["triton"]).values()
        for row in rows
    }
    assert not kernel.line or kernel.line in lines


@needs_triton
@pytest.mark.parametrize("kernel", [pair[0] for pair in PAIRS], ids=lambda kernel: kernel.id)
def test_the_machine_finds_the_fault(kernel: PlantedKernel, request: pytest.FixtureRequest) -> None:
    if kernel.name in NOT_YET:
        request.applymarker(pytest.mark.xfail(reason=NOT_YET[kernel.name]))
    found = findings(kernel)
    assert kernel.kind in {finding.kind for finding in found}, found
    if kernel.kind not in OF_THE_WHOLE:
        assert kernel.line in {finding.line for finding in found if finding.kind == kernel.kind}, found


@needs_triton
@pytest.mark.parametrize("kernel", [pair[1] for pair in PAIRS], ids=lambda kernel: kernel.id)
def test_the_machine_finds_nothing_in_the_twin(kernel: PlantedKernel) -> None:
    assert findings(kernel) == ()
