"""Other projects' own validators take the exported files; each is skipped where that project is not installed.

`FOREIGN` names a folder with `flashinfer_bench` (as pip installs it, with torch and safetensors), `kernelbench` (its
repository's `src/kernelbench`) and `robust_kbench` (its repository's folder of that name, for which torch is needed).
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from exports.flashinfer_trace import flashinfer_trace
from exports.kernelbench_model import kernelbench_model
from exports.robust_kbench import robust_kbench
from tests.support.exports import KNOWN, operator

FOREIGN = Path(os.environ.get("FOREIGN", "/nonexistent").split(":")[0])  # further folders, for torch, behind a colon
CHECKER = FOREIGN / "kernelbench" / "kernel_static_checker.py"
# In a process of its own: the package without its __init__, which asks for more than its data model needs.
READ = """
import sys, types
sys.path[:0] = sys.argv[2].split(":")
package = types.ModuleType("flashinfer_bench")
package.__path__ = [sys.argv[2].split(":")[0] + "/flashinfer_bench"]
sys.modules["flashinfer_bench"] = package
import safetensors.torch
from flashinfer_bench.data import TraceSet
traces = TraceSet.from_path(sys.argv[1])
(name, definition), = traces.definitions.items()
space, ran = {}, 0
exec(definition.reference, space)
assert len(traces.solutions[name]) == 1
for trace in traces.workloads[name]:
    given = trace.workload.inputs
    if any(kind.type == "random" for kind in given.values()):
        continue
    loaded = lambda kind: safetensors.torch.load_file(str(traces.root / kind.path))[kind.tensor_key]
    values = [kind.value if kind.type == "scalar" else loaded(kind) for kind in given.values()]
    axes = definition.get_axes_values_from_inputs(values)
    assert axes == trace.workload.axes
    made = space["run"](*values)
    made = made if isinstance(made, tuple) else (made,)
    assert [tuple(t.shape) for t in made] == [tuple(s) for s in definition.get_output_shapes(axes)]
    assert [t.dtype for t in made] == definition.torch_output_dtypes
    ran += 1
print(len(traces.workloads[name]), ran)
"""

LOAD = """
import sys
sys.path[:0] = sys.argv[2].split(":")
from robust_kbench.kernel_task import KernelTask
task = KernelTask(sys.argv[1], multi_input_settings=True)
model = task.model(**task.get_init_settings()[0])
inputs = task.get_inputs(**task.get_input_settings()[-1])
assert len(inputs) == len(task.get_input_names())
made = model(*inputs, fn=task.forward_fn)
assert made.isfinite().all() and made.std() > 0.001
print(len(task.get_input_settings()))
"""


@pytest.mark.long
@pytest.mark.skipif(not (FOREIGN / "flashinfer_bench").exists(), reason="FOREIGN has no flashinfer_bench")
@pytest.mark.parametrize("name", ["row_softmax", "rms_norm", "transpose", "fp8_block_gemm", "bias_gelu"])
def test_flashinfer_bench_reads_the_trace_set_and_runs_its_reference(name: str, tmp_path: Path) -> None:
    kernel_operator = operator(name, "h200")
    for path, content in flashinfer_trace(kernel_operator, KNOWN).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    command = [sys.executable, "-c", READ, str(tmp_path), os.environ["FOREIGN"]]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr[-2000:]
    task = kernel_operator.launcher.task
    valid, ran = map(int, process.stdout.split())
    assert valid == len(task.tests) + len(task.benchmarks) and ran >= 6


@pytest.mark.skipif(not CHECKER.exists(), reason="FOREIGN has no kernelbench")
@pytest.mark.parametrize("target", ["mi300x", "h200"])
@pytest.mark.parametrize("name", ["row_softmax", "rms_norm", "transpose"])
def test_kernelbench_finds_nothing_to_refuse(name: str, target: str) -> None:
    spec = importlib.util.spec_from_file_location("kernel_static_checker", CHECKER)
    assert spec is not None and spec.loader is not None
    checker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(checker)
    text = kernelbench_model(operator(name, target), KNOWN)
    backend = "hip" if target == "mi300x" else "cuda"
    assert checker.validate_kernel_static(text, backend=backend, precision="fp32")[:2] == (True, [])
    assert not checker.validate_kernel_static(text.replace("__global__", ""), backend=backend)[0]


@pytest.mark.long
@pytest.mark.skipif(not (FOREIGN / "robust_kbench").exists(), reason="FOREIGN has no robust_kbench")
@pytest.mark.parametrize("name", ["row_softmax", "bias_gelu", "layer_norm", "transpose", "conv_nhwc", "moe_ffn"])
def test_robust_kbench_loads_the_folder_and_runs_its_reference(name: str, tmp_path: Path) -> None:
    kernel_operator = operator(name, "h200")
    for path, text in robust_kbench(kernel_operator, KNOWN).items():
        (tmp_path / path).write_text(text, encoding="utf-8")
    command = [sys.executable, "-c", LOAD, str(tmp_path), os.environ["FOREIGN"]]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr[-2000:]
    assert int(process.stdout) == len(kernel_operator.launcher.task.benchmarks)
