"""Records as the prompts show them: plain dictionaries, figures rounded, nothing that changes from run to run.

A prompt's text keys its stored answer, so wall-clock times and paths stay out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agents.author import Assignment, Idea, Member, Specimen
from records.code_meanings import CODES
from records.concealment import is_open, name_told, told
from records.evaluation import Evaluation
from records.experiment import Experiment, Proposed
from records.quantity import known
from records.ranking import is_within
from tasks.task import Case, ScalarSpec, Task, TensorSpec

C_TYPES: Mapping[str, str] = {  # raw bits first: they need no header and no conversion class
    "f64": "double",
    "f32": "float",
    "f16": "_Float16 (__half on NVIDIA)",
    "bf16": "unsigned short (raw bits) or __hip_bfloat16",
    "e4m3fnuz": "unsigned char (raw bits) or __hip_fp8_e4m3_fnuz",
    "e5m2fnuz": "unsigned char (raw bits) or __hip_fp8_e5m2_fnuz",
    "e4m3fn": "unsigned char (raw bits)",
    "e5m2": "unsigned char (raw bits)",
    "i64": "long long",
    "i32": "int",
    "i16": "short",
    "i8": "signed char",
    "u8": "unsigned char",
    "bool": "bool",
}
MOST_COUNTERS = 24
MOST_FINDINGS = 8
MOST_HOT_LINES = 6
MIN_SHARE = 0.1  # of a kernel, below which a line's cost is left out


def work_view(work: Assignment) -> dict[str, Any]:
    """Describe the task and the target, for every prompt."""
    return {
        "task": task_view(work.task),
        "target": {"name": work.target_name, "arch": work.arch, "brief": work.target_brief.strip()},
        "recalled": list(work.recalled),
        "combines": work.combines,
    }


def task_view(task: Task) -> dict[str, Any]:
    """Describe the task: computation, shapes and tolerance."""
    return {
        "name": task.name,
        "title": task.title,
        "description": task.description.strip(),
        "inputs": [_tensor(t) for t in task.inputs if t.name not in task.initials],
        "outputs": [_tensor(t) for t in task.outputs],
        "scalars": [{"name": s.name, "type": C_TYPES.get(s.dtype, s.dtype), "value": _value(s)} for s in task.scalars],
        "dims": sorted({d for case in (*task.tests, *task.benchmarks) for d in case.dims}),
        "multiples": [{"name": name, "of": of} for name, of in sorted(task.multiples.items()) if of > 1],
        "tests": [_case(c) for c in task.tests],
        "benchmarks": [_case(c) for c in task.benchmarks],
        "flops": task.flops,
        "bytes": task.bytes_moved,
        "peak": task.peak,
        "ratio": f"{task.tolerance.ratio:g}",
        "reference": "" if task.seeds else reference_text(task),
    }


def reference_text(task: Task) -> str:
    """Return the Python text that defines the task, for a writer who has no kernel to build on."""
    path = task.folder / "reference.py"
    return path.read_text(encoding="utf-8").rstrip() if path.is_file() else ""


def specimen_view(specimen: Specimen) -> dict[str, Any]:
    """Describe a kernel with its evidence and one step of history."""
    attempt, experiment, evaluation = specimen.attempt, specimen.experiment, specimen.evaluation
    return {
        "id": attempt.id,
        "title": experiment.title,
        "description": experiment.description,
        "rubric": list(experiment.rubric),
        "implemented": list(attempt.report),
        "skipped": list(attempt.skipped),
        "lesson": attempt.lesson if attempt.standing != "refuted" else "",
        "is_seed": experiment.parent_id is None,
        "source": specimen.source.rstrip(),
        "tunables": dict(evaluation.tunables),
        **evidence_of(evaluation, specimen.source, specimen.parent_times_us),
    }


def evidence_of(evaluation: Evaluation, source: str, parent_times_us: Mapping[str, float]) -> dict[str, Any]:
    """Everything known of a kernel's cost, its costliest lines included."""
    return {**evidence_view(evaluation, parent_times_us), "hot_lines": hot_lines_view(evaluation, source)}


def times_of(evaluation: Evaluation) -> dict[str, float]:
    """Return times by case."""
    return {m.case: m.time_us for m in evaluation.measurements}


def evidence_view(evaluation: Evaluation, parent_times_us: Mapping[str, float]) -> dict[str, Any]:
    """Describe times, bounds, registers and counters."""
    rows = []
    for m in evaluation.measurements:
        before = parent_times_us.get(m.case)
        shares = sorted(m.resources_us.items(), key=lambda item: (-item[1], item[0]))
        stalls = sorted(m.stalls_us.items(), key=lambda item: (-item[1], item[0]))
        rows.append(
            {
                "case": m.case,
                "time_us": m.time_us,
                "roofline_us": m.roofline_us,
                "bound": m.bound or "unknown",
                "fraction_pct": f"{100 * m.roofline_fraction:.1f}",
                "parent_us": before,
                "change_pct": f"{100 * (before / m.time_us - 1):+.1f}" if before and m.time_us else None,
                "is_tie": m.kind == "predicted" and is_within(before, m.time_us, m.error),
                "shares": shares[:6],
                "warm_us": known(m.warm_us),
                "bound_us": known(m.bound_us),
                "stalls": stalls[:4],
            }
        )
    counters = sorted(evaluation.counters.items())[:MOST_COUNTERS]
    return {
        "time_kind": evaluation.time_kind or "none",
        "geomean_us": evaluation.geomean_us,
        "error_pct": f"{100 * evaluation.time_error:.2g}" if evaluation.time_error else None,
        "times": rows,
        "resources": [
            {
                "kernel": r.kernel,
                "vgpr": r.vgpr,
                "agpr": r.agpr,
                "sgpr": r.sgpr,
                "lds_bytes": r.lds_bytes,
                "scratch_bytes": r.scratch_bytes,
                "waves_per_simd": r.waves_per_simd,
                "mix": ", ".join(f"{k} {v}" for k, v in sorted(r.instructions.items())),
            }
            for r in evaluation.resources
        ],
        "counters": [{"name": name, "value": f"{value:.6g}"} for name, value in counters],
        "explanation": evaluation.explanation.strip(),
    }


def hot_lines_view(evaluation: Evaluation, source: str) -> list[dict[str, Any]]:
    """Describe the lines that cause the cost, each with its text and its shares of the kernel's totals."""
    lines, rows = source.split("\n"), []
    for hot in evaluation.hot_lines[:MOST_HOT_LINES]:
        costs = [
            f"{hot.title(name)} {value:.4g} ({100 * hot.shares[name]:.0f} %)"
            for name, value in hot.counters.items()
            if hot.shares.get(name, 0.0) >= MIN_SHARE
        ]
        if costs and hot.line <= len(lines):
            rows.append(
                {"line": hot.line, "kernel": hot.kernel, "text": lines[hot.line - 1].strip(), "costs": ", ".join(costs)}
            )
    return rows


def failure_view(evaluation: Evaluation, task: Task, classifies: bool = True) -> dict[str, Any]:
    """Describe findings of the compiler or the judge, with the definition of the verdict's code.

    Held-out cases stay hidden.

    Without classes there is no code.
    """
    verdict = evaluation.verdict
    wrong = [c for c in evaluation.cases if not c.correct]
    listed = {case.name for case in (*task.tests, *task.benchmarks)}

    return {
        "stage": verdict.stage,
        "code": verdict.code if classifies else "",
        "meaning": CODES.get(verdict.code, "unknown") if classifies else "",
        "findings": [
            {
                "kind": f.kind,
                "line": f.line,
                "message": told(evaluation, f.case, f.message, listed),
                "kernel": f.kernel,
                "case": name_told(evaluation, f.case, listed),
                "buffer": f.buffer,
            }
            for f in verdict.findings[:MOST_FINDINGS]
        ],
        "more": max(0, len(verdict.findings) - MOST_FINDINGS),
        "wrong": [
            {
                "name": name_told(evaluation, c.name, listed),
                "error": f"{c.error:.4g}" if c.error is not None and is_open(evaluation, c.name, listed) else None,
                "message": told(evaluation, c.name, c.message, listed),
            }
            for c in wrong[:MOST_FINDINGS]
        ],
        "right": sum(c.correct for c in evaluation.cases),
    }


def idea_view(idea: Idea | Experiment) -> dict[str, Any]:
    """Describe an experiment as its writer and its critic see it."""
    return {
        "title": idea.title,
        "description": idea.description,
        "rubric": list(idea.rubric),
        "cites": list(idea.cites),
        "gain_min_pct": f"{idea.gain_min_pct:g}",
        "gain_max_pct": f"{idea.gain_max_pct:g}",
    }


def population_view(population: Sequence[Member]) -> dict[str, Any]:
    """Describe the population as a table without code: ids, ancestry, times by case."""
    cases = list(dict.fromkeys(case for member in population for case in member.times_us))
    return {
        "cases": cases,
        "error_pct": f"{100 * error:.2g}" if (error := max((m.time_error for m in population), default=0.0)) else None,
        "members": [
            {
                "id": m.id,
                "parent": m.parent_id or "-",
                "title": m.title,
                "geomean_us": m.geomean_us,
                "kind": m.time_kind,
                "strategy": m.strategy or "-",
                "times_us": [m.times_us.get(c) for c in cases],
                "bounds": ", ".join(dict.fromkeys(m.bounds[c] for c in cases if c in m.bounds)) or "-",
                "vgpr": m.vgpr,
                "lds_bytes": m.lds_bytes,
                "waves": m.waves_per_simd,
                "scratch_bytes": m.scratch_bytes,
                "idea_pct": _percent(m.credit.idea_pct),
                "equal_pct": _percent(m.credit.equal_pct),
                "tuner_pct": _percent(m.credit.tuner_pct),
            }
            for m in population
        ],
    }


def backlog_view(backlog: Sequence[Proposed], saved_us: Mapping[str, float]) -> dict[str, Any]:
    """Describe proposals that nobody tried: experiments with what they would gain now, avenues by short titles."""
    return {
        "ideas": [
            {
                "title": p.title,
                "gains": f"{p.gain_min_pct:.3g} to {p.gain_max_pct:.3g}",
                "mechanism": p.mechanism or "unnamed mechanism",
                "saved_us": saved_us.get(p.title),
                "generation": p.generation,
            }
            for p in backlog
            if not p.is_avenue
        ],
        "avenues": [p.title.split(":")[0] for p in backlog if p.is_avenue],
    }


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:+.1f}"


def _value(scalar: ScalarSpec) -> str:
    return "given by each case" if scalar.value is None else str(scalar.value)


def _tensor(tensor: TensorSpec) -> dict[str, Any]:
    order = "column-major: the first index is contiguous" if tensor.layout == "column_major" else "row-major"
    if tensor.strides:
        order = f"strides of {', '.join(tensor.strides)} elements"
    if tensor.optional:
        order += "; a null pointer where a case leaves it out"
    if tensor.initial:
        order += f"; holds the values of {tensor.initial} before the launch, to be updated in place"
    return {
        "name": tensor.name,
        "dtype": tensor.dtype,
        "type": C_TYPES.get(tensor.dtype, tensor.dtype),
        "shape": ", ".join(tensor.shape),
        "layout": order,
    }


def _case(case: Case) -> str:
    weight = "" if case.weight == 1.0 else f" (weight {case.weight:g})"
    return ", ".join(f"{name}={value}" for name, value in case.dims.items()) + weight
