from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from records.errors import TaskError
from tasks.loader import load_task, seed_text, task_names
from tasks.tolerance import Tolerance
from tests.support.wrong_values import changed
from tests.unit.tasks.conftest import MANIFEST

Folder = Callable[..., Path]
X_SHAPE = 'dtype = "f32"\nshape = ["rows", "cols"]\n\n[[output]]'


def sentence(folder: Path) -> str:
    with pytest.raises(TaskError) as caught:
        load_task(folder)
    message = str(caught.value)
    assert "\n" not in message
    assert caught.value.exit_code == 2
    return message


def test_reads_everything_a_folder_says(folder: Folder) -> None:
    path = folder()
    (path / "seed_wide.hip").write_text("// b", encoding="utf-8")
    (path / "seed_lds.hip").write_text("// a", encoding="utf-8")
    task = load_task(path)
    assert (task.name, task.title, task.targets) == ("scale", "Twice each element", ("mi300x",))
    assert [c.name for c in task.tests] == ["rows=5,cols=7", "rows=8,cols=3"]
    assert (task.tests[1].seed, task.tests[1].weight, task.tests[1].role) == (11, 2.5, "test")
    assert (task.benchmarks[0].role, task.benchmarks[0].weight) == ("benchmark", 1.0)
    assert [(s.name, s.dtype, s.value) for s in task.scalars] == [("factor", "f32", 2.0)]
    assert task.inputs[0].layout == "row_major"
    assert (task.peak, task.tolerance) == ("fp32_vector", Tolerance(2.0))
    assert task.work(task.tests[0]) == (35.0, 280.0)
    assert task.shape_of(task.outputs[0], task.tests[0]) == (5, 7)
    assert [p.name for p in task.seeds] == ["seed.hip", "seed_lds.hip", "seed_wide.hip"]
    assert task.check is None
    assert task.variants is None


def test_default_seeds_depend_on_the_dims_only(folder: Folder, manifest: str) -> None:
    first = load_task(folder()).tests[0]
    other = load_task(folder(manifest.replace('title = "', 'title = "More: '), name="other")).tests[0]
    changed = load_task(folder(manifest.replace("rows = 5", "rows = 6"), name="changed")).tests[0]
    assert first.seed == other.seed != changed.seed


def test_the_same_case_draws_the_same_values(folder: Folder) -> None:
    task = load_task(folder())
    first, again = (task.draw(task.tests[0])["x"] for _ in range(2))
    assert np.array_equal(first, again)


def test_the_digest_covers_both_files_and_nothing_else(folder: Folder, manifest: str, code: str) -> None:
    plain = load_task(folder()).digest
    path = folder(name="copy")
    (path / "README.md").write_text("more", encoding="utf-8")
    assert load_task(path).digest == plain
    assert load_task(folder(manifest + "\n", name="toml")).digest != plain
    assert load_task(folder(code=code + "\n", name="code")).digest != plain


def test_reference_modules_of_two_folders_do_not_meet(folder: Folder, code: str) -> None:
    two = load_task(folder())
    three = load_task(folder(code=code.replace("* 2", "* 3").replace("(2)", "(3)"), name="three"))
    x = {"x": np.ones((1, 1), np.float32)}
    assert (two.reference(x, two.tests[0])["y"][0, 0], three.reference(x, three.tests[0])["y"][0, 0]) == (2.0, 3.0)


def test_a_changed_reference_is_read_anew(folder: Folder, code: str) -> None:
    load_task(folder())
    task = load_task(folder(code=code.replace("* 2", "* 4")))  # same size, same second: cached bytecode would be stale
    assert task.reference({"x": np.ones((1, 1), np.float32)}, task.tests[0])["y"][0, 0] == 4.0
    assert not (task.folder / "__pycache__").exists()


@pytest.mark.parametrize("name", ["golden.npz", "reference.py", "seed_more.hip"])
def test_a_link_out_of_the_folder_is_refused_and_what_it_leads_to_is_not_shown(folder: Folder, name: str) -> None:
    path = folder()
    (path.parent / "canary.txt").write_text("CANARY", encoding="utf-8")
    (path / name).unlink(missing_ok=True)
    (path / name).symlink_to("../canary.txt")
    with pytest.raises(TaskError, match=f"{name} is a link: put the file itself there") as caught:
        load_task(path)
    assert "CANARY" not in str(caught.value)


def test_a_link_that_comes_after_the_look_is_not_followed(folder: Folder) -> None:
    task = load_task(folder())
    (task.folder.parent / "canary.txt").write_text("CANARY", encoding="utf-8")
    task.seeds[0].unlink()
    task.seeds[0].symlink_to("../canary.txt")
    with pytest.raises(TaskError, match="cannot be read") as caught:
        seed_text(task.seeds[0])
    assert "CANARY" not in str(caught.value)


@pytest.mark.parametrize("extra", [".".join(["a"] * 22_000) + " = 1", "x = " + "[" * 20_000])
def test_a_manifest_that_takes_too_much_is_refused(folder: Folder, manifest: str, extra: str) -> None:
    with pytest.raises(TaskError, match="is not valid TOML"):
        load_task(folder(f"{manifest}\n[zz]\n{extra}\n"))


def test_a_path_given_as_text_will_do(folder: Folder) -> None:
    assert load_task(str(folder())).name == "scale"


def test_unknown_names_and_paths_list_the_known_tasks(tmp_path: Path) -> None:
    for wrong in ("softmaxx", str(tmp_path / "nowhere"), tmp_path / "nowhere"):
        with pytest.raises(TaskError) as caught:
            load_task(wrong)
        assert all(name in str(caught.value) for name in task_names())
        assert str(wrong) in str(caught.value)


@pytest.mark.parametrize("name", ["task.toml", "reference.py"])
def test_a_folder_without_a_file_names_the_file(folder: Folder, name: str) -> None:
    path = folder()
    (path / name).unlink()
    assert name in sentence(path)


def test_a_task_may_have_no_seed_but_not_a_second_one_alone(folder: Folder) -> None:
    path = folder()
    (path / "seed.hip").unlink()
    assert load_task(path).seeds == ()
    (path / "seed_wide.hip").write_text("")
    assert "has seed_wide.hip, but no seed.hip" in sentence(path)


@pytest.mark.parametrize("name", ["task.toml", "reference.py"])
def test_a_file_that_is_not_text_is_named(folder: Folder, name: str) -> None:
    path = folder()
    (path / name).write_bytes(b"\xff\xfe\x00bad")
    assert f"{name}: is not UTF-8 text" in sentence(path)


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ('name = "scale"', "name = [", ["not valid TOML"]),
        ('name = "scale"', "", ["'name' is missing"]),
        ('name = "scale"', 'name = "a b"', ["'name'", "'a b'"]),
        ('title = "Twice each element"', "", ["'title' is missing"]),
        ('description = "y = 2 x"', 'description = " "', ["'description'", "non-empty"]),
        ('targets = ["mi300x"]', "", ["'targets' is missing"]),
        ('targets = ["mi300x"]', "targets = []", ["'targets'", "at least one"]),
        ('targets = ["mi300x"]', 'targets = ["mi300x"]\ncolour = 1', ["unknown field 'colour'"]),
        ('targets = ["mi300x"]', 'targets = ["mi300x"]\nvariants = ["big"]', ["'variants'", "missing"]),
        ("[[input]]", "[input]", ["'input'", "[[input]]"]),
        ('[[input]]\nname = "x"', "[[input]]", ["[[input]] number 1", "'name' is missing"]),
        ('[[input]]\nname = "x"', '[[input]]\nname = "2x"', ["[[input]] number 1", "'name'", "2x"]),
        ('[[input]]\nname = "x"', '[[input]]\nname = "x"\nsize = 4', ["[[input]] number 1", "unknown field 'size'"]),
        (X_SHAPE, X_SHAPE.replace("f32", "float"), ["'dtype'", "'float'", "bf16"]),
        (X_SHAPE, X_SHAPE.replace('"cols"', '"depth"'), ["shape of 'x'", "depth"]),
        (X_SHAPE, X_SHAPE.replace('"cols"', "7"), ["'shape'", "list"]),
        (X_SHAPE, X_SHAPE.replace('"cols"', '"cols ** 2"'), ["shape of 'x'", "not allowed"]),
        (X_SHAPE, X_SHAPE.replace('"cols"', '"cols - 7"'), ["shape of 'x'", "rows=5,cols=7", "at least 1"]),
        (X_SHAPE, 'layout = "diagonal"\n' + X_SHAPE, ["'layout'", "column_major"]),
        ('[[output]]\nname = "y"', '[[output]]\nname = "x"', ["'x'", "more than once"]),
        (
            'factor = { dtype = "f32", value = 2.0 }',
            'rows = { dtype = "f32", value = 2.0 }',
            ["'rows'", "more than once"],
        ),
        ('factor = { dtype = "f32", value = 2.0 }', "factor = 2.0", ["factor", "must be a table"]),
        ('factor = { dtype = "f32", value = 2.0 }', "factor = { value = 2.0 }", ["factor", "'dtype' is missing"]),
        (
            'factor = { dtype = "f32", value = 2.0 }',
            'factor = { dtype = "i32", value = 2.0 }',
            ["'value'", "i32", "2.0"],
        ),
        ('factor = { dtype = "f32", value = 2.0 }', 'factor = { dtype = "f32", value = true }', ["'value'", "True"]),
        (
            'factor = { dtype = "f32", value = 2.0 }',
            'factor = { dtype = "f32" }',
            ["factor", "no value for the scalar"],
        ),
        ("cols = 7", "cols = 0", ["[[test]] number 1", "'cols'", "from 1"]),
        ("cols = 7", "depth = 7", ["rows=8,cols=3", "rows, depth"]),
        ("cols = 7", "cols = 2147483648", ["'cols'", "2147483647"]),
        ("cols = 7", '"c-d" = 7', ["'c-d'"]),
        ("rows = 5\ncols = 7", "weight = 1.0", ["number 1", "no dims"]),
        ("rows = 5\ncols = 7", "rows = 8\ncols = 3", ["number 2", "repeats", "rows=8,cols=3"]),
        ("weight = 2.5", "weight = 0", ["'weight'", "above 0"]),
        ("seed = 11", "seed = -1", ["'seed'"]),
        ("[[benchmark]]\nrows = 64\ncols = 64", "", ["'benchmark' is missing"]),
        ('flops = "rows * cols"', "", ["[work]", "'flops' is missing"]),
        ('flops = "rows * cols"', 'flops = "rows * n"', ["'flops'", " n,"]),
        ('flops = "rows * cols"', 'flops = "rows - 6"', ["'flops'", "-1", "rows=5,cols=7"]),
        ('flops = "rows * cols"', 'flops = "1"\nwatts = "3"', ["[work]", "unknown field 'watts'"]),
        ('flops = "rows * cols"', 'flops = "1"\npeak = ""', ["'peak'"]),
        ('bytes = "8 * rows * cols"', 'bytes = "0"', ["'bytes'", "at least 1"]),
        ("ratio = 2.0", "", ["[tolerance]", "'ratio' is missing"]),
        ("ratio = 2.0", "ratio = 0.5", ["'ratio'", "at least 1"]),
        ("ratio = 2.0", "ratio = 2.0\natol = 1e-3", ["'atol'", "rtol"]),
        ("ratio = 2.0", "ratio = 2.0\nrtol = -1.0", ["'rtol'"]),
        ("ratio = 2.0", "ratio = 2.0\n[dims]\ndepth = { multiple = 4 }", ["'depth'", "rows, cols"]),
        ("ratio = 2.0", "ratio = 2.0\n[dims]\nrows = 4", ["[dims] rows", "table"]),
        ("ratio = 2.0", "ratio = 2.0\n[dims]\nrows = { multiple = 4 }", ["rows=5,cols=7", "multiple of 4"]),
        ('targets = ["mi300x"]', 'targets = ["mi300x"]\nmix = 0', ["'mix'", "true or false"]),
        ("ratio = 2.0", 'ratio = 2.0\n[target.h200]\nnote = "n"', ["[target.h200]", "'targets'"]),
        ("ratio = 2.0", 'ratio = 2.0\n[target.mi300x]\nnote = ""', ["[target.mi300x]", "'note'", "non-empty"]),
        ("ratio = 2.0", "ratio = 2.0\n[target.mi300x]\nspeed = 1", ["[target.mi300x]", "unknown field 'speed'"]),
        ("ratio = 2.0", 'ratio = 2.0\n[target.mi300x]\ndtypes = { f16 = "bf16" }', ["replaces f16", "no tensor"]),
        ("ratio = 2.0", 'ratio = 2.0\n[target.mi300x]\ndtypes = { f32 = "f64" }', ["f32 by f64", "size"]),
        ("ratio = 2.0", 'ratio = 2.0\n[target.mi300x]\ndtypes = { f32 = "i32" }', ["f32 by i32", "kind"]),
        ("ratio = 2.0", 'ratio = 2.0\n[target.mi300x]\ndtypes = { f32 = "float" }', ["dtypes", "'float'", "bf16"]),
    ],
)
def test_each_bad_field_is_named_in_one_sentence(
    folder: Folder, manifest: str, old: str, new: str, parts: list[str]
) -> None:
    assert manifest.count(old) >= 1
    path = folder(manifest.replace(old, new, 1))
    message = sentence(path)
    assert "task.toml" in message or "variants" in message
    for part in parts:
        assert part in message, message


TAKES = {
    **dict.fromkeys(("name", "title", "description", "dtype", "flops", "bytes"), ("text",)),
    **dict.fromkeys(("rows", "cols", "seed"), ("whole",)),
    **dict.fromkeys(("weight", "ratio"), ("whole", "real")),
    **dict.fromkeys(("targets", "shape"), ("list",)),
}


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changed(MANIFEST, TAKES))
def test_a_value_of_another_kind_is_refused_in_one_sentence_that_names_the_field(
    folder: Folder, wrong: tuple[str, str, int]
) -> None:
    text, name, _ = wrong
    message = sentence(folder(text))
    assert name in message and "task.toml" in message


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("import numpy as np", "import numpy as np\nimport no_such_module_at_all", [":3:", "no_such_module_at_all"]),
        ("import numpy as np", "import numpy as np\n1 / 0", [":3:", "ZeroDivisionError"]),
        ("import numpy as np", "import numpy as np\ndef broken(:", [":3:", "SyntaxError"]),
        ("def make_inputs", "def make_input", ["'make_inputs' is missing"]),
        ("def reference", "def refer", ["'reference' is missing"]),
        ("def baseline", "def base", ["'baseline' is missing"]),
        ("def baseline(inputs, case)", "def baseline(inputs)", ["'baseline'", "2 arguments"]),
        ("import numpy as np", "import numpy as np\ncheck = 3", ["'check'"]),
        ("import numpy as np", "import numpy as np\ndef variants(i, c, r): return {}", ["'variants'", "task.toml"]),
    ],
)
def test_faults_of_the_reference_name_file_and_line(
    folder: Folder, code: str, old: str, new: str, parts: list[str]
) -> None:
    message = sentence(folder(code=code.replace(old, new, 1)))
    assert "reference.py" in message
    for part in parts:
        assert part in message, message


def test_all_shipped_tasks_are_listed() -> None:
    gemms = ["batched_gemv", "bf16_gemm", "fp8_block_gemm", "int4_gemm"]
    rows = ["bias_gelu", "layer_norm", "reduction", "rms_norm", "row_softmax", "scan", "top_k"]
    layers = ["conv_nhwc", "decode_attention", "mlp_backward", "moe_ffn"]
    assert task_names() == sorted([*gemms, *rows, *layers, "histogram", "nearest_codeword", "transpose"])


def test_a_name_that_no_file_system_takes_is_no_task() -> None:
    with pytest.raises(TaskError, match="there is no task 'xxx"):
        load_task("x" * 5000)
