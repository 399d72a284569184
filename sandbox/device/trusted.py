"""The judge's own kernels on the GPU, from `trusted/kernels.hip`."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path

from sandbox.device.driver import Argument, Device, Memory

SOURCE = Path(__file__).parent / "trusted" / "kernels.hip"
THREADS = 512  # as the kernels expect
BLOCKS_PER_UNIT = 4


class Trusted:
    """Launches them; all are asynchronous."""

    def __init__(self, device: Device, image: bytes, units: int) -> None:
        """`image` is the compiled file, `units` how many compute units there are to fill."""
        module = device.load(image)
        self._kernels = {name: module.kernel(f"trusted_{name}") for name in ("noise", "refresh", "inspect", "sweep")}
        self._most = BLOCKS_PER_UNIT * max(1, units)

    def noise(self, memory: Memory, words: int, seed: int, is_noisy: bool) -> None:
        """Fill 8-byte words with noise, or with ones, which are NaN in every floating type."""
        self._launch("noise", words, 1, [memory, ctypes.c_int64(words), ctypes.c_uint64(seed),
                                         ctypes.c_int(is_noisy)])

    def refresh(self, arena: Memory, bases: Sequence[Memory], blocks: int, sets: int, seed: int, whole: bool) -> None:
        """Write `sets` sets of so many blocks of 16 bytes anew from the bases."""
        self._launch("refresh", blocks, sets, [arena, *bases, ctypes.c_int64(blocks), ctypes.c_uint64(seed),
                                               ctypes.c_int(whole)])

    def inspect(self, arena: Memory, bases: Sequence[Memory], roles: Memory, blocks: int, sets: int, seed: int,
                whole: bool, report: Memory) -> None:
        """Two 8-byte numbers a set: blocks changed that must not be, and a sum over the outputs."""
        report.fill(0)
        self._launch("inspect", blocks, sets, [arena, *bases, roles, ctypes.c_int64(blocks), ctypes.c_uint64(seed),
                                               ctypes.c_int(whole), report])

    def sweep(self, memory: Memory) -> None:
        """Read it all."""
        words = memory.nbytes // 8
        self._launch("sweep", words, 1, [memory, ctypes.c_int64(words), memory])

    def _launch(self, name: str, items: int, sets: int, arguments: Sequence[Argument]) -> None:
        blocks = max(1, min(-(-items // THREADS), self._most))
        self._kernels[name].launch((blocks, sets, 1), (THREADS, 1, 1), 0, arguments)
