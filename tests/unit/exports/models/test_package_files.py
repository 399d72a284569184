"""The files of a package that puts kernels into a model; nothing here needs PyTorch."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from exports.models.package_files import holds_region, package_files
from records.errors import UsageError
from records.model_scan import ModelTensor
from sandbox.target import load_target
from tests.support.model_package import region_kernel, with_tests

MI300X = load_target("mi300x")


def test_a_package_has_sources_patterns_and_the_verified_cases() -> None:
    kernel = with_tests(region_kernel("rms_norm"), "rows=3,cols=64", "rows=7,cols=1000")
    files = package_files("Block", "block_kernels", [kernel], MI300X)
    facts = json.loads(files["package.json"])
    (row,) = facts["kernels"]
    assert [case["inputs"][0]["shape"] for case in row["cases"]] == [[7, 1000], [3, 64]]
    assert row["cases"][1]["outputs"] == [{"dtype": "bf16", "shape": [3, 64], "stride": [64, 1]}]
    assert row["schema"] == "rms_norm(Tensor x, Tensor w) -> Tensor" and not row["has_backward"]
    assert facts["sources"] == ["kernels/rms_norm.cpp", "kernels/rms_norm_kernel.hip"]
    registration = files["kernels/rms_norm.cpp"].decode()
    assert f"TORCH_LIBRARY_IMPL({facts['space']}, CUDA, m)" in registration
    assert "return rms_norm_operator(aligned(x), aligned(w));" in registration
    for name in ("__init__", "graphs", "patterns", "operators", "replacing", "applying"):
        assert "exports.models.package" not in files[f"{name}.py"].decode()
        compile(files[f"{name}.py"], name, "exec")
    assert "exports.models" in files["operators.py"].decode()  # the lab alone is this project's
    assert files["lab/rms_norm/kernel.hip"].decode() == kernel.source


def test_a_kernel_of_gradients_goes_with_its_own() -> None:
    files = package_files("Block", "kernels", [region_kernel("bias_gelu", has_backward=True)], MI300X)
    row = json.loads(files["package.json"])["kernels"][0]
    assert b"::bias_gelu_backward" in files["gradient_bias_gelu.py"]
    assert row["has_backward"] and row["backward_schema"].startswith("bias_gelu_backward(")
    compile(files["gradient_bias_gelu.py"], "gradient", "exec")
    assert b"register_autograd" in files["gradient_bias_gelu.py"] and "kernels/bias_gelu_backward.cpp" in files


def test_other_shapes_and_strides_than_the_models_are_seen_before_anything_runs() -> None:
    kernel = region_kernel("rms_norm")
    assert holds_region(kernel)
    assert not holds_region(with_tests(kernel, "rows=7,cols=1000"))
    x = ModelTensor("x", "bf16", (64, 3, 2), (12, 4, 1))  # with gaps
    assert not holds_region(replace(kernel, pattern=replace(kernel.pattern, inputs=(x, kernel.pattern.inputs[1]))))


def test_a_permuted_tensor_stands_in_the_order_of_its_memory() -> None:
    kernel = region_kernel("rms_norm")
    turned = ModelTensor("x", "bf16", (64, 3), (1, 64))
    pattern = replace(kernel.pattern, inputs=(turned, kernel.pattern.inputs[1]))
    files = package_files("Block", "kernels", [replace(kernel, pattern=pattern)], MI300X)
    assert json.loads(files["package.json"])["kernels"][0]["input_orders"] == [[1, 0], []]
    assert holds_region(replace(kernel, pattern=pattern))


def test_what_does_not_belong_together_is_refused() -> None:
    kernel = region_kernel("rms_norm")
    with pytest.raises(UsageError, match="name another place with --out"):
        package_files("Block", "my-kernels", [kernel], MI300X)
    with pytest.raises(UsageError, match="two kernels are for the region rms_norm"):
        package_files("Block", "kernels", [kernel, kernel], MI300X)
    fewer = replace(kernel.pattern, inputs=kernel.pattern.inputs[:1])
    with pytest.raises(UsageError, match="takes 2 tensors and returns 1, and the region rms_norm 1 and 1"):
        package_files("Block", "kernels", [replace(kernel, pattern=fewer)], MI300X)
    other = replace(kernel, source=f"{kernel.source}\n", region=replace(kernel.region, name="second"))
    with pytest.raises(UsageError, match="two kernels are of tasks with the name rms_norm"):
        package_files("Block", "kernels", [kernel, other], MI300X)
