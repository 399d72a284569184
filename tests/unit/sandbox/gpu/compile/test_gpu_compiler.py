"""Both vendors' compilers: hipRTC through the stub, NVIDIA's where this machine has one."""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from records.errors import ToolchainError
from sandbox.candidate.parse import parse
from sandbox.candidate.plan import Candidate, Launch, Plan
from sandbox.candidate.resolve import BufferArg, ResolvedLaunch, ResolvedPlan, ScalarArg
from sandbox.gpu.compile import nvrtc
from sandbox.gpu.compile.compile_messages import Job
from sandbox.gpu.compile.compile_pool import CompilePool, Worker
from sandbox.gpu.compile.gpu_compiler import DeviceBuild, GpuCompiler
from sandbox.target import load_target
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.hip_device import ABORT, HANG
from tests.support.hip_stub import Stub, hip_stub

ROOT = Path(__file__).parents[5]
HIP = "#include <hip/hip_runtime.h>\n"
K = 'extern "C" __global__ void k(float* x) {\n  '
CANARY = "ks-canary-8Rw4"
KINDS = ("hip", "nvidia")


@pytest.fixture(scope="module")
def stub() -> Iterator[Stub]:
    with hip_stub(toolchain(), COMPILED) as libraries:
        yield libraries
    assert libraries.world.violations == []


def has_nvidia() -> bool:
    try:
        nvrtc.find_compiler()
    except ToolchainError:
        return False
    return True


@pytest.fixture(scope="module", params=KINDS)
def compiler(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GpuCompiler]:
    folder, library = tmp_path_factory.mktemp("device"), None
    if request.param == "hip":
        library = request.getfixturevalue("stub").library
    elif not has_nvidia():
        pytest.skip("there is neither NVRTC nor nvcc here")
    else:
        toolchain()  # one compiler or another: what runs without takes seconds
    target = load_target("mi300x" if request.param == "hip" else "h200")
    gpu_compiler = GpuCompiler(target, folder, 2, runtime_library=library)
    yield gpu_compiler
    gpu_compiler.close()
    assert list((folder / "device" / "work").iterdir()) == []


@pytest.fixture
def hip(stub: Stub, tmp_path: Path) -> Iterator[GpuCompiler]:
    gpu_compiler = GpuCompiler(load_target("mi300x"), tmp_path, runtime_library=stub.library, deadline_s=2)
    yield gpu_compiler
    gpu_compiler.close()


def build(compiler: GpuCompiler, text: str, **tunables: int) -> DeviceBuild:
    return compiler.compile(Candidate(hashlib.sha256(text.encode()).hexdigest(), text, Plan(())), tunables)


def test_every_seed_for_the_target_compiles(compiler: GpuCompiler) -> None:
    for task in ("rms_norm", "row_softmax", "transpose"):
        candidate = parse((ROOT / "tasks" / task / "seed.hip").read_text(encoding="utf-8"))
        compilation = compiler.compile(candidate, candidate.defaults())
        assert compilation.findings == () and compilation.image and len(compilation.digest) == 64
        (kernel,) = compilation.kernels
        assert kernel.name == task and len(kernel.parameter_bytes) == len(candidate.plan.launches[0].args)


def test_tunables_are_macros_and_part_of_the_key(compiler: GpuCompiler) -> None:
    text = (
        HIP + K + "__shared__ float kept[SIZE];\n  kept[threadIdx.x % SIZE] = x[0];\n  __syncthreads();\n"
        "  x[1] = kept[(threadIdx.x + 1) % SIZE]; }\n"
    )
    assert [build(compiler, text, SIZE=n).kernels[0].shared_bytes for n in (64, 128, 64)] == [256, 512, 256]


def test_instantiations_and_kernels_in_namespaces_have_the_compilers_symbols(compiler: GpuCompiler) -> None:
    text = (
        HIP
        + "namespace ops {\ntemplate <typename T, int SIZE> __global__ void twice(T* x) { x[0] *= T(SIZE); }\n"
        + "__global__ void twice_of(float* x) { x[0] *= 2; }\n}\n"
    )
    names = ("ops::twice<float, SIZE>", "ops::twice<unsigned int, 3>", "ops::twice_of")
    launches = tuple(Launch(name, ("1",), ("1",), "0", ("x",), 1) for name in names)
    candidate = Candidate(hashlib.sha256(text.encode()).hexdigest(), text, Plan(launches))
    if compiler.description.kind == "nvcc":  # only the library gives symbols
        with pytest.raises(ToolchainError, match=r"nvcc does not give the symbol of .*; install NVRTC"):
            compiler.compile(candidate, {"SIZE": 7})
        return
    compilation = compiler.compile(candidate, {"SIZE": 7})
    assert compilation.findings == (), compilation.diagnostics
    expected = {names[0].replace("SIZE", "7"): "twiceIfLi7EE", names[1]: "twiceIjLi3EE", names[2]: "twice_of"}
    assert {k.name for k in compilation.kernels} == set(expected)
    assert all(expected[k.name] in k.symbol for k in compilation.kernels)


def test_errors_have_the_candidates_lines(compiler: GpuCompiler) -> None:
    compilation = build(compiler, HIP + K + "x[0] = missing_one;\n  x[1] = missing_two;\n}\n")
    assert compilation.image == b"" and compilation.kernels == ()
    assert [(f.kind, f.line) for f in compilation.findings] == [("compile_error", 3), ("compile_error", 4)]
    assert "missing_one" in compilation.findings[0].message and "missing_two" in compilation.diagnostics
    assert "/" not in compilation.diagnostics.split(":")[0]


def test_constexpr_functions_need_no_keyword(compiler: GpuCompiler) -> None:
    assert build(compiler, HIP + "constexpr int twice(int x) { return 2 * x; }\n" + K + "x[0] += twice(21); }").image


def test_standard_headers_are_there(compiler: GpuCompiler) -> None:
    names = ("cstdint", "limits", "type_traits", "algorithm", "utility")
    text = (
        "".join(f"#include <{name}>\n" for name in names)
        + HIP
        + K
        + "x[0] = std::min<uint8_t>(std::numeric_limits<uint8_t>::max(), std::is_same_v<float, float>); }"
    )
    assert build(compiler, text).findings == ()


def test_a_file_without_a_kernel_is_a_finding(compiler: GpuCompiler) -> None:
    (finding,) = build(compiler, HIP + "__device__ int x;\n").findings
    assert finding.message == "the file defines no __global__ function"


def test_results_are_kept_and_told_again(compiler: GpuCompiler) -> None:
    for text in (HIP + K + "x[0] += 17; }", HIP + K + "x[0] += also_missing; }"):
        first = build(compiler, text)
        repeated = build(compiler, text)
        assert replace(repeated, seconds=0) == replace(first, seconds=0)


def test_no_file_of_the_host_is_read(compiler: GpuCompiler, tmp_path: Path) -> None:
    secret = tmp_path / "secret.h"
    secret.write_text(f"{CANARY} is not C\n", encoding="utf-8")
    for ask in (
        f'#include "{secret}"',
        f"#if __has_include(<{secret}>)\n#error {CANARY}\n#endif",
        f'#embed "{secret}"',
        f'#define X "{secret}"\n#include X',
    ):
        compilation = build(compiler, f"{HIP}{ask}\n{K} x[0] = 1; }}")
        assert compilation.findings and not compilation.image and CANARY not in str(compilation.findings)
        assert compilation.diagnostics == "", "the compiler must not even see it"


def test_the_compilers_process_can_open_no_other_file_either(compiler: GpuCompiler, tmp_path: Path) -> None:
    if ctypes.CDLL(None).syscall(444, None, 0, 1) < 1:
        pytest.skip("this kernel has no Landlock")
    assert compiler.description.fenced
    if compiler.target.vendor == "amd":
        return  # the stub reads no files
    secret = tmp_path / "secret.h"
    secret.write_text(f"{CANARY} is not C\n", encoding="utf-8")
    pool = CompilePool("nvidia", tmp_path / "work", 1)
    reply = pool.compile(Job(f'#include "{secret}"\n', "candidate.hip", "sm_90a", (), {}), 60)
    pool.close()
    assert reply.image is None and "ermission denied" in reply.log and CANARY not in reply.log


def test_the_compilers_process_has_a_filter_of_system_calls(compiler: GpuCompiler, tmp_path: Path) -> None:
    assert compiler.description.filtered
    worker = Worker(compiler.target.vendor, compiler._pool._library, tmp_path)
    try:
        status = (Path("/proc") / str(worker._process.pid) / "status").read_text(encoding="ascii")
    finally:
        worker.close()
    assert "\nSeccomp:\t2\n" in status
    assert "\nNoNewPrivs:\t1\n" in status


def test_the_compilers_process_inherits_nothing(
    compiler: GpuCompiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", CANARY)
    with Path(tmp_path, "open").open("wb") as handle:
        os.set_inheritable(handle.fileno(), True)
        worker = Worker(compiler.target.vendor, compiler._pool._library, tmp_path)
        try:
            process = Path("/proc") / str(worker._process.pid)
            names = {entry.split(b"=")[0] for entry in (process / "environ").read_bytes().split(b"\0") if entry}
            files = {str(path.readlink()) for path in (process / "fd").iterdir()}
            limits = (process / "limits").read_text(encoding="ascii")
        finally:
            worker.close()
    assert {name for name in names if not name.startswith(b"MALLOC_")} == {b"PATH", b"HOME", b"TMPDIR"}
    assert {f for f in files if not f.startswith(("socket:", "/dev/null"))} == set()
    for name, most in (("data size", 8 << 30), ("file size", 256 << 20), ("core file size", 0)):
        assert re.search(rf"Max {name} +{most} +{most} ", limits)


def test_arguments_are_held_against_the_image(compiler: GpuCompiler) -> None:
    compilation = build(
        compiler, HIP + 'extern "C" __global__ void k(float* x, int n, float by) { if (n) x[0] *= by; }\n'
    )
    right = (BufferArg("x"), ScalarArg("i32", 3), ScalarArg("f32", 2.0))

    def check(*args: BufferArg | ScalarArg, kernel: str = "k") -> list[str]:
        launch = ResolvedLaunch(kernel, (1, 1, 1), (64, 1, 1), 0, args, 4)
        return [f.message for f in compilation.check_arguments(ResolvedPlan((launch,), {}))]

    assert check(*right) == []
    assert check(*right[:2]) == ["the plan passes 2 arguments to k, but the kernel takes 3"]
    assert "takes a value of 4 bytes" in check(right[0], right[0], right[2])[0]
    assert "passes i64 (8 bytes)" in check(right[0], ScalarArg("i64", 3), right[2])[0]
    assert len(check(right[1], right[1], right[2])) == 1
    assert "the source has no such kernel; it has: k" in check(*right, kernel="other")[0]


def test_several_threads_compile_at_once(compiler: GpuCompiler) -> None:
    texts = [f"{HIP}{K}x[{n}] += {n}; }}" for n in range(6)]
    futures = [compiler.submit(Candidate(hashlib.sha256(t.encode()).hexdigest(), t, Plan(())), {}) for t in texts]
    digests = [f.result().digest for f in futures]
    assert len(set(digests)) == 6 and digests == [build(compiler, t).digest for t in texts]


def test_a_crash_of_the_compiler_costs_one_source_and_is_not_kept(hip: GpuCompiler, stub: Stub) -> None:
    text = HIP + K + "x[0] = 3; }"
    assert hip.version == "hiprtc 7.0"
    stub.world.failures["hiprtcCompileProgram"] = [ABORT]
    (finding,) = build(hip, text).findings
    assert finding.kind == "compile_error" and "was ended by signal 6" in finding.message
    assert build(hip, text).findings == ()


def test_a_source_without_end_meets_the_deadline(hip: GpuCompiler, stub: Stub) -> None:
    text = HIP + K + "x[0] = 4; }"
    stub.world.failures["hiprtcCompileProgram"] = [HANG]
    (finding,) = build(hip, text).findings
    assert "did not end within its time limit" in finding.message
    assert build(hip, text).findings == ()


def test_a_compiler_that_fails_without_a_word_is_the_machines_fault(hip: GpuCompiler, stub: Stub) -> None:
    stub.world.failures["hiprtcCompileProgram"] = [11]
    with pytest.raises(ToolchainError, match="reinstall ROCm"):
        build(hip, HIP + K + "x[0] = 5; }")
    assert build(hip, HIP + K + "x[0] = 5; }").findings == ()


@pytest.mark.slow
@pytest.mark.skipif(not has_nvidia(), reason="there is neither NVRTC nor nvcc here")
def test_a_bomb_of_macros_meets_a_limit(tmp_path: Path) -> None:
    impatient = GpuCompiler(load_target("h200"), tmp_path, deadline_s=3)
    levels = "".join(f"#define A{n} A{n - 1} A{n - 1} A{n - 1} A{n - 1} A{n - 1} A{n - 1}\n" for n in range(1, 12))
    (finding,) = build(impatient, f"{HIP}#define A0 x[0] += 1.5f;\n{levels}{K}A11 }}").findings
    assert finding.kind == "compile_error" and finding.message.startswith("the compiler")
    assert build(impatient, HIP + K + "x[0] = 6; }").findings == ()
    impatient.close()


def test_a_missing_compiler_says_what_to_do(tmp_path: Path) -> None:
    gpu_compiler = GpuCompiler(load_target("mi300x"), tmp_path, runtime_library=str(tmp_path / "libhiprtc.so"))
    with pytest.raises(ToolchainError, match="install ROCm"):
        assert gpu_compiler.version
    gpu_compiler.close()


def test_workers_do_not_outlive_their_parent(stub: Stub, tmp_path: Path) -> None:
    code = (
        "import sys, os, time; from pathlib import Path\n"
        "from sandbox.gpu.compile.gpu_compiler import GpuCompiler\nfrom sandbox.target import load_target\n"
        f"c = GpuCompiler(load_target('mi300x'), Path({str(tmp_path)!r}), runtime_library={stub.library!r})\n"
        "print(c.version, flush=True); worker = c._pool._free.get(); print(worker._process.pid, flush=True)\n"
        "os.kill(os.getpid(), 9)"
    )
    completed = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    pid = int(completed.stdout.split()[-1])
    ended = threading.Event()
    for _ in range(200):
        if not Path(f"/proc/{pid}").exists() or " Z " in Path(f"/proc/{pid}/stat").read_text(encoding="ascii"):
            break
        ended.wait(0.05)
    else:
        pytest.fail("the worker is still there")


def test_device_variables_have_a_limit_together() -> None:
    assert DeviceBuild(globals=(("a", 200 << 20),), hidden_bytes=56 << 20).check_variables() == ()
    for large in (DeviceBuild(globals=(("a", 200 << 20), ("b", 57 << 20))), DeviceBuild(hidden_bytes=(256 << 20) + 1)):
        assert [finding.kind for finding in large.check_variables()] == ["over_limit"]
