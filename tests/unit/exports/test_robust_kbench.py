"""The folder for robust-kbench: one source file, the function beside it, the configurations."""

from __future__ import annotations

import ast
import json

import pytest

from exports.robust_kbench import robust_kbench
from records.errors import UsageError
from tasks.loader import load_task
from tests.support.exports import KNOWN, operator


def test_the_folder_has_the_names_that_robust_kbench_looks_up() -> None:
    files = robust_kbench(operator("rms_norm", "h200"), KNOWN)
    tree = ast.parse(files["func_forward.py"])
    definitions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    assert [a.arg for a in definitions["forward_fn"].args.args] == ["x", "w"] and {"Model", "get_inputs"} <= set(
        definitions
    )
    assert 'input_names = ["x", "w"]' in files["func_forward.py"]
    configs = json.loads(files["config_forward.json"])
    expected = [dict(case.dims) for case in load_task("rms_norm", "h200").benchmarks]
    assert configs["multi_input_configs"] == expected and configs["single_input_configs"] == expected[:1]
    assert set(configs) == {f"{a}_{b}_configs" for a in ("single", "multi") for b in ("input", "init", "shared")}


def test_halves_keep_their_operators_though_pytorch_takes_them_away() -> None:
    head, _, _ = robust_kbench(operator("row_softmax", "h200"), KNOWN)["forward.cu"].partition("#include")
    assert "#undef __CUDA_NO_HALF_OPERATORS__\n" in head and "#undef __CUDA_NO_BFLOAT16_CONVERSIONS__\n" in head


def test_one_source_file_defines_each_function_once() -> None:
    text = robust_kbench(operator("row_softmax", "h200"), KNOWN)["forward.cu"]
    assert text.count("long long floor_div(") == 1 and text.count('m.def("forward", &row_softmax_operator') == 1


@pytest.mark.parametrize(
    ("name", "target", "message"), [("row_softmax", "mi300x", "nvcc"), ("fp8_block_gemm", "h200", "column-major")]
)
def test_what_the_form_cannot_hold_is_refused(name: str, target: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        robust_kbench(operator(name, target), KNOWN)
