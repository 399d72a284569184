"""The vendors' compilers as programs: a stand-in writes down what it is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from records.errors import ToolchainError
from sandbox.gpu.compile.hiprtc import Hipcc
from sandbox.gpu.compile.nvrtc import Nvcc
from sandbox.gpu.compile.rtc import Program

STAND_IN = """#!/bin/sh
[ "$1" = --version ] && { echo "HIP version: 7.1.2, release 13.0, V13.0.88"; exit 0; }
grep -q wrong k.hip && { echo "k.hip:1: error: wrong" >&2; exit 1; }
{ echo "$@"; cat k.hip; cat own/shared.h; } > image 2> /dev/null
echo "a warning" >&2
"""


def stand_in(tmp_path: Path, kind: type[Program]) -> Hipcc | Nvcc:
    path = tmp_path / "compiler"
    path.write_text(STAND_IN, encoding="utf-8")
    path.chmod(0o755)
    assert kind in (Hipcc, Nvcc)
    return Hipcc(str(path)) if kind is Hipcc else Nvcc(str(path))


@pytest.mark.parametrize(
    ("kind", "arch", "word", "has_headers"),
    [
        (Nvcc, "sm_90a", "-gencode=arch=compute_90a,code=sm_90a", True),
        (Hipcc, "gfx942", "--offload-arch=gfx942", False),
    ],
)
def test_a_program_compiles_a_file_for_an_architecture(
    tmp_path: Path, kind: type[Program], arch: str, word: str, has_headers: bool
) -> None:
    compiler = stand_in(tmp_path, kind)
    compilation = compiler.compile("the source\n", "k.hip", arch, ["-DN=4"], {"own/shared.h": "the header\n"})
    assert compilation.image is not None and compilation.log == "a warning"
    words, *texts = compilation.image.decode().splitlines()
    assert {word, "-DN=4", "k.hip"} <= set(words.split())
    assert texts == ["the source", *(["the header"] if has_headers else [])], "ROCm has headers of its own"
    assert compiler.version() in ("7.1.2,", "13.0.88")


@pytest.mark.parametrize("kind", [Nvcc, Hipcc])
def test_a_wrong_source_has_no_image_and_symbols_are_refused(tmp_path: Path, kind: type[Program]) -> None:
    compiler = stand_in(tmp_path, kind)
    compilation = compiler.compile("wrong\n", "k.hip", "sm_90a")
    assert compilation.image is None and compilation.log == "k.hip:1: error: wrong"
    with pytest.raises(ToolchainError, match="does not give the symbol of ops::scan"):
        compiler.compile("right\n", "k.hip", "sm_90a", names=["ops::scan"])
