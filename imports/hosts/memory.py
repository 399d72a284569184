"""All that is known while a host half is read: sizes, buffers, the steps so far, and why a plan cannot be found."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from imports.hosts.amounts import Amount, named
from imports.hosts.types import OF_TASKS, Type
from imports.hosts.values import DeviceBuffer, HostStep, Pointer
from imports.names import free_name


class HostUnclear(Exception):
    """The reason why a host half gives no plan, in one sentence."""


@dataclass
class HostMemory:
    """All of it."""

    given_sizes: Mapping[str, int]  # sizes that the user gives
    sizes: dict[str, int | None] = field(default_factory=dict)  # of every name in an amount
    multiples: dict[str, int] = field(default_factory=dict)
    buffers: list[DeviceBuffer] = field(default_factory=list)
    steps: list[HostStep] = field(default_factory=list)
    loops: list[tuple[str, Amount, Amount, Amount]] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)  # that hold where a step is
    needed: set[str] = field(default_factory=set)  # sizes without which a branch cannot be chosen
    decisions: list[str] = field(default_factory=list)  # conditions over sizes that were taken as they are now
    fixed: set[str] = field(default_factory=set)  # sizes that templates have as constants
    work: int = 0

    def size(self, name: str, value: int | None) -> Amount:
        """Name a number; a second one of the same name has a number behind it."""
        given_size = self.given_sizes.get(name)
        if value is None and self.sizes.get(name) is not None:
            return named(name, self.sizes[name])  # a value that is looked up has the default that has its name
        unique_name = name
        while unique_name in self.sizes and self.sizes[unique_name] != (value if given_size is None else given_size):
            unique_name = free_name(f"{name}_{len(self.sizes)}", self.sizes)
        unique_name = unique_name if unique_name in self.sizes else free_name(unique_name, self.sizes)
        self.sizes[unique_name] = value if given_size is None else given_size
        return named(unique_name, self.sizes[unique_name])

    def buffer(self, name: str, kind: Type, count: Amount | None, line: int) -> DeviceBuffer:
        """Make a new buffer."""
        plain = name.lstrip("_") or "buffer"
        for prefix in ("d_", "dev_", "device_", "gpu_", "g_"):
            if plain.startswith(prefix) and len(plain) > len(prefix):
                plain = plain.removeprefix(prefix)
        for suffix in ("_d", "_dev", "_device", "_gpu"):
            if plain.endswith(suffix) and len(plain) > len(suffix):
                plain = plain.removesuffix(suffix)
        plain = re.sub(r"^(?:device|dev|gpu|d)(?=[A-Z])", "", plain)
        unique_name = free_name(plain, {b.name for b in self.buffers} | set(self.sizes))
        buffer = DeviceBuffer(unique_name, OF_TASKS.get(kind.dtype, kind.dtype), count, line)
        self.buffers.append(buffer)
        return buffer

    def add(self, step: HostStep) -> None:
        """One more step, in the loops that are open."""
        self.steps.append(replace(step, loops=tuple(self.loops), when=" and ".join(self.conditions)))

    def touched(self, pointer: Pointer) -> None:
        """Code that is not read gets a pointer: it gives values before kernels write, and takes them afterwards."""
        buffer = pointer.buffer
        if buffer is not None and buffer.is_written:
            buffer.is_taken = True
        elif buffer is not None:
            buffer.is_given = True
