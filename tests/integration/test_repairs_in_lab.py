"""The loop back to the writer on the real compiler and the real lab: what each draft is told, and its end."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from agents.author import Idea, Specimen, Step
from graph import Limits
from graph.doubles import ScriptedAuthor, table_context
from graph.drive import drive
from records.evaluation import Finding
from sandbox.lab.lab_verify import Patience
from tests.kernels.mutants.mutants import small
from tests.support.lab_bench import evaluator

TASK = small("row_softmax")
SEED = TASK.seeds[0].read_text(encoding="utf-8")
SUM = "    float sum = 0.0f;"
DIVISION = "expf(x[j] - top) / sum"


def changed(old: str, new: str) -> str:
    assert SEED.count(old) == 1, old
    return SEED.replace(old, new)


DOES_NOT_COMPILE = changed(DIVISION, "expf(x[j] - tops) / sum")
IS_WRONG = changed(DIVISION, "expf(x[j] - top) / (2.0f * sum)")
HANGS = changed(SUM, f"{SUM}\n    while (cols > 0) sum += y[0];")
IS_RIGHT = changed(SUM, f"{SUM}\n    const float scale = 1.4426950408889634f;").replace(
    "expf(x[j] - top)", "exp2f((x[j] - top) * scale)"
)
DRAFTS = (DOES_NOT_COMPILE, IS_WRONG, HANGS, IS_RIGHT)


def line_of(source: str, text: str) -> int:
    return next(n for n, line in enumerate(source.splitlines(), 1) if text in line)


def ideas(generation: int) -> Sequence[Idea]:
    return [Idea(f"idea {n}", "try it", ("do it",), n, max(1, 10 * n), 50 - n) for n in range(2)]


def writer(step: Step, base: Specimen) -> str:
    """The first experiment mends one fault after the other; the second never mends its own."""
    if step.experiment_id == "g001-e1":
        return DRAFTS[step.number]
    return DOES_NOT_COMPILE + f"// draft {step.number} of {step.experiment_id}\n"


@pytest.mark.slow
def test_a_draft_goes_back_with_the_compilers_text_the_judges_and_the_hangs_line(tmp_path: Path) -> None:
    author = ScriptedAuthor(ideas, writer)
    benchmark = replace(TASK.benchmarks[0], dims={"rows": 128, "cols": 256})
    task = replace(TASK, seeds=TASK.seeds[:1], benchmarks=(benchmark,))
    sandbox = evaluator(7, Patience(deadline_s=0.5))
    context = replace(
        table_context(tmp_path, task, author, Limits(generations=1, picks=2, compile_repairs=1)), sandbox=sandbox
    )
    run = drive(context, tmp_path / "checkpoint.db")

    attempts = {a.id: a for a in context.ledger.attempts(run.id)}
    assert {name: (a.status, a.stage, a.code) for name, a in attempts.items()} == {
        "g000-e0-a0": ("accepted", "time", "OK"),
        "g001-e1-a0": ("rejected", "compile", "B.2"),
        "g001-e1-a1": ("rejected", "correct", "C.1"),
        "g001-e1-a2": ("rejected", "execute", "B.5"),
        "g001-e1-a3": ("accepted", "time", "OK"),
        "g001-e2-a0": ("rejected", "compile", "B.2"),
        "g001-e2-a1": ("failed", "compile", "B.2"),
    }
    assert (run.status, run.stop_reason) == ("done", "the one generation asked for is used")
    assert [step.generation for role, step in author.asked if role == "select"] == [1]

    findings: list[Finding] = []
    for step, remarks, evaluation in author.repairs:
        assert remarks == ()
        assert evaluation is not None
        if step.experiment_id == "g001-e1":
            findings.append(evaluation.verdict.findings[0])
    compiler, judge, hang = findings
    assert compiler.kind == "compile_error"
    assert "use of undeclared identifier 'tops'; did you mean 'top'?" in compiler.message
    assert compiler.line == line_of(DOES_NOT_COMPILE, "tops")
    assert judge.kind == "wrong_result"
    assert judge.message.startswith("y: ") and "got " in judge.message and "expected " in judge.message
    assert judge.case == "rows=7,cols=1000"
    assert (hang.kind, hang.line) == ("deadlock", line_of(HANGS, "while"))
    assert "stays here for ever" in hang.message
    assert compiler.message in attempts["g001-e1-a0"].reason
    assert "tops" in attempts["g001-e2-a1"].reason
