"""On a GPU: LDS keeps what a kernel leaves in it, and nothing of it is left when the judge has scrubbed.

python3 -m tests.gpu.test_scrub      the same without pytest, with what a scrub costs
"""

from __future__ import annotations

import ctypes
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from records.errors import MachineError
from sandbox.candidate.parse import parse
from sandbox.gpu.compile.gpu_compiler import GpuCompiler
from sandbox.gpu.driver.driver import Device, DeviceKernel, open_driver
from sandbox.gpu.trusted.trusted import SOURCE, THREADS, Trusted
from sandbox.target import load_target

TARGETS = {"nvidia": "h200", "amd": "mi300x"}
LEFTOVER = Path(__file__).parents[1] / "data" / "device" / "leftover.hip"
ROUNDS = 200
BLOCKS = 4  # a unit


@dataclass(frozen=True)
class Bench:
    """One GPU, the judge's kernels, and two that leave and look."""

    device: Device
    own: Trusted
    leave: DeviceKernel
    look: DeviceKernel
    units: int
    lds_bytes: int

    def found(self, is_scrubbed: bool) -> tuple[int, int]:
        """Words of an earlier kernel that a later one finds in LDS, and in how many blocks."""
        blocks, words = BLOCKS * self.units, ctypes.c_int(self.lds_bytes // 8)
        memory, grid = self.device.allocate(8 * blocks), (blocks, 1, 1)
        memory.fill(0)
        self.leave.launch(grid, (THREADS, 1, 1), self.lds_bytes, [words])
        if is_scrubbed:
            self.own.scrub()
        self.look.launch(grid, (THREADS, 1, 1), self.lds_bytes, [memory, words])
        found = memory.read(np.uint64, (blocks,))
        memory.free()
        return int(found.sum()), int(np.count_nonzero(found))

    def scrub_us(self, times: int = 100) -> float:
        """Device time of one scrub among many."""
        start, end = self.device.event(), self.device.event()
        self.own.scrub()
        start.record()
        for _ in range(times):
            self.own.scrub()
        end.record()
        end.wait()
        return end.since_us(start) / times


def open_bench(folder: Path, library: str | None = None) -> Bench | None:
    """The bench of this machine's GPU; None where there is none that we know."""
    for vendor, target in TARGETS.items():
        try:
            device = open_driver(vendor, library).device()
        except (MachineError, AttributeError):
            continue
        compiler = GpuCompiler(load_target(target), folder, runtime_library=library)
        builds = [compiler.compile(parse(path.read_text(encoding="utf-8")), {}) for path in (SOURCE, LEFTOVER)]
        compiler.close()
        assert all(build.findings == () for build in builds), builds
        about, module = device.properties().attributes, device.load(builds[1].image)
        made = Bench(
            device,
            Trusted(device, builds[0].image, about),
            module.kernel("leave"),
            module.kernel("look"),
            about["units"],
            about["shared_per_block"],
        )
        for kernel in (made.leave, made.look):
            kernel.allow_dynamic(made.lds_bytes)
        return made
    return None


def left(bench: Bench) -> list[tuple[int, int]]:
    """The words that scrubs have left, of many."""
    return [one for one in (bench.found(is_scrubbed=True) for _ in range(ROUNDS)) if one != (0, 0)]


def main() -> int:
    """Print what is found; the status is 1 when a scrub leaves something."""
    with tempfile.TemporaryDirectory() as folder:
        bench = open_bench(Path(folder))
        if bench is None:
            sys.stdout.write("no GPU here\n")
            return 0
        words, blocks = bench.found(is_scrubbed=False)
        remains = left(bench)
        sys.stdout.write(
            f"{bench.lds_bytes} bytes of LDS a block, {bench.units} units\n"
            f"without a scrub: {words} words found again in {blocks} of {BLOCKS * bench.units} blocks\n"
            f"after each of {ROUNDS} scrubs: {remains or 'nothing'}\n"
            f"a scrub takes {bench.scrub_us():.1f} us\n"
        )
        return int(bool(remains))


try:
    import pytest
except ImportError:  # a GPU box needs no pytest for `main`
    pass
else:

    @pytest.fixture(scope="module")
    def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
        found = open_bench(tmp_path_factory.mktemp("scrub"))
        if found is None:
            pytest.skip("no driver of a known vendor finds a GPU")
        yield found

    def test_nothing_is_left_in_lds_after_a_scrub(bench: Bench) -> None:
        if not bench.found(is_scrubbed=False)[0]:
            pytest.skip("this GPU clears LDS itself")
        assert left(bench) == []


if __name__ == "__main__":
    sys.exit(main())
