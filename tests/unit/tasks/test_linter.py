from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from records.errors import TaskError
from tasks.linter import lint, refuse_weak
from tasks.loader import load_task, task_names

Folder = Callable[..., Path]
TWO_INPUTS = '[[input]]\nname = "w"\ndtype = "f32"\nshape = ["cols"]\n\n[[output]]'
DRAW = 'return {"x": rng.standard_normal((case.dims["rows"], case.dims["cols"]), dtype=np.float32)}'


DEAR = "fp8_block_gemm"  # takes as long as all others together


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.long] if n == DEAR else []) for n in task_names()])
def test_every_shipped_task_is_sound(name: str) -> None:
    assert lint(load_task(name)) == ()


def test_a_sound_folder_is_sound(folder: Folder) -> None:
    task = load_task(folder())
    assert lint(task) == ()
    refuse_weak(task)


def problems(folder: Folder, manifest: str, code: str) -> str:
    task = load_task(folder(manifest, code))
    found = lint(task)
    assert all("\n" not in sentence for sentence in found)
    with pytest.raises(TaskError, match="cannot be used"):
        refuse_weak(task)
    return " | ".join(found)


@pytest.mark.parametrize(
    ("reference", "baseline", "words"),
    [
        ('inputs["x"] * 0 + 3.0', 'inputs["x"] * 0 + 3', "the output is constant"),
        ('inputs["x"] * 0 + 3.0', 'inputs["x"] * 0 + 3', "the mean everywhere"),
        ('inputs["x"] - inputs["x"]', 'inputs["x"] * 0', "all zeros would be accepted"),
        ('inputs["x"] * 0 + 3.0', 'inputs["x"] * 0 + 3', "no output depends on the input 'x'"),
        ('inputs["x"]', 'inputs["x"]', "a copy of the input 'x' would be accepted"),
        ('inputs["x"] * 2.0', 'inputs["x"] * 0', "all zeros would be accepted"),
        (
            'inputs["x"] * 0 + inputs["x"].mean(axis=1, keepdims=True)',
            'inputs["x"] * 0 + inputs["x"].mean(axis=1, keepdims=True)',
            "the mean along axis 1",
        ),
        ('np.log(inputs["x"])', 'np.log(inputs["x"])', "not finite"),
        ('inputs["x"][:1] * 2.0', 'inputs["x"] * 2', "the reference of 'y' has the shape (1, 7)"),
        ('inputs["x"] * 2.0', 'inputs["x"][:, :1] * 2', "the baseline of 'y' has the shape (5, 1)"),
        ('inputs["x"] * 2.0', '(inputs["x"] * 2).astype(np.float16)', "the baseline of 'y' has the type float16"),
        ('inputs["x"] * 1e-40', 'inputs["x"] * np.float32(1e-40)', "too small to tell"),
    ],
)
def test_weak_outputs_are_named(
    folder: Folder, manifest: str, code: str, reference: str, baseline: str, words: str
) -> None:
    code = code.replace('inputs["x"].astype(np.float64) * 2', f"({reference}).astype(np.float64)")
    code = code.replace('inputs["x"] * np.float32(2)', baseline)
    code = "import warnings\nwarnings.simplefilter('ignore')\n" + code
    assert words in problems(folder, manifest, code)


def test_an_ignored_input_is_named(folder: Folder, manifest: str, code: str) -> None:
    code = code.replace(
        "dtype=np.float32)}", 'dtype=np.float32), "w": rng.standard_normal(case.dims["cols"], dtype=np.float32)}'
    )
    found = problems(folder, manifest.replace("[[output]]", TWO_INPUTS), code)
    assert found == "no output depends on the input 'w' by more than the tolerance"


def test_an_input_whose_effect_drowns_in_the_tolerance_is_named(folder: Folder, manifest: str, code: str) -> None:
    code = code.replace(
        "dtype=np.float32)}", 'dtype=np.float32), "w": rng.standard_normal(case.dims["cols"], dtype=np.float32)}'
    )
    code = code.replace(".astype(np.float64) * 2", '.astype(np.float64) * 2 + 1e-12 * inputs["w"]')
    assert "depends on the input 'w'" in problems(folder, manifest.replace("[[output]]", TWO_INPUTS), code)


def test_a_ratio_loose_enough_for_zeros_is_named(folder: Folder, manifest: str, code: str) -> None:
    code = code.replace('inputs["x"] * np.float32(2)', '(inputs["x"] * 2).astype(np.float16).astype(np.float32)')
    assert "all zeros" in problems(folder, manifest.replace("ratio = 2.0", "ratio = 100000.0"), code)


def test_an_absolute_tolerance_as_large_as_the_outputs_is_named(folder: Folder, manifest: str, code: str) -> None:
    loose = manifest.replace("ratio = 2.0", "ratio = 2.0\nrtol = 1e-3\natol = 1.0")
    assert "too small to tell" in problems(folder, loose, code)


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (
            'return {"x": np.random.default_rng().standard_normal((case.dims["rows"], case.dims["cols"]), np.float32)}',
            "different inputs for the same case",
        ),
        ('return {"x": rng.standard_normal((case.dims["rows"], case.dims["cols"]))}', "'x' has the type float64"),
        ('return {"x": rng.standard_normal((case.dims["cols"], 1), np.float32)}', "'x' has the shape"),
        ('return {"z": rng.standard_normal((2, 2), np.float32)}', "make_inputs gives z; declared are x"),
        ("return {}[case.name]", "fails with KeyError"),
        ('return {"x": np.ones((case.dims["rows"], case.dims["cols"]), np.float32)}', "the output is constant"),
    ],
)
def test_faulty_inputs_are_named(folder: Folder, manifest: str, code: str, draw: str, words: str) -> None:
    assert words in problems(folder, manifest, code.replace(DRAW, draw))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('{"other": inputs}', "variants gives other; task.toml declares big"),
        ('{"big": {"x": inputs["x"].astype(np.float64)}}', "variant 'big': the input 'x' has the type float64"),
        ('{"big": {"x": inputs["x"] * np.float32("nan")}}', "variant 'big': the reference of 'y' is not finite"),
    ],
)
def test_faulty_variants_are_named(folder: Folder, manifest: str, code: str, body: str, words: str) -> None:
    code += f"\ndef variants(inputs, case, rng):\n    return {body}\n"
    assert words in problems(folder, manifest.replace('title = "', 'variants = ["big"]\ntitle = "'), code)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('raise ValueError("no")', "fails with ValueError: no"),
        ("return None", "fails with TypeError"),
        ('return {"x": made["x"][:1]}', "what within returns for 'x' has the shape (1, 7)"),
        ('return {"x": made["x"].astype("f8")}', "what within returns for 'x' has the type float64"),
        ('return {"x": made["x"] * np.float32(np.nan)}', "within makes NaN of the input 'x'"),
        ('return {"x": made["x"] + np.float32(1)}', "that are as make_inputs drew them"),
        ('return {"z": made["x"]}', "within"),
        ("return {}", ""),
        ('return {"x": np.where(np.abs(made["x"]) < 9, made["x"], drawn["x"])}', ""),
    ],
)
def test_a_faulty_promise_keeper_is_named(folder: Folder, manifest: str, code: str, body: str, words: str) -> None:
    code = f"{code}\ndef within(made, drawn, case):\n    {body}\n"
    if words:
        assert words in problems(folder, manifest, code)
    else:
        assert lint(load_task(folder(manifest, code))) == ()
