from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest

from records.code_meanings import CODES
from records.evaluation import Evaluation
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.lab.lab_verify import Patience
from sandbox.target import load_target
from tasks import Task, load_task
from tests.support.compiler_cache import toolchain
from tests.support.lab_bench import evaluator as lab_evaluator

PLAIN = """/*+++
[[launch]]
kernel = "softmax"
grid = ["ceil_div(rows, 64)"]
block = ["64"]
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ __launch_bounds__(64) void softmax(const float* x, float* y, int rows, int cols) {
    const int row = blockIdx.x * 64 + threadIdx.x;
    if (row >= rows) return;
    x += (long)row * cols;
    y += (long)row * cols;
    float top = -__builtin_huge_valf();
    for (int j = 0; j < cols; ++j) top = fmaxf(top, x[j]);
    float sum = 0.0f;
    for (int j = 0; j < cols; ++j) sum += expf(x[j] - top);
    for (int j = 0; j < cols; ++j) y[j] = expf(x[j] - top) / sum;
}
"""


@pytest.fixture(scope="module")
def evaluator() -> LabEvaluator:
    return lab_evaluator(7, Patience(deadline_s=2))


@pytest.fixture(scope="module")
def softmax() -> Task:
    return load_task("row_softmax")


def changed(old: str, new: str) -> str:
    assert PLAIN.count(old) == 1, old
    return PLAIN.replace(old, new)


def line_of(source: str, text: str) -> int:
    return next(n for n, line in enumerate(source.splitlines(), 1) if text in line)


def verify(evaluator: LabEvaluator, task: Task, source: str) -> Evaluation:
    result = evaluator.verify(evaluator.prepare(source, task))
    assert result.verdict.code in CODES
    return result


def test_a_right_kernel_is_accepted_on_every_case(evaluator: LabEvaluator, softmax: Task) -> None:
    result = evaluator.benchmark(evaluator.prepare(PLAIN, softmax))
    assert result.verdict.accepted and result.verdict.code == "OK" and result.verdict.stage == "time"
    assert {row.name for row in result.cases} >= {case.name for case in softmax.tests}
    assert any(row.role == "held_out" for row in result.cases)
    in_full, in_part = ({case.name for case in cases} for cases in (softmax.tests, softmax.benchmarks))
    shapes = {row: row.name.partition(" [")[0] for row in result.cases}  # a family's name stands behind its shape's
    assert all(row.correct and (row.is_whole or shape not in in_full) for row, shape in shapes.items())
    assert in_part <= {shape for row, shape in shapes.items() if not row.is_whole}  # a few workgroups of each
    assert any(not row.is_whole and shape not in in_part for row, shape in shapes.items())  # and of other large shapes
    assert [m.case for m in result.measurements] == [case.name for case in softmax.benchmarks]
    for m in result.measurements:
        assert m.kind == "predicted" and m.bound in {*m.resources_us, "latency"}
        assert m.time_us >= m.warm_us >= m.bound_us > 0 and m.roofline_us > 0
    assert result.geomean_us is not None and result.explanation


@pytest.mark.parametrize(
    ("source", "stage", "code", "kind", "fragment"),
    [
        (changed("if (row >= rows) return;", ""), "execute", "B.3", "out_of_bounds", "x[j]);"),
        (
            changed("for (int j = 0; j < cols; ++j) top", "for (int j = 0; j <= cols; ++j) top"),
            "execute",
            "B.3",
            "out_of_bounds",
            "top = fmaxf",
        ),
        (changed("= expf(x[j] - top) / sum;", "= expf(x[j] - top);"), "correct", "C.1", "wrong_result", None),
        (
            changed("sum += expf(x[j] - top)", "sum += expf(x[j])").replace("= expf(x[j] - top) /", "= expf(x[j]) /"),
            "correct",
            None,
            "wrong_result",
            None,
        ),
        (
            changed("if (row >= rows) return;", "if (row + 1 >= rows) return;"),
            "correct",
            "C.2",
            "unwritten_output",
            None,
        ),
        (
            changed("float sum = 0.0f;", "float sum = 0.0f; const_cast<float*>(x)[0] = 1.0f;"),
            "execute",
            "C.2",
            "input_written",
            "const_cast",
        ),
        (
            changed("if (row >= rows) return;", 'if (row >= rows) return; while (cols > 0) asm volatile("");'),
            "execute",
            "B.5",
            "deadlock",
            "while",
        ),
        (changed("float sum = 0.0f;", "float sum = zero;"), "compile", "B.2", "compile_error", "float sum"),
        (
            changed("#include <hip/hip_runtime.h>", "#include <hip/hip_runtime.h>\n#include <rocwmma/missing.hpp>"),
            "compile",
            "A.3",
            "compile_error",
            "rocwmma",
        ),
        (changed('kernel = "softmax"', 'kernel = "other"'), "compile", "A.1", "compile_error", None),
        (changed('"rows", "cols"]', '"rows"]'), "compile", "B.4", "over_limit", None),
        (changed('block = ["64"]', 'block = ["2048"]'), "compile", "B.4", "over_limit", None),
        (changed('block = ["64"]', 'block = ["0"]'), "parse", "A.1", "compile_error", None),
        ("int main() {}", "parse", "A.2", "compile_error", None),
    ],
)
def test_a_wrong_kernel_is_refused_at_its_stage_with_its_code(
    evaluator: LabEvaluator, softmax: Task, source: str, stage: str, code: str | None, kind: str, fragment: str | None
) -> None:
    result = verify(evaluator, softmax, source)
    assert not result.verdict.accepted
    assert result.verdict.stage == stage
    first = result.verdict.findings[0]
    assert first.kind == kind
    assert first.message
    if code is not None:
        assert result.verdict.code == code
    if fragment is not None:
        assert first.line == line_of(source, fragment)


def test_a_mismatch_of_arguments_is_told_once_and_not_for_every_case(evaluator: LabEvaluator, softmax: Task) -> None:
    source = changed('"x", "y", "rows"', '"x", "rows", "y"')
    findings = verify(evaluator, softmax, source).verdict.findings
    assert [f.message.split(":")[0] for f in findings] == ["argument 2 of softmax", "argument 3 of softmax"]
    assert {f.line for f in findings} == {line_of(source, "[[launch]]")}


def test_an_overflow_that_the_tests_miss_is_found_by_a_held_out_family(evaluator: LabEvaluator, softmax: Task) -> None:
    source = changed("float sum = 0.0f;", "top = fminf(top, 2000.0f); float sum = 0.0f;")
    result = verify(evaluator, softmax, source)
    failed = [row for row in result.cases if not row.correct]
    assert [row.role for row in failed] == ["held_out"]
    assert failed[0].name.endswith(("[shifted]", "[one binade]", "[all binades]"))


def test_a_task_whose_only_test_is_its_benchmark_is_judged_and_timed(evaluator: LabEvaluator, softmax: Task) -> None:
    test = softmax.tests[3]
    task = replace(softmax, tests=(test,), benchmarks=(replace(test, role="benchmark"),), digest="7" * 64)
    evaluation = evaluator.benchmark(evaluator.prepare(PLAIN, task))
    assert evaluation.verdict.accepted, evaluation.verdict
    assert {"test", "held_out"} <= {row.role for row in evaluation.cases}
    assert [measurement.case for measurement in evaluation.measurements] == [test.name]


def test_a_refused_kernel_is_not_timed(evaluator: LabEvaluator, softmax: Task) -> None:
    result = evaluator.benchmark(evaluator.prepare(changed("= expf(x[j] - top) / sum;", "= 0.0f;"), softmax))
    assert not result.verdict.accepted and result.measurements == ()


def test_the_key_changes_with_everything_it_stands_for(evaluator: LabEvaluator, softmax: Task) -> None:
    tunable = changed("+++*/", "[tunables]\nNUM = [1, 2]\n+++*/")
    other_seed = lab_evaluator(8)
    keys = [
        evaluator.key(evaluator.prepare(PLAIN, softmax)),
        evaluator.key(evaluator.prepare(tunable, softmax)),
        evaluator.key(evaluator.prepare(tunable, softmax, {"NUM": 2})),
        evaluator.key(evaluator.prepare(PLAIN, load_task("transpose"))),
        other_seed.key(other_seed.prepare(PLAIN, softmax)),
        evaluator.key(evaluator.prepare("nonsense", softmax)),
    ]
    assert len(set(keys)) == len(keys)
    assert evaluator.key(evaluator.prepare(PLAIN + "\n\n", softmax)) == keys[0]
    assert evaluator.key(evaluator.prepare(tunable, softmax, {"NUM": 1})) == keys[1]


def test_column_major_buffers_reach_the_kernel_as_they_lie_in_memory(evaluator: LabEvaluator) -> None:
    task = load_task("fp8_block_gemm")
    assert {t.layout for t in task.inputs} == {"column_major"}
    result = evaluator.compile(evaluator.prepare(task.seeds[0].read_text(), task))
    assert result.verdict.accepted and result.resources[0].vgpr > 0
    small = next(c for c in task.tests if c.dims == {"m": 64, "n": 64, "k": 128})
    assert np.isfortran(np.asfortranarray(task.draw(small)["a"]))


def test_equal_listings_and_launches_have_one_estimate_and_another_block_has_its_own(
    evaluator: LabEvaluator, softmax: Task
) -> None:
    softmax = replace(softmax, benchmarks=softmax.benchmarks[-1:], digest=64 * "0")  # another task than the whole one
    first = evaluator.estimate(evaluator.prepare(PLAIN, softmax))
    repeated = evaluator.estimate(evaluator.prepare(PLAIN + "// a remark\n", softmax))
    assert repeated.measurements is first.measurements and repeated.hot_lines is first.hot_lines
    assert repeated.candidate_id != first.candidate_id and repeated.key == evaluator.key(
        evaluator.prepare(PLAIN + "// a remark\n", softmax)
    )
    moved = evaluator.estimate(evaluator.prepare(PLAIN.replace("#include", "\n#include", 1), softmax))
    assert moved.geomean_us == first.geomean_us
    assert [h.line for h in moved.hot_lines] == [h.line + 1 for h in first.hot_lines]
    wider = evaluator.estimate(evaluator.prepare(PLAIN.replace("rows, 64)", "rows, 32)", 1), softmax))
    assert wider.geomean_us != first.geomean_us
    sources = (PLAIN, PLAIN.replace("#include", "\n#include", 1), PLAIN.replace("rows, 64)", "rows, 32)", 1))
    objects = {evaluator.compile(evaluator.prepare(source, softmax)).code_object for source in sources}
    assert len(objects) == 1 and all(objects), "the code is the same"


def test_a_finalist_is_the_program_that_was_ranked(evaluator: LabEvaluator, softmax: Task) -> None:
    prepared = evaluator.prepare(softmax.seeds[1].read_text(encoding="utf-8") + "// a finalist\n", softmax)
    assert evaluator.compile(prepared).verdict.accepted
    choice = dict(prepared.choices[5])
    ranked = evaluator.stages(prepared.choose(choice)).program(is_assembled=False).built
    finalist = prepared.tuned(choice)
    assert finalist.id != prepared.id
    built = evaluator.stages(finalist).program().built
    assert ranked is not None and built is not None
    assert replace(built.program, text=None, sought=None) == replace(ranked.program, text=None, sought=None)
    assert built.compilation.listing == ranked.compilation.listing


def test_an_estimate_of_what_is_refused_ranks_it_and_becomes_no_verdict(evaluator: LabEvaluator, softmax: Task) -> None:
    # An instruction reads one scalar register; the assembler says so, which an estimate does not ask.
    sums = 'if (ODD) asm volatile("v_add_u32 %0, %1, %2" : "=v"(row) : "s"(rows), "s"(cols));'
    source = changed("/*+++\n", "/*+++\n[tunables]\nODD = [0, 1]\n\n").replace("    const int row =", "    int row =")
    source = (
        source.replace("    if (row >= rows)", f"    {sums}\n    if (row >= rows)") + f"// {uuid4()}\n"
    )  # in no cache
    odd = evaluator.prepare(source, softmax, {"ODD": 1})
    assert evaluator.compile(evaluator.prepare(source, softmax)).verdict.accepted
    assert evaluator.estimate(odd).verdict.accepted
    for evaluation in (
        evaluator.compile(odd),
        evaluator.benchmark(odd),
        evaluator.confirm(odd),
        evaluator.estimate(odd),
    ):
        assert not evaluation.verdict.accepted and evaluation.verdict.stage == "compile"


def test_coalesced_reads_are_predicted_faster(evaluator: LabEvaluator, softmax: Task) -> None:
    tunable = (softmax.folder / "seed_tunable.hip").read_text()
    naive = evaluator.estimate(evaluator.prepare(PLAIN, softmax)).geomean_us
    wide = evaluator.estimate(evaluator.prepare(tunable, softmax, {"BLOCK": 256, "VEC": 4, "KEEP": 4})).geomean_us
    assert naive is not None and wide is not None and naive > 2 * wide


@pytest.mark.slow
def test_after_warming_the_first_candidate_builds_nothing_that_all_need(softmax: Task, tmp_path: Path) -> None:
    evaluator, messages = LabEvaluator(toolchain(), tmp_path, load_target("mi300x"), seed=0), list[str]()
    evaluator.warm(messages.append)
    built = {path for part in ("prefix/*", "machine/interpreter-*") for path in tmp_path.glob(part)}
    assert len(built) == 3 and len(messages) == 1, (
        "two precompiled headers, with and without probes, and the interpreter"
    )
    wrong = changed("for (int j = 0; j < cols; ++j) top", "for (int j = 0; j <= cols; ++j) top")
    assert evaluator.verify(evaluator.prepare(wrong, softmax)).verdict.stage == "execute"
    assert {path for part in ("prefix/*", "machine/interpreter-*") for path in tmp_path.glob(part)} == built
