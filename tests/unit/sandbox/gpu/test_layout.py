"""The contents of the sets: numpy against a plain loop, and the judge's own kernels, run by the lab, against numpy."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from sandbox.candidate.parse import parse
from sandbox.gpu import layout
from sandbox.gpu.compile.gpu_compiler import GpuCompiler
from sandbox.gpu.driver.device_memory import DeviceMemory
from sandbox.gpu.driver.driver import Device, DeviceKernel, open_driver
from sandbox.gpu.layout import BLOCK, OUTPUT, RED_ZONE, UNCHANGED, WORKSPACE, BufferPlace, Layout, lay_out
from sandbox.gpu.trusted.trusted import SOURCE, DeviceSets, Trusted
from sandbox.target import load_target
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.hip_own_kernels import KERNELS
from tests.support.hip_stub import Stub, hip_stub

MASK = (1 << 64) - 1
SEED = 0xFEDC_BA98_7654_3210
PLACES = (
    BufferPlace("x", "input", 256, 40),
    BufferPlace("y", "output", 1024, 40),
    BufferPlace("w", "workspace", 2048, 512),
)
PROBE = """
extern "C" __global__ void probe(u64* out, int words, u64 seed) {
    extern __shared__ u64 mine[];
    overwrite(mine, words, seed);
    __syncthreads();
    for (int i = threadIdx.x; i < words; i += blockDim.x) out[i] = mine[i];
}
"""
SMALL = Layout(PLACES, 40000)


def split_mix(seed: int, index: int) -> int:
    """SplitMix64, written down a second time."""
    z = (seed + (index + 1) * 0x9E3779B97F4A7C15) & MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def test_the_stream_is_split_mix() -> None:
    assert split_mix(0, 0) == 0xE220A8397B1DCDAF  # as published
    assert [layout.draw(SEED, n) for n in range(5)] == [split_mix(SEED, n) for n in range(5)]
    assert layout.noise(SEED, 5).tolist() == [split_mix(SEED, n) for n in range(5)]


def test_buffers_lie_apart_and_aligned_and_every_block_has_its_role() -> None:
    plan = lay_out([("x", "input", 1000), ("none", "input", 0), ("y", "output", 17), ("w", "workspace", 8)])
    end = 0
    for buffer in plan.places:
        assert buffer.offset % 256 == 0 and buffer.offset - end >= RED_ZONE
        end = buffer.offset + buffer.nbytes
    assert plan.nbytes - end >= RED_ZONE and plan.nbytes % 256 == 0
    assert [p.name for p in plan.outputs] == ["y"]
    roles = layout.block_roles(plan.places, plan.blocks)
    expected = [UNCHANGED] * plan.blocks
    for name, role in (("y", OUTPUT), ("w", WORKSPACE)):
        for byte in range(plan[name].offset, plan[name].offset + plan[name].nbytes):
            expected[byte // BLOCK] = role
    assert roles.tolist() == expected and expected.count(OUTPUT) == 2


@pytest.mark.parametrize("is_whole", [False, True])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.int64])
def test_contents_are_those_of_a_loop(is_whole: bool, dtype: type) -> None:
    rng, size = np.random.default_rng(1), np.dtype(dtype).itemsize
    a, b = (rng.integers(0, 100, 1024 // size).astype(dtype) for _ in range(2))
    buffer, sources = BufferPlace("x", "input", 512, a.nbytes - size), set()
    for seed in range(8):
        own_seed = layout.set_seed(seed, 3)
        content = layout.content(a[:-1], b[:-1], buffer, own_seed, is_whole)
        picks = [
            own_seed & 1 if is_whole else split_mix(own_seed, (512 + i * size) // BLOCK) & 1 for i in range(len(a) - 1)
        ]
        assert content.tolist() == [(b if pick else a)[i] for i, pick in enumerate(picks)]
        sources.add(tuple(picks))
    assert len(sources) == (2 if is_whole else 8)


def test_sets_beside_each_other_never_hold_the_same_whole_base_and_nobody_knows_which() -> None:
    seeds = [layout.draw(SEED, n) for n in range(64)]
    firsts = [bool(layout.takes_b(layout.set_seed(seed, 0), 5, 1, is_whole=True)[0]) for seed in seeds]
    assert 16 < sum(firsts) < 48
    for seed, first in zip(seeds, firsts, strict=True):
        choices = [layout.takes_b(layout.set_seed(seed, n), 0, 9, is_whole=True) for n in range(4)]
        assert all(len(set(blocks)) == 1 for blocks in choices)
        assert [bool(blocks[0]) for blocks in choices] == [first, not first, first, not first]


@dataclass(frozen=True)
class Gpu:
    device: Device
    trusted: Trusted
    stub: Stub
    probe: DeviceKernel


@pytest.fixture(params=["the lab", "numpy"])
def computing(request: pytest.FixtureRequest, gpu: Gpu) -> Iterator[None]:
    """Who does the work of the judge's own kernels: other tests have the stub compute it."""
    gpu.stub.world.computed |= set(KERNELS) if request.param == "numpy" else set()
    yield
    gpu.stub.world.computed.clear()


@pytest.fixture(scope="module")
def gpu(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gpu]:
    with hip_stub(toolchain(), COMPILED) as stub:
        compiler = GpuCompiler(load_target("mi300x"), tmp_path_factory.mktemp("build"), runtime_library=stub.library)
        build = compiler.compile(parse(SOURCE.read_text(encoding="utf-8") + PROBE), {})
        compiler.close()
        assert build.findings == ()
        device = open_driver("amd", stub.library).device()
        # one unit: less threads than there are blocks
        trusted = Trusted(device, build.image, {"units": 1, "shared_per_block": 4096, "shared_per_unit": 8192})
        yield Gpu(device, trusted, stub, device.load(build.image).kernel("probe"))
        assert stub.world.violations == []


@pytest.mark.usefixtures("computing")
def test_the_noise_of_the_gpu_is_that_of_numpy(gpu: Gpu) -> None:
    memory = gpu.device.allocate(8 * 3000)
    gpu.trusted.noise(memory, 3000, SEED, is_noisy=True)
    assert np.array_equal(memory.read(np.uint64, (3000,)), layout.noise(SEED, 3000))
    gpu.trusted.noise(memory, 2999, SEED, is_noisy=False)
    ones = memory.read(np.uint64, (3000,))
    assert (ones[:-1] == MASK).all() and ones[-1] == split_mix(SEED, 2999)
    memory.free()


@pytest.mark.usefixtures("computing")
@pytest.mark.parametrize("is_whole", [False, True])
def test_the_gpu_writes_and_inspects_sets_as_numpy_does(gpu: Gpu, is_whole: bool) -> None:
    rng, blocks = np.random.default_rng(2), SMALL.blocks
    bases = [rng.integers(0, 256, SMALL.nbytes, np.uint8) for _ in range(2)]
    addresses = [gpu.device.allocate(SMALL.nbytes) for _ in range(2)]
    for memory, data in zip(addresses, bases, strict=True):
        memory.write(data)
    roles, report = gpu.device.allocate(blocks), gpu.device.allocate(32)
    roles.write(layout.block_roles(SMALL.places, blocks))
    arena = gpu.device.allocate(2 * SMALL.nbytes)
    device_sets = DeviceSets(arena, (addresses[0], addresses[1]), roles, report, blocks, is_whole)
    gpu.trusted.refresh(device_sets, 2, SEED)
    everything = BufferPlace("all", "input", 0, SMALL.nbytes)
    expected = np.stack([layout.content(*bases, everything, layout.set_seed(SEED, n), is_whole) for n in range(2)])
    sets = arena.read(np.uint8, (2, SMALL.nbytes))
    assert np.array_equal(sets, expected)
    sets[1, [3, 4, 256, SMALL.nbytes - 1]] ^= 1  # three blocks, one of them of an input
    sets[0, [1024, 2048]] ^= 1  # an output, a workspace
    arena.write(sets)
    gpu.trusted.inspect(device_sets, 2, SEED)
    assert report.read(np.uint64, (4,)).tolist() == [0, summed(sets[0]), 3, summed(sets[1])]
    for memory in (*addresses, roles, report, arena):
        memory.free()


@pytest.mark.parametrize("words", [1, 1000, 1024])
def test_every_word_of_lds_is_overwritten(gpu: Gpu, words: int) -> None:
    memory = gpu.device.allocate(8 * words)
    gpu.probe.launch((1, 1, 1), (512, 1, 1), 8 * words, [memory, ctypes.c_int(words), ctypes.c_uint64(SEED)])
    drawn = layout.noise(SEED, words)
    assert np.array_equal(memory.read(np.uint64, (words,)), np.where(drawn & np.uint64(1), drawn, np.uint64(MASK)))
    memory.free()


def test_a_scrub_takes_all_lds_of_every_unit_and_waits_for_all_but_not_for_ever(gpu: Gpu) -> None:
    seeds = set()
    for number in (1, 2, 3):  # in the lab its two blocks may run one after the other: the first must give up
        gpu.trusted.scrub()
        gpu.device.synchronize()
        grid, _, dynamic, data = gpu.stub.world.last["trusted_scrub"]
        counter, expected, words, seed, patience = struct.unpack("<QQiQi", data)
        assert (grid, dynamic, expected, words) == ((2, 1, 1), 4096, 2 * number, 512) and 0 < patience < 1 << 16
        assert DeviceMemory(gpu.device.driver, counter, 8).read(np.uint64, (1,))[0] == 2 * number
        seeds.add(seed)
    assert len(seeds) == 3, "nobody can foretell what LDS holds"


def summed(values: np.ndarray) -> int:
    """Over the outputs' blocks: each word moved by its place, then mixed."""
    words, total = values.view(np.uint64), 0
    for block in range(1024 // BLOCK, -(-1064 // BLOCK)):
        for half in (0, 1):
            moved = int(words[2 * block + half]) + split_mix(1 + half, block)
            total += split_mix(moved - 0x9E3779B97F4A7C15, 0)
    return total & MASK
