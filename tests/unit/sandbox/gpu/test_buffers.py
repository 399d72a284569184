"""The arguments of a launch, bit for bit, and the memory that the buffers of a case take, byte for byte."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

import numpy as np
import pytest

from sandbox.candidate.parse import parse
from sandbox.candidate.plan import Candidate, Launch, Plan
from sandbox.candidate.resolve import BufferArg, ResolvedLaunch, ResolvedPlan, ScalarArg
from sandbox.gpu.buffers import SCALARS, CaseBuffers, Need, need_of
from sandbox.gpu.child_messages import BindRequest
from sandbox.gpu.compile.gpu_compiler import DeviceBuild, GpuCompiler
from sandbox.gpu.driver.driver import Device, open_driver
from sandbox.gpu.layout import lay_out
from sandbox.gpu.trusted.trusted import SOURCE, Trusted
from sandbox.lab.lab import Buffer, ExecutionRequest, LabProgram
from sandbox.target import load_target
from tasks.dtypes import NUMPY, numpy_dtype, stored
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.hip_stub import hip_stub
from tests.support.lab_bench import lab

NARROW: Mapping[str, str] = {
    "f16": "_Float16",
    "bf16": "__hip_bfloat16",
    "e4m3fnuz": "__hip_fp8_e4m3_fnuz",
    "e5m2fnuz": "__hip_fp8_e5m2_fnuz",
}
VALUES = (1.7, -0.1, 1.0 + 2.0**-8 + 2.0**-40, 3e-5, 224.0, 0.0)  # the third lies between two neighbours of bf16
BITS = "\n".join(
    f"""extern "C" __global__ void bits_{name}(unsigned* out, {kind} value) {{
    unsigned found = 0;
    __builtin_memcpy(&found, &value, sizeof value);
    out[0] = found;
}}"""
    for name, kind in NARROW.items()
)
SCALAR_SOURCE = f"#include <hip/hip_bf16.h>\n#include <hip/hip_fp8.h>\n#include <hip/hip_runtime.h>\n{BITS}\n"
LAUNCHES = tuple(Launch(f"bits_{name}", ("1",), ("1",), "0", ("out", "value"), 1) for name in NARROW)


def candidate() -> Candidate:
    return Candidate(hashlib.sha256(SCALAR_SOURCE.encode()).hexdigest(), SCALAR_SOURCE, Plan(LAUNCHES))


def plan_of(name: str, value: float, dtype: str = "") -> ResolvedPlan:
    arguments = (BufferArg("out"), ScalarArg(dtype or name, value))
    return ResolvedPlan((ResolvedLaunch(f"bits_{name}", (1, 1, 1), (1, 1, 1), 0, arguments),), {})


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    with hip_stub(toolchain(), COMPILED) as stub:
        yield open_driver("amd", stub.library).device()
        assert stub.world.violations == []


@pytest.fixture(scope="module")
def builds(device: Device, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, DeviceBuild]]:
    library = device.driver._library._name
    compiler = GpuCompiler(load_target("mi300x"), tmp_path_factory.mktemp("build"), runtime_library=library)
    yield {
        "scalars": compiler.compile(candidate(), {}),
        "trusted": compiler.compile(parse(SOURCE.read_text(encoding="utf-8")), {}),
    }
    compiler.close()


def test_every_type_of_a_task_can_be_given_to_a_kernel() -> None:
    assert set(SCALARS) == set(NUMPY)
    for name, make in SCALARS.items():
        value = True if name == "bool" else 1.5 if name.startswith(("f", "b", "e")) else 3
        expected = np.array(value).astype(numpy_dtype(name)).tobytes()
        assert bytes(make(value)) == expected, name  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NARROW)
def test_a_narrow_number_has_the_same_bits_on_a_device_and_in_the_lab(
    device: Device, builds: Mapping[str, DeviceBuild], name: str
) -> None:
    build, lab_build = builds["scalars"], lab().build(candidate(), {})
    assert build.findings == () and isinstance(lab_build, LabProgram), (build.diagnostics, lab_build)
    assert build.check_arguments(plan_of(name, 1.0)) == ()
    wrong = build.check_arguments(plan_of(name, 1.0, "f32"))
    assert [f.kind for f in wrong] == ["over_limit"], "the sizes of the image's parameters are checked against it"
    kernel, out = device.load(build.image).kernel(f"bits_{name}"), device.allocate(4)
    for value in VALUES:
        expected = int.from_bytes(stored(value, name).tobytes(), "little")
        out.fill(0xFFFFFFFF)
        kernel.launch((1, 1, 1), (1, 1, 1), 0, [out, SCALARS[name](value)])
        assert out.read(np.uint32, (1,))[0] == expected, value
        execution = lab().execute(
            ExecutionRequest(
                lab_build, plan_of(name, value), [Buffer("out", np.zeros(1, np.uint32), "output")], deadline_s=10
            )
        )
        assert execution.findings == () and execution.outputs["out"].view(np.uint32)[0] == expected, value
    out.free()


def bind_request(sets: int, *spaces: int) -> BindRequest:
    buffers = [("x", "input", 1000), ("y", "output", 5000), *((f"w{i}", "workspace", n) for i, n in enumerate(spaces))]
    return BindRequest(lay_out(buffers), sets, whole=False, seed=1, skip=4096)


@pytest.mark.parametrize("spaces", [(), (1,), (70_000, 100)])
def test_what_a_case_needs_is_what_it_takes(
    device: Device, builds: Mapping[str, DeviceBuild], spaces: tuple[int, ...]
) -> None:
    trusted = Trusted(device, builds["trusted"].image, {"units": 1})
    before = device.free_bytes()
    buffers = CaseBuffers(device, trusted, bind_request(3, *spaces), np.zeros(2000, np.uint8))
    taken_bytes, need = before - device.free_bytes(), need_of(bind_request(3, *spaces))
    assert taken_bytes == need.judge_bytes + need.candidate_bytes
    assert need.judge_bytes == need_of(bind_request(3)).judge_bytes
    assert (need.candidate_bytes > 0) == bool(spaces)
    buffers.free()
    assert device.free_bytes() == before


def test_who_is_to_blame_for_memory_is_said_by_the_sizes() -> None:
    need = Need(judge_bytes=100, candidate_bytes=50)
    assert [need.blames_candidate(room) for room in (99, 100, 149, 150)] == [False, True, True, False]
    assert not Need(100, 0).blames_candidate(100)
