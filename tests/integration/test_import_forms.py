"""Tasks of other projects' forms become ours, with their cases, and go back as they were."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.cli import run_command
from app.settings import load_settings
from app.task_folders import task_cage
from imports.board_folder import board_files
from imports.confined import imported_all
from imports.readers import ImportPlace, form_of, text_of
from imports.trace_set import definition_of, workloads_of
from records.errors import UsageError
from tasks.compare import compare
from tasks.linter import lint
from tasks.loader import load_task
from tests.support.boards import FOLDERS, HANDED, is_close, write_board
from tests.support.robust_folder import CONFIG, FUNCTION, write_robust
from tests.support.robust_folder import FOLDERS as ROBUST
from tests.support.trace_sets import DEFINITIONS, write_trace_set

HAS_TORCH = importlib.util.find_spec("torch") is not None
needs_torch = pytest.mark.skipif(not HAS_TORCH, reason="the extra `torch` is not installed")
GATES = {"add": (1e-5, 1e-8), "sums": (2e-2, 1e-3)}


def asked(name: str, path: Path) -> dict[str, Any]:
    form = form_of(ImportPlace(path))
    gathered = form.gather(ImportPlace(path))
    origin = {"source": gathered.shown, "form": form.form, "digest": gathered.digest}
    return {**gathered.request(name, "", {}, {}), "origin": origin, "gate": form.gate, "kept": gathered.copies}


def imports(folder: Path, paths: dict[str, Path]) -> dict[str, str]:
    """Folders of all of them below `folder`; the sentences of those that are refused."""
    requests = [asked(name, path) for name, path in paths.items()]
    copies = [request.pop("kept") for request in requests]
    refused = {}
    for name, more, outcome in zip(paths, copies, imported_all(requests, task_cage(load_settings())), strict=True):
        if isinstance(outcome, str):
            refused[name] = outcome
            continue
        arguments = {"original_arguments.json": json.dumps(outcome.arguments).encode()} if outcome.arguments else {}
        for file, content in {**outcome.files, **more, **arguments}.items():
            (folder / name / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / name / file).write_bytes(content)
    return refused


def exported(task: Path, form: str, out: Path, target: str = "h200") -> None:
    words = ["export", str(task / "seed.hip"), "--task", str(task), "--as", form, "--target", target, "--unchecked"]
    assert run_command([*words, "--out", str(out)]) == 0


def test_the_files_of_a_board_are_found_and_no_others(tmp_path: Path) -> None:
    folder = write_board(tmp_path, "update")
    listing, modules = board_files(folder, text_of)
    assert [len(listing[role]) for role in ("tests", "benchmarks")] == [2, 1] and set(modules) == {"task", "utils"}
    assert listing["benchmarks"] == [{"n": 1048576, "scale": 0.25, "use_abs": True, "seed": 3}]
    outside = (folder / "task.yml").read_text().replace("../utils.py", "../../../../etc/passwd.py")
    (folder / "task.yml").write_text(outside)
    assert set(board_files(folder, text_of)[1]) == {"task"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lang: [", "not valid YAML"),
        ("- 1", "holds no fields"),
        ("lang: cu", "a task in cu"),
        ("tests: 3", "no list of cases"),
        ("!!python/object/apply:os.system ['true']", "not valid YAML"),
    ],
)
def test_a_wrong_task_yml_is_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    folder = write_board(tmp_path, "add")
    (folder / "task.yml").write_text(text)
    with pytest.raises(UsageError, match=message):
        board_files(folder, text_of)


def test_a_definition_is_found_with_its_workloads_and_tensors(tmp_path: Path) -> None:
    files = write_trace_set(tmp_path)
    path = definition_of(tmp_path, "layer_norm_eps")
    with pytest.raises(UsageError, match="6 such definitions"):
        definition_of(tmp_path, "")
    lines, copies = workloads_of(path, path.read_text())
    assert copies == {"original.jsonl": files["workloads/layer/layer_norm_eps.jsonl"]} and len(lines.splitlines()) == 2
    stored = json.loads(lines.splitlines()[0])
    stored["workload"]["inputs"]["x"] = {"type": "safetensors", "path": "./blob/workloads/a.safetensors"}
    outside = json.loads(json.dumps(stored).replace("./blob/workloads/", "../"))
    (tmp_path / "workloads/layer/layer_norm_eps.jsonl").write_text(f"{json.dumps(stored)}\n{json.dumps(outside)}\n{{")
    (tmp_path / "blob/workloads").mkdir(parents=True)
    (tmp_path / "blob/workloads/a.safetensors").write_bytes(b"tensors")
    (tmp_path.parent / "a.safetensors").write_bytes(b"secret")
    assert set(workloads_of(path, path.read_text())[1]) == {"original.jsonl", "blob/workloads/a.safetensors"}


def test_each_place_has_its_form(tmp_path: Path) -> None:
    write_trace_set(tmp_path / "set", "gemm_n512_k1024")
    board, robust = write_board(tmp_path, "add"), write_robust(tmp_path / "robust")
    forms = {
        tmp_path / "set": "flashinfer",
        tmp_path / "set/definitions/gemm/gemm_n512_k1024.json": "flashinfer",
        board: "gpumode",
        board / "task.yml": "gpumode",
        robust: "robust-kbench",
        robust / "func_forward.py": "robust-kbench",
        board / "task.py": "pytorch",
    }
    assert {path: form_of(ImportPlace(path)).form for path in forms} == forms
    (tmp_path / "scale.hip").write_text("__global__ void scale(float* x) {}")
    with pytest.raises(UsageError, match=r"put a launch plan in front of scale\.hip"):
        form_of(ImportPlace(tmp_path / "scale.hip"))
    with pytest.raises(UsageError, match="of no form that is known"):
        form_of(ImportPlace(tmp_path))


@needs_torch
@pytest.mark.long
def test_definitions_come_back_byte_by_byte(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = write_trace_set(tmp_path / "set")
    paths = {n: tmp_path / f"set/definitions/{d['op_type']}/{n}.json" for n, d in DEFINITIONS.items()}
    assert imports(tmp_path, paths) == {} and len(paths) >= 5
    for name, definition in DEFINITIONS.items():
        task = load_task(tmp_path / name)
        assert lint(task) == () and (tmp_path / name / "seed.hip").exists()
        names = [t.name for t in (*task.inputs, *task.outputs)] + [s.name for s in task.scalars]
        assert sorted(names) == sorted([*definition["inputs"], *definition["outputs"]])
        exported(tmp_path / name, "flashinfer", tmp_path / "back")
    back = {str(p.relative_to(tmp_path / "back")): p.read_bytes() for p in (tmp_path / "back").rglob("*.json*")}
    solutions = [json.loads(content) for path, content in back.items() if path.startswith("solutions/")]
    assert {path: content for path, content in back.items() if not path.startswith("solutions/")} == files
    assert {s["definition"] for s in solutions} == set(DEFINITIONS)
    cases = {case.name: case.scalars for case in load_task(tmp_path / "softmax_temperature").benchmarks}
    assert sorted(s["temperature"] for s in cases.values()) == [0.75, 1.5]
    main = next(s for s in solutions if s["definition"] == "layer_norm_eps")["sources"][0]["content"]
    assert "def run(x, eps, scale, shift, y):" in main


@needs_torch
@pytest.mark.long
def test_folders_of_robust_kbench_come_back_byte_by_byte(tmp_path: Path) -> None:
    paths = {name: write_robust(tmp_path / "given" / name, *arguments) for name, arguments in ROBUST.items()}
    assert imports(tmp_path, paths) == {} and len(paths) >= 5
    for name, path in paths.items():
        assert lint(load_task(tmp_path / name)) == ()
        exported(tmp_path / name, "robust-kbench", tmp_path / "back" / name)
        for file in ("func_forward.py", "config_forward.json"):
            assert (tmp_path / "back" / name / file).read_bytes() == (path / file).read_bytes()
    large = load_task(tmp_path / "gated")
    assert max(c.dims["batch"] * c.dims["tokens"] * c.dims["features"] for c in large.benchmarks) == 1 << 30
    assert {c.scalars.get("slope", large.scalars[0].value) for c in large.benchmarks} == {0.125, 0.25}
    task = load_task(tmp_path / "rows")
    assert {(c.dims["rows"], c.dims["cols"]) for c in task.benchmarks} == {
        (128, 512),
        *((r, c) for r in (128, 1024) for c in (256, 1024)),
    }
    assert [(s.name, s.value) for s in task.scalars] == [("eps", 1e-5)] and task.tolerance.rtol == 1e-5
    forward = (tmp_path / "back" / "rows" / "forward.cu").read_text()
    parameters = "const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, const py::object& eps"
    assert f"at::Tensor forward({parameters})" in forward and 'm.def("forward", &forward' in forward


@needs_torch
@pytest.mark.long
def test_a_board_judges_as_its_own_rule_does(tmp_path: Path) -> None:
    assert imports(tmp_path / "tasks", {name: write_board(tmp_path, name) for name in FOLDERS}) == {}
    rng = np.random.default_rng(1)
    for name, (rtol, atol) in GATES.items():
        task = load_task(tmp_path / "tasks" / name)
        spec, verdicts = task.outputs[0], []
        assert lint(task) == () and (task.tolerance.rtol, task.tolerance.atol) == (rtol, atol)
        for case in task.tests:
            inputs = task.draw(case)
            right, plain = (f(inputs, case)[spec.name] for f in (task.reference, task.baseline))
            far = plain + 1 + np.abs(plain) / 16
            answers = [plain, right.astype(np.float32), 0 * plain, plain * 1.5, far, np.full_like(plain, np.nan)]
            answers += [np.where(rng.random(plain.shape) < 0.5, plain, 2 * plain + 1)]
            for answer in answers:
                ours = compare(answer, right, plain, task.tolerance_of(spec), explain=False).correct
                verdicts.append((ours, is_close(answer, right.astype(np.float32), rtol, atol)))
            near = plain * (1 + rtol / 2)  # which the board's rule accepts, and a float32 result never is
            assert is_close(near, right.astype(np.float32), rtol, atol)
            assert not compare(near, right, plain, task.tolerance_of(spec), explain=False).correct
        assert all(ours == theirs for ours, theirs in verdicts) and {ours for ours, _ in verdicts} == {True, False}


@needs_torch
@pytest.mark.long
def test_a_submission_takes_its_data_in_the_order_of_the_board(tmp_path: Path) -> None:
    paths = {name: write_board(tmp_path, name) for name in FOLDERS}
    assert imports(tmp_path / "tasks", paths) == {}
    expected = {
        "add": ("a, b, y, = given_ if", "add_into(a, b, y)"),
        "sums": ("x, out, = given_\n", "sums_into(x, out)"),
        "update": ("state, step, scale, use_abs, = given_\n", "update_into(step, state, scale)"),
    }
    for name, (unpacked, handed) in expected.items():
        exported(tmp_path / "tasks" / name, "gpumode", tmp_path / f"{name}.py", "mi300x")
        text = (tmp_path / f"{name}.py").read_text()
        assert unpacked in text and handed in text and "stream" not in text.lower()
        compile(text, name, "exec")
    updating = load_task(tmp_path / "tasks" / "update")
    assert updating.initials == {"state": "new_state"} and lint(updating) == ()


@needs_torch
@pytest.mark.long
def test_boards_hand_buffers_in_and_have_sizes_that_go_together(tmp_path: Path) -> None:
    refused = imports(tmp_path / "tasks", {name: write_board(tmp_path, name) for name in HANDED})
    assert set(refused) == {"blocks"} and "scale has the shape (1024, 32), where small sizes lead to" in str(refused)
    shapes = {"grey": ("output", ("size", "size")), "total": ("output", ("1",))}
    shapes["groups"] = ("largest", ("tokens", "width // 128"))
    shapes["scaled"] = ("out", ("rows", "cols"))
    for name, (output, shape) in shapes.items():
        task = load_task(tmp_path / "tasks" / name)
        assert lint(task) == () and [t.name for t in task.outputs] == [output]
        assert tuple(str(e) for e in task.outputs[0].shape) == shape and [t.name for t in task.inputs] != [output]
        exported(tmp_path / "tasks" / name, "gpumode", tmp_path / f"{name}.py", "mi300x")
        assert f"{output}, = given_\n" in (tmp_path / f"{name}.py").read_text()
    scaled = load_task(tmp_path / "tasks/scaled")
    assert scaled.multiples["cols"] == 128 and {c.dims["cols"] for c in scaled.benchmarks} == {4096, 1536}
    assert "0.2989, 0.587, 0.114]" in (tmp_path / "tasks/grey/reference.py").read_text()


BAD = {
    "no function": (FUNCTION.replace("def forward_fn", "def other_fn"), CONFIG, "does not run: NameError"),
    "no JSON": (FUNCTION, "{", "config_forward.json is not JSON"),
    "unknown": (FUNCTION, {"single_input_configs": [{"depth": 3}]}, "gives depth, which the code does not take"),
    "more": (FUNCTION.replace("return fn(x", "return 2 * fn(x"), CONFIG, "does more than to call its function"),
    "network": ("import socket\nsocket.create_connection(('10.0.0.1', 80), 2)\n" + FUNCTION, CONFIG, "does not run"),
    "writes": ("open('/tmp/left', 'w')\n" + FUNCTION, CONFIG, "does not run"),
    "heavy": (FUNCTION.replace("torch.zeros(cols)", "torch.zeros(1 << 30)"), CONFIG, "GiB"),
    "dropout": (FUNCTION.replace("* weight", "* torch.dropout(weight, 0.5, True)"), CONFIG, "uses dropout in training"),
}


@needs_torch
@pytest.mark.long
def test_bad_folders_are_refused_in_one_sentence(tmp_path: Path) -> None:
    paths = {name: write_robust(tmp_path / name, *arguments[:2]) for name, arguments in BAD.items()}
    refused = imports(tmp_path / "tasks", paths)
    assert {
        name: BAD[name][2] in message and "Traceback" not in message for name, message in refused.items()
    } == dict.fromkeys(BAD, True)
    assert not (tmp_path / "tasks").exists()
