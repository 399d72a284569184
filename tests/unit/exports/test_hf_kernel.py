"""The folder for kernel-builder: names of its schema, and one schema in all of its files."""

from __future__ import annotations

import ast
import re
import tomllib

import pytest

from exports.hf_kernel import hf_kernel, package_of
from tests.support.exports import KNOWN, operator


@pytest.mark.parametrize(("target", "backend"), [("mi300x", "rocm"), ("h200", "cuda")])
def test_the_build_file_names_files_that_are_there(target: str, backend: str) -> None:
    files = hf_kernel(operator("fp8_block_gemm", target), KNOWN)
    build = tomllib.loads(files["build.toml"])
    assert set(build) == {"general", "torch", "kernel"} and build["general"]["edition"] == 5
    assert build["general"]["name"] == "fp8-block-gemm" and build["general"]["backends"] == [backend]
    kernel = build["kernel"]["fp8_block_gemm"]
    assert kernel["backend"] == backend and all(path in files for path in [*kernel["src"], *build["torch"]["src"]])
    if backend == "rocm":
        assert kernel["rocm-archs"] == ["gfx942"] and not {"cuda-capabilities", "cuda-flags"} & set(kernel)
    else:
        assert kernel["cuda-capabilities"] == ["9.0a"] and not {"rocm-archs", "hip-flags"} & set(kernel)


def test_python_and_cpp_have_one_schema() -> None:
    files = hf_kernel(operator("rms_norm"), KNOWN)
    assert 'ops.def("rms_norm(Tensor x, Tensor w) -> Tensor")' in files["torch-ext/torch_binding.cpp"]
    functions = {n.name: n for n in ast.parse(files["torch-ext/rms_norm/__init__.py"]).body if hasattr(n, "args")}
    assert [a.arg for a in functions["rms_norm"].args.args] == ["x", "w"]
    head = files["torch-ext/torch_binding.h"].splitlines()[-1].rstrip(";")
    assert head in files["rms_norm_rocm/rms_norm_operator.cu"]
    ast.parse(files["tests/test_rms_norm.py"])


def test_its_origin_is_in_the_card_and_in_the_source() -> None:
    files = hf_kernel(operator("transpose"), KNOWN)
    for path in ("CARD.md", "transpose_rocm/transpose.cu", "torch-ext/transpose/__init__.py"):
        assert "Predicted time, never measured" in files[path] and "AMD Instinct MI300X" in files[path]


@pytest.mark.parametrize(
    ("name", "package"),
    [("softmax", "softmax"), ("t", "kernel_t"), ("_Top_K_", "top_k"), ("_2d", "kernel_2d"), ("_", "kernel_x")],
)
def test_each_name_of_a_task_has_one_that_kernel_builder_takes(name: str, package: str) -> None:
    assert package_of(name) == package
    assert re.fullmatch("[a-z][-a-z0-9]*[a-z0-9]", package.replace("_", "-"))
