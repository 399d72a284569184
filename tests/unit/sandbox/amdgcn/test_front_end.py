"""The precompiled header changes nothing that anybody can see: neither the code, nor the words, nor a condition."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sandbox.amdgcn.compiler import FLAGS
from sandbox.amdgcn.front_end import FrontEnd, Tools, begins_with_header
from sandbox.candidate.header_names import further_names, is_header
from sandbox.machine.instrumented.instrumented_build import InstrumentedBuild
from tests.support.compiler_cache import COMPILED, toolchain

ROOT = Path(__file__).parents[4]
PLAIN = (*FLAGS, "--offload-arch=gfx942")
HEADER = "#include <hip/hip_runtime.h>\n"
KERNEL = "__global__ void k(float* x) { x[threadIdx.x] = __shfl_xor(expf(x[threadIdx.x]), LANE); }\n"


@pytest.fixture(name="front_end", scope="module")
def of_gfx942() -> FrontEnd:
    return FrontEnd(Tools(toolchain()), COMPILED, PLAIN)


def listing(front_end: FrontEnd, work: Path, text: str, prefixed: bool) -> tuple[str, str]:
    """The assembly and what clang printed."""
    completed = front_end.run(work, text, text if prefixed else None, "-DLANE=4", "candidate.hip", "-o", "candidate.s")
    output = work / "candidate.s"
    return output.read_text(encoding="utf-8") if output.exists() else "", completed.stderr


@pytest.mark.parametrize("name", ["row_softmax/seed.hip", "rms_norm/seed.hip", "transpose/seed_tiled.hip"])
def test_the_listing_is_the_same_to_the_last_byte(front_end: FrontEnd, tmp_path: Path, name: str) -> None:
    text = (ROOT / "tasks" / name).read_text(encoding="utf-8")
    macros = ["-DTILE=32", "-DDOWN=8", "-DPAD=1", "candidate.hip", "-o"]
    assert begins_with_header(text)
    for prefixed, output in ((text, "with.s"), (None, "without.s")):
        assert front_end.run(tmp_path, text, prefixed, *macros, output).returncode == 0
    assert (tmp_path / "with.s").read_bytes() == (tmp_path / "without.s").read_bytes()


def test_every_further_name_of_a_header_opens_its_file(front_end: FrontEnd, tmp_path: Path) -> None:
    names = {name: path for position in ("first", "last") for name, path in further_names(position).items()}
    assert len(names) > 100 and all(path.is_file() for path in names.values())
    assert all(is_header(name) for name in names) and not is_header("hip/unknown.h")
    text = "".join(f"#include <{name}>\n" for name in names) + "cub::BlockReduce<float, 64>* block; time_t seconds;\n"
    completed = front_end.run(tmp_path, HEADER + text, None, "candidate.hip", "-o", "every.s")
    assert (completed.stderr, completed.returncode) == ("", 0)


def test_the_text_form_for_probes_is_the_same_with_the_headers_templates_in_it(tmp_path: Path) -> None:
    front_end = InstrumentedBuild(toolchain(), COMPILED)._front_end
    text = (
        HEADER
        + """__global__ void k(float* x, int* n, double* d, float4* v) {
    atomicMin(x, __shfl_down(x[1], 2)); atomicMax(n, __popcll(__ballot(n[1] > 0)));
    atomicAdd(d, d[1]); v[0] = v[1] + v[2] * 2.0f; __syncthreads();
}
"""
    )
    for prefixed, output in ((text, "with.ll"), (None, "without.ll")):
        completed = front_end.run(tmp_path, text, prefixed, "candidate.hip", "-o", output)
        assert (completed.stderr, completed.returncode) == ("", 0)
    prefixed_ir, plain = ((tmp_path / name).read_text(encoding="utf-8") for name in ("with.ll", "without.ll"))
    location = re.compile(r"^!\d+ = !\{i64 \d+\}$", re.M)  # of inline assembly in clang's own numbers
    assert location.sub("", prefixed_ir) == location.sub("", plain) and "atomicrmw" in prefixed_ir


def test_what_clang_says_is_the_same(front_end: FrontEnd, tmp_path: Path) -> None:
    for text in (
        HEADER + KERNEL.replace("expf", "no_such_function"),
        HEADER + "__global__ void k(float* x) { atomicAdd(x, nullptr); }\n",
        HEADER + "__global__ void k(float* x) { int unused[LANE]; if (x = nullptr) return; }\n",
    ):
        (tmp_path / "with").mkdir(exist_ok=True)
        _, messages = listing(front_end, tmp_path / "with", text, True)
        _, plain = listing(front_end, tmp_path / "with", text, False)
        assert messages == plain != ""


def test_no_condition_shows_which_form_was_read(front_end: FrontEnd, tmp_path: Path) -> None:
    prefix = front_end._prefix
    names = [str(prefix / name) for name in ("prefix.h", "prefix.pch")]
    assert all(Path(name).is_file() for name in names)
    asks = "".join(f'#if __has_include("{name}")\n#error seen\n#endif\n' for name in ("prefix.h", "prefix.pch", *names))
    assert "seen" not in listing(front_end, tmp_path, HEADER + asks.split('#if __has_include("/')[0] + KERNEL, True)[1]
    assert "seen" not in listing(front_end, tmp_path, HEADER + asks + KERNEL, False)[1]
    assert len(prefix.name) == 32 and prefix.name not in str(front_end.flags)  # nobody can name it


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        (HEADER + KERNEL, True),
        ("/*+++ a plan +++*/\n\n// and a remark\n  # include <hip/hip_runtime.h>\n" + KERNEL, True),
        ("#define expf(x) x\n" + HEADER + KERNEL, False),
        ("int first;\n" + HEADER + KERNEL, False),
        ("#include <hip/hip_fp16.h>\n" + HEADER + KERNEL, False),
        ("#include <hip/hip_runtime.h> // remark\n" + KERNEL, True),
        (KERNEL, False),
        ("", False),
    ],
)
def test_only_a_text_that_begins_with_the_header_is_read_behind_it(text: str, begins: bool) -> None:
    assert begins_with_header(text) is begins


def test_a_lost_image_is_made_again(tmp_path: Path) -> None:
    text = HEADER + KERNEL
    front_end = FrontEnd(Tools(toolchain()), tmp_path / "cache", PLAIN)
    first, _ = listing(front_end, tmp_path / "work", text, True)
    (front_end._prefix / "prefix.pch").unlink()
    reopened = FrontEnd(Tools(toolchain()), tmp_path / "cache", PLAIN)
    assert listing(reopened, tmp_path / "work", text, True)[0] == first != ""
    (reopened._prefix / "prefix.pch").write_bytes(b"broken")
    assert listing(reopened, tmp_path / "work", text, True)[0] == first
