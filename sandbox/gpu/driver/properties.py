"""What a driver says of a GPU and of one kernel on it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Properties:
    """What the driver says of a GPU; sizes in bytes, clocks in kHz."""

    name: str
    arch: str  # sm_90, gfx942
    driver: str
    memory_bytes: int
    attributes: dict[str, int]
    pci: str = ""  # 0000:1b:00.0

    @property
    def fingerprint(self) -> str:
        """One line that says on what a time was measured."""
        return f"{self.name} / driver {self.driver} / {self.arch}"


@dataclass(frozen=True)
class KernelFacts:
    """What one kernel needs, from its module; `blocks_per_unit` is for the block size and dynamic bytes asked for."""

    registers: int
    shared_bytes: int
    local_bytes: int
    threads: int
    blocks_per_unit: int
