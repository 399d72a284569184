"""Kernels in a model's graph: where they stand, where they must not, and what `report` says of it.

The package holds copies of `exports.models.package.applying` and its siblings.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from tests.support.model_block import Block, get_inputs  # noqa: E402
from tests.support.model_package import region_kernel, with_tests, written  # noqa: E402

VERIFIED = "rows=3,cols=64"
pytestmark = pytest.mark.filterwarnings("ignore")  # of PyTorch, about itself


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    kernels = [with_tests(region_kernel(name), VERIFIED) for name in ("rms_norm", "bias_gelu")]
    return written(tmp_path_factory.mktemp("packages"), kernels, name="block_kernels")


@pytest.fixture(autouse=True)
def _fresh() -> None:
    torch._dynamo.reset()


def applied(package: ModuleType, model: Any, **options: Any) -> Any:
    return package.apply(model, kernels="original", **options)


def test_regions_are_found_by_structure_and_the_model_stays_as_it_is(package: ModuleType) -> None:
    model, x = Block(), get_inputs()[0]
    changed = applied(package, model)
    with torch.no_grad():
        assert torch.equal(changed(x), model(x))
        assert package.report(changed).counts == {n: {"replaced": 1, "kept": 0} for n in ("rms_norm", "bias_gelu")}
        model.weight.mul_(2)  # shared
        assert torch.equal(changed(x), model(x))
    assert type(model).forward is Block.forward and "forward" not in vars(model)


def test_each_kernel_can_be_switched_off(package: ModuleType) -> None:
    changed = applied(package, Block(), without=["rms_norm"])
    with torch.no_grad():
        changed(get_inputs()[0])
    assert package.report(changed).counts == {"bias_gelu": {"replaced": 1, "kept": 0}}
    with pytest.raises(ValueError, match="there is no kernel softmax"):
        applied(package, Block(), without=["softmax"])


def test_a_shape_that_was_not_verified_keeps_the_models_operators_and_is_told(package: ModuleType) -> None:
    model = Block()
    changed, x = applied(package, model), torch.randn(4, 64).bfloat16()
    with torch.no_grad():
        assert torch.equal(changed(x), model(x))
    report = package.report(changed)
    assert report.counts["rms_norm"] == {"replaced": 0, "kept": 1}
    assert report.reasons["rms_norm"] == ("it was not verified for bfloat16[4, 64], bfloat16[64]",)
    assert "not where it was not verified" in str(report)


def test_strides_that_were_not_verified_keep_the_models_operators(package: ModuleType) -> None:
    model = Block()
    changed, x = applied(package, model), torch.randn(64, 3).bfloat16().t()
    with torch.no_grad():
        assert torch.equal(changed(x), model(x))
    assert "with strides [1, 3]" in package.report(changed).reasons["rms_norm"][0]


def test_gradients_flow_through_the_models_own_operators_where_there_is_no_backward_kernel(package: ModuleType) -> None:
    model, x = Block(), get_inputs()[0]
    changed = applied(package, model)
    changed(x).sum().backward()
    assert model.product.weight.grad is not None
    report = package.report(changed)
    assert report.counts["bias_gelu"] == {"replaced": 0, "kept": 1}
    assert report.reasons["bias_gelu"] == ("gradients are needed, and it has no backward kernel",)


class Awkward(Block):
    """Updates the input of one region between its operators, and reads an inner value of the other outside of it."""

    def forward(self, x: Any) -> Any:
        wide = x.float()
        scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        x.add_(1)
        normed = (wide * scale * self.weight).to(torch.bfloat16)
        shifted = self.product(normed).float() + self.bias
        return torch.nn.functional.gelu(shifted, approximate="tanh"), shifted, x


def test_what_is_updated_in_place_or_read_outside_keeps_the_models_operators(package: ModuleType) -> None:
    model, x = Awkward(), get_inputs()[0]
    changed = applied(package, model)
    with torch.no_grad():
        for mine, own in zip(changed(x.clone()), model(x.clone()), strict=True):
            assert torch.equal(mine, own)
    report = package.report(changed)
    assert report.reasons["rms_norm"] == ("a value is updated in place beside it",)
    assert report.counts["bias_gelu"] == {"replaced": 0, "kept": 0}


def test_another_torch_compile_around_it_keeps_the_kernels(package: ModuleType) -> None:
    model, x = Block(), get_inputs()[0]
    changed = applied(package, model)
    around = torch.compile(changed, backend="eager")
    whole = package.backend(kernels="original", compiler="eager")
    with torch.no_grad():
        assert torch.equal(around(x), model(x))
        assert torch.equal(torch.compile(model, backend=whole, fullgraph=True)(x), model(x))
    assert package.report(changed).counts["rms_norm"] == whole.report.counts["rms_norm"] == {"replaced": 1, "kept": 0}


def test_kernels_of_a_gpu_are_not_used_on_a_processor(package: ModuleType) -> None:
    model, x = Block(), get_inputs()[0]
    changed = package.apply(model)
    with torch.no_grad():
        assert torch.equal(changed(x), model(x))
    assert "the tensors are on cpu" in package.report(changed).reasons["rms_norm"][0]


def test_the_lab_executes_the_kernels_themselves(package: ModuleType, compiler_cache: Path) -> None:
    model, x = Block(), get_inputs()[0]
    changed = package.apply(model, kernels="lab")
    with torch.no_grad():
        right = model(x)
        assert 0 < (changed(x) - right).abs().max() < 1e-5 * right.abs().max() + 1e-6
    assert package.report(changed).counts["rms_norm"] == {"replaced": 1, "kept": 0}
