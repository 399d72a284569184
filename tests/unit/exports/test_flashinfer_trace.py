"""The trace set for FlashInfer-Bench: axes for shapes, constraints, tensors that are stored as they were drawn."""

from __future__ import annotations

import ast
import json
import shutil
import struct
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from exports.flashinfer_trace import flashinfer_trace
from records.errors import UsageError
from tasks.loader import load_task
from tests.support.exports import KNOWN, operator

OWN = Path(__file__).parents[3] / "benchmarks" / "kernels" / "own"


def parts(name: str, target: str = "h200") -> tuple[dict, list[dict], dict, dict[str, bytes]]:
    files = flashinfer_trace(operator(name, target), KNOWN)
    definition = next(json.loads(body) for path, body in files.items() if path.startswith("definitions/"))
    rows = next(body for path, body in files.items() if path.startswith("workloads/"))
    solution = next(json.loads(body) for path, body in files.items() if path.startswith("solutions/"))
    return definition, [json.loads(line) for line in rows.splitlines()], solution, files


@pytest.mark.slow
def test_shapes_are_names_of_axes_and_expressions_get_a_constraint() -> None:
    definition, rows, _, _ = parts("fp8_block_gemm")
    assert definition["inputs"]["a"]["shape"] == ["k", "m"] and definition["outputs"]["c"]["shape"] == ["m", "n"]
    assert definition["inputs"]["b_scale"]["shape"] == ["ceil_div_k_128", "ceil_div_n_128"]
    assert (
        "ceil_div_k_128 == (-(-(k) // 128))" in definition["constraints"] and "m % 32 == 0" in definition["constraints"]
    )
    for row in rows:
        axes = row["workload"]["axes"]
        assert all(eval(text, {}, axes) for text in definition["constraints"]) and set(axes) == set(definition["axes"])


def test_stored_tensors_are_the_tasks_own_draws() -> None:
    _, rows, _, files = parts("rms_norm")
    task = load_task("rms_norm", "h200")
    assert len(rows) == len(task.tests) + len(task.benchmarks)
    for case, row in zip(task.tests, rows, strict=False):
        inputs = row["workload"]["inputs"]
        assert inputs["eps"] == {"type": "scalar", "value": task.scalars[0].value}
        body = files[inputs["x"]["path"]]
        length = struct.unpack("<Q", body[:8])[0]
        header = json.loads(body[8 : 8 + length])["x"]
        start, end = (8 + length + offset for offset in header["data_offsets"])
        stored = np.frombuffer(body[start:end], ml_dtypes.bfloat16).reshape(header["shape"])
        assert header["dtype"] == "BF16" and np.array_equal(stored, task.draw(case)["x"])
    assert all(i["type"] == "random" for i in rows[-1]["workload"]["inputs"].values() if i["type"] != "scalar")
    assert len({row["workload"]["uuid"] for row in rows}) == len(rows)


def test_definition_and_solution_have_one_function_each_with_the_same_inputs() -> None:
    definition, _, solution, _ = parts("rms_norm")
    heads = []
    for text in (definition["reference"], solution["sources"][0]["content"]):
        heads += [n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef) and n.name == "run"]
    first, second = ([a.arg for a in head.args.args] for head in heads)
    assert first == list(definition["inputs"]) and second == [*first, *definition["outputs"]]
    assert "from tasks" not in definition["reference"] and "verified with eps" in solution["sources"][0]["content"]
    assert "Predicted time, never measured" in solution["description"] and solution["spec"]["target_hardware"]


def test_a_type_that_the_form_does_not_have_is_refused() -> None:
    with pytest.raises(UsageError, match="no type for e4m3fnuz"):
        parts("fp8_block_gemm", "mi300x")


def test_a_dim_that_no_input_shows_is_fixed_or_refused(tmp_path: Path) -> None:
    definition, rows, solution, _ = parts(str(OWN / "histogram"))
    bins = definition["axes"]["bins"]["value"]
    assert definition["axes"]["bins"]["type"] == "const" and "bins" not in rows[0]["workload"]["axes"]
    assert f"_bins = {bins}" in definition["reference"] and "COMPILED.histogram_into(values, counts)" in str(solution)
    shutil.copytree(OWN / "histogram", tmp_path / "histogram")
    path = tmp_path / "histogram" / "task.toml"
    path.write_text(
        path.read_text(encoding="utf-8").replace(f"bins = {bins}", f"bins = {bins // 2}", 1), encoding="utf-8"
    )
    with pytest.raises(UsageError, match="bins is in none and differs"):
        parts(str(tmp_path / "histogram"))
