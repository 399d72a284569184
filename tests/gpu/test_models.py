"""Kernels in a model on a GPU: the package compiles, runs under torch.compile and CUDA graphs, and is checked whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sandbox.gpu.gpu_pool import device_indices
from sandbox.target import load_target

torch = pytest.importorskip("torch")

from exports.models.check.checking import CheckRules, Subject, check  # noqa: E402
from tests.support.model_block import Block, get_inputs  # noqa: E402
from tests.support.model_package import region_kernel, written  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
SYNC = "    C10_CUDA_CHECK(cudaStreamSynchronize(at::cuda::getCurrentCUDAStream()));\n"
pytestmark = [
    pytest.mark.skipif(not device_indices(load_target("h200")), reason="no H200 here"),
    pytest.mark.filterwarnings("ignore"),
]


def packaged(folder: Path, name: str, has_backward: bool = False) -> ModuleType:
    kernels = [region_kernel("rms_norm", "h200"), region_kernel("bias_gelu", "h200", has_backward)]
    return written(folder, kernels, "h200", name)


def inputs() -> Any:
    return get_inputs()[0].cuda()


def test_the_package_runs_eagerly_compiled_and_in_a_cuda_graph(tmp_path: Path) -> None:
    package, model, x = packaged(tmp_path, "on_gpu"), Block().cuda(), inputs()
    with torch.no_grad():
        right = model(x)
        for compiler in ("eager", "inductor"):
            changed = package.apply(model, compiler=compiler)
            assert torch.allclose(changed(x), right, rtol=1e-2, atol=1e-4)
            counts = package.report(changed).counts
            assert counts == {n: {"replaced": 1, "kept": 0} for n in ("rms_norm", "bias_gelu")}
            graph = torch.cuda.CUDAGraph()
            for _ in range(3):
                changed(x)
            torch.cuda.synchronize()
            with torch.cuda.graph(graph):
                result = changed(x)
            x.copy_(inputs())
            graph.replay()
            assert torch.allclose(result, model(x), rtol=1e-2, atol=1e-4)
            right = model(x)


def test_a_backward_kernel_gives_gradients(tmp_path: Path) -> None:
    package, model, x = packaged(tmp_path, "with_gradients", has_backward=True), Block().cuda(), inputs()
    model(x).sum().backward()
    right, model.bias.grad = model.bias.grad, None
    changed = package.apply(model)
    changed(x).sum().backward()
    assert package.report(changed).counts["bias_gelu"]["replaced"] == 1
    assert torch.allclose(model.bias.grad, right, rtol=1e-2, atol=1e-3)


def test_the_check_times_every_mode_and_tells_a_kernel_that_breaks_under_cuda_graphs(tmp_path: Path) -> None:
    package = packaged(tmp_path, "breaking")
    operator = tmp_path / "breaking" / "kernels" / "bias_gelu.cpp"
    text = operator.read_text(encoding="utf-8")
    operator.write_text(text.replace("    return y;\n", f"{SYNC}    return y;\n"), encoding="utf-8")
    assert operator.read_text(encoding="utf-8") != text
    model = Block().cuda().eval()

    def draw(number: int) -> list[Any]:
        torch.manual_seed(number)
        return [inputs()]

    names = ("rms_norm", "bias_gelu")
    found = check(Subject("Block", model, draw, package, names), CheckRules(rounds=10, modes=("eager",)), print)
    assert found.outputs.right and found.gain is not None and "eager" in found.times_us
    assert "bias_gelu" in found.left_out and "bias_gelu breaks under CUDA graphs" in found.sentence


def test_the_benchmark_of_models_runs_one_of_its_own(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "benchmarks.model_gain", str(tmp_path / "results.json"), "--only", "sampler"]
    ran = subprocess.run([*words, "--rounds", "10"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert "sampler" in ran.stdout and (tmp_path / "results.json").exists(), ran.stdout + ran.stderr[-2000:]
