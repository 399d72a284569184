"""The judge's own kernels on the GPU, from `trusted/kernels.hip`."""

from __future__ import annotations

import ctypes
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sandbox.gpu.driver.device_memory import Argument, DeviceMemory
from sandbox.gpu.driver.driver import Device

SOURCE = Path(__file__).parent / "kernels.hip"
THREADS = 512  # as the kernels expect
BLOCKS_PER_UNIT = 4
UNITS, LDS_BYTES = 64, 48 << 10  # where the driver does not report them
PATIENCE = 4096  # looks of half a microsecond or more for blocks that may never run at the same time


@dataclass(frozen=True)
class DeviceSets:
    """The sets of a case on the GPU, one behind the other, and what they are written from and checked against."""

    arena: DeviceMemory
    bases: tuple[DeviceMemory, DeviceMemory]
    roles: DeviceMemory  # of each block, one byte
    report: DeviceMemory  # 16 bytes a set
    blocks: int  # of 16 bytes, in one set
    is_whole: bool  # a set holds one base, not a mixture of both

    def drawn_from(self, seed: int) -> tuple[Argument, ...]:
        """List the arguments that decide what the sets hold under a seed."""
        drawn = (ctypes.c_int64(self.blocks), ctypes.c_uint64(seed), ctypes.c_int(self.is_whole))
        return (self.arena, *self.bases, *drawn)


class Trusted:
    """Launches them; all are asynchronous."""

    def __init__(self, device: Device, image: bytes, attributes: Mapping[str, int]) -> None:
        """`image` is the compiled file, `attributes` the GPU's: how many units there are to fill, and their LDS."""
        module, units = device.load(image), max(1, attributes.get("units", UNITS))
        self._kernels = {
            name: module.kernel(f"trusted_{name}") for name in ("noise", "refresh", "inspect", "sweep", "scrub")
        }
        self._most = BLOCKS_PER_UNIT * units
        self._lds_bytes = attributes.get("shared_per_block", LDS_BYTES)
        share = attributes.get("shared_per_unit", 0) // self._lds_bytes
        self._scrubbers = units * max(1, min(BLOCKS_PER_UNIT, share))
        self._arrived, self._expected = device.allocate(8), 0
        self._arrived.fill(0)
        self._kernels["scrub"].allow_dynamic(self._lds_bytes)

    def noise(self, memory: DeviceMemory, words: int, seed: int, is_noisy: bool) -> None:
        """Fill 8-byte words with noise, or with ones, which are NaN in every floating type."""
        self._launch("noise", words, 1, [memory, ctypes.c_int64(words), ctypes.c_uint64(seed), ctypes.c_int(is_noisy)])

    def refresh(self, sets: DeviceSets, count: int, seed: int) -> None:
        """Write the first `count` sets again from the bases."""
        self._launch("refresh", sets.blocks, count, [*sets.drawn_from(seed)])

    def inspect(self, sets: DeviceSets, count: int, seed: int) -> None:
        """Report two 8-byte numbers for each of the first `count` sets: blocks changed illegally, the outputs' sum."""
        sets.report.fill(0)
        arena, a, b, *drawn = sets.drawn_from(seed)
        self._launch("inspect", sets.blocks, count, [arena, a, b, sets.roles, *drawn, sets.report])

    def sweep(self, memory: DeviceMemory) -> None:
        """Read it all."""
        words = memory.nbytes // 8
        self._launch("sweep", words, 1, [memory, ctypes.c_int64(words), memory])

    def scrub(self) -> None:
        """Overwrite all LDS, with words that no kernel can foretell."""
        self._expected += self._scrubbers
        self._kernels["scrub"].launch(
            (self._scrubbers, 1, 1),
            (THREADS, 1, 1),
            self._lds_bytes,
            [
                self._arrived,
                ctypes.c_uint64(self._expected),
                ctypes.c_int(self._lds_bytes // 8),
                ctypes.c_uint64(secrets.randbits(63)),
                ctypes.c_int(PATIENCE),
            ],
        )

    def _launch(self, name: str, items: int, sets: int, arguments: Sequence[Argument]) -> None:
        blocks = max(1, min(-(-items // THREADS), self._most))
        self._kernels[name].launch((blocks, sets, 1), (THREADS, 1, 1), 0, arguments)
