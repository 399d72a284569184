"""What the host does with each buffer before and after launches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from imports.hosts.record import OF_HOST, BytePlace, HostTrace
from imports.hosts.types import KernelType, ParameterType
from imports.hosts.values import DeviceBuffer


@dataclass(frozen=True)
class KernelNames:
    """What a kernel is called, its parameters' types and their names in the file."""

    type: KernelType
    parameters: tuple[ParameterType, ...]
    names: tuple[str, ...]


def mark_roles(trace: HostTrace, buffers: Mapping[int, DeviceBuffer], kernels: Mapping[str, KernelNames]) -> None:
    """Say of each buffer what the host does with it before and after launches."""
    launched, overwritten = set[int](), set[int]()
    for event in trace.events:
        position = -1 if event.position.buffer is None else event.position.buffer
        buffer = buffers.get(position)
        if event.kind == "launch":
            kernel = kernels[event.kernel]
            for handed, parameter in zip(event.arguments, kernel.parameters, strict=True):
                for part in handed:
                    if isinstance(part.value, BytePlace) and part.value.buffer is not None:
                        launched.add(part.value.buffer)
                        overwritten |= set() if parameter.is_constant else {part.value.buffer}
        elif event.kind == "upload" and buffer is not None:
            buffer.is_given = buffer.is_given or position not in overwritten
        elif event.kind == "download" and buffer is not None:
            buffer.is_taken = buffer.is_taken or position in overwritten
    for number, buffer in buffers.items():
        block = trace.blocks.get(number)
        if block is not None and block.kind in OF_HOST:
            buffer.is_given = buffer.is_given or any(low or high for low, high in block.ranges.values())
        if block is not None and block.kind == "launcher" and number not in overwritten:
            buffer.is_given = True
