from __future__ import annotations

import base64
import contextlib
import hashlib
import struct
import zlib
from pathlib import Path

import pytest

from sandbox.amdgcn.compiler import Compiler
from sandbox.candidate.plan import Candidate, Plan
from sandbox.gpu.compile.images import DeviceImage, ImageKernel, read_image, read_message
from sandbox.target import load_target
from tests.support.compiler_cache import COMPILED, toolchain

DATA = Path(__file__).parents[4] / "data" / "device"


@pytest.fixture(scope="module")
def code_object() -> bytes:
    source = (DATA / "variables.hip").read_text(encoding="utf-8")
    compiler = Compiler(toolchain(), COMPILED, load_target("mi300x"))
    compilation = compiler.compile(Candidate(hashlib.sha256(source.encode()).hexdigest(), source, Plan(())), {})
    assert compilation.ok, compilation.findings
    return compiler.code_object_path(compilation.code_object).read_bytes()


def cubin() -> bytes:
    """Kept as text: base64 of zlib."""
    return zlib.decompress(base64.b64decode((DATA / "variables.cubin.txt").read_text(encoding="ascii")))


def kernels_of(image: DeviceImage) -> dict[str, ImageKernel]:
    return {kernel.name: kernel for kernel in image.kernels}


def test_a_cubin_tells_kernels_parameters_and_variables() -> None:
    image = read_image(cubin())
    kernels = kernels_of(image)
    assert {k: (v.symbol, v.parameter_bytes) for k, v in kernels.items()} == {
        "scale": ("_ZN5inner5scaleEPKfPfxif4Four", (8, 8, 8, 4, 4, 32)),
        "plain": ("plain", (8, 1, 2)),
        "generic": ("_Z7genericIfEvPT_i", (8, 4)),
    }
    assert (kernels["scale"].shared_bytes, kernels["scale"].max_threads) == (256, 128)
    assert (kernels["plain"].shared_bytes, kernels["plain"].max_threads) == (0, 0)
    assert all(k.registers > 0 and k.buffers is None for k in image.kernels)
    assert image.globals == (("counter", 4), ("factors", 32), ("hidden", 4))
    assert image.hidden_bytes == 0


def test_a_code_object_tells_the_same_and_which_parameters_are_pointers(code_object: bytes) -> None:
    image = read_image(code_object)
    kernels = kernels_of(image)
    assert kernels["scale"].parameter_bytes == (8, 8, 8, 4, 4, 32)
    assert kernels["scale"].buffers == (True, True, False, False, False, False)
    assert (kernels["scale"].shared_bytes, kernels["scale"].max_threads) == (256, 128)
    assert kernels["plain"].parameter_bytes == (8, 1, 2)
    assert kernels["scale"].symbol == "_ZN5inner5scaleEPKfPfxif4Four"
    assert image.globals == (("counter", 4), ("factors", 32))
    assert image.hidden_bytes == 4  # the static one


def test_the_device_part_of_a_bundle_is_read(code_object: bytes) -> None:
    entries, offset = b"", 4096
    for name, size in ((b"host-x86_64-unknown-linux-gnu-", 0), (b"hipv4-amdgcn-amd-amdhsa--gfx942", len(code_object))):
        entries += struct.pack("<QQQ", offset, size, len(name)) + name
    head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", 2) + entries
    assert read_image(head.ljust(4096, b"\0") + code_object) == read_image(code_object)


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"hello" * 100, b"__CLANG_OFFLOAD_BUNDLE__" + b"\0" * 8])
def test_what_is_no_image_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError):
        read_image(data)


def test_a_damaged_image_is_a_value_error_or_still_an_image(code_object: bytes) -> None:
    for image in (cubin(), code_object):
        for position in range(0, len(image), 97):
            damaged = image[:position] + bytes([image[position] ^ 0xFF]) + image[position + 1 :]
            with contextlib.suppress(ValueError):
                assert isinstance(read_image(damaged), DeviceImage)


def test_message_pack_values() -> None:
    data = (
        bytes([0x83, 0xA1])
        + b"a"
        + bytes([0x93, 0x01, 0xFF, 0xCD, 0x01, 0x00])
        + bytes([0xD9, 2])
        + b"bc"
        + bytes([0xC3, 0xA1])
        + b"d"
        + bytes([0xD2, 0xFF, 0xFF, 0xFF, 0xFE])
    )
    assert read_message(data) == {"a": [1, -1, 256], "bc": True, "d": -2}
