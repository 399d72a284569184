"""Small parts of a plan: names of buffers, numbers that fill them, sums of expressions, multiples of sizes."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from imports.hosts.record import HostCall
from imports.hosts.types import BYTES
from imports.hosts.values import DeviceBuffer, HostStep

AFFIXES = (("d_", "dev_", "device_", "gpu_", "g_"), ("_d", "_dev", "_device", "_gpu"))


def plain_name(name: str) -> str:
    """Take the affixes of the GPU's side off a name."""
    plain = name.lstrip("_")
    for prefix in AFFIXES[0]:
        if plain.startswith(prefix) and len(plain) > len(prefix):
            plain = plain.removeprefix(prefix)
    for suffix in AFFIXES[1]:
        if plain.endswith(suffix) and len(plain) > len(suffix):
            plain = plain.removesuffix(suffix)
    return re.sub(r"^(?:device|dev|gpu|d)(?=[A-Z])", "", plain)


def filled(event: HostCall, buffer: DeviceBuffer) -> int | float:
    """Turn the bytes of a fill into the number that they are in the buffer's type."""
    size = BYTES[buffer.dtype]
    raw = event.number.to_bytes(event.width, "little") * (size // event.width or 1)
    return unpacked(raw[:size].hex(), buffer.dtype)


def unpacked(data: str, dtype: str) -> int | float:
    """Read one number of a type from hexadecimal bytes."""
    raw = bytes.fromhex(data)[: BYTES[dtype]]
    if dtype == "bf16":
        return float(np.frombuffer(b"\0\0" + raw, np.float32)[0])
    kinds = {"f64": "<f8", "f32": "<f4", "f16": "<f2", "bool": "u1"}
    value = np.frombuffer(raw, kinds.get(dtype, f"<{dtype[0]}{BYTES[dtype]}"))[0]
    return float(value) if dtype in kinds and dtype != "bool" else int(value)


def axes(texts: Sequence[str]) -> tuple[str, ...]:
    """Leave trailing axes of one out."""
    extents = list(texts)
    while len(extents) > 1 and extents[-1] == "1":
        extents.pop()
    return tuple(extents)


def bracketed(text: str) -> str:
    """Put brackets around all but names and digits."""
    return text if text.isidentifier() or text.isdigit() else f"({text})"


def product(loop: str, step: str) -> str:
    """Write a loop's variable times a step."""
    return loop if step == "1" else f"{loop} * ({step})" if not step.lstrip("-").isdigit() else f"{loop} * {step}"


def summed(first: str, second: str) -> str:
    """Write a sum."""
    return second if first == "0" else f"{first} + {second}"


def filled_first(steps: Sequence[HostStep]) -> set[DeviceBuffer]:
    """Buffers that a step fills, or copies into, before any launch has them."""
    launched, filled = set[DeviceBuffer](), set[DeviceBuffer]()
    for step in steps:
        if step.kind in ("fill", "copy") and step.buffers[0] not in launched:
            filled.add(step.buffers[0])
        launched |= {b for b, _ in step.pointers}
    return filled


def floor_steps(steps: Sequence[HostStep], dims: Sequence[str]) -> dict[str, int]:
    """Find the multiples that a launch of `n // 16` of something serves; of a product it is the last factor."""
    multiples: dict[str, int] = {}
    texts = [t for s in steps if s.kind == "launch" for t in (*s.grid, *s.block)]
    for text in texts:
        for product, plain, by in re.findall(r"(?:\(([\w* ]+)\)|\b(\w+)) // (\d+)", text):
            name = (plain or product.split("*")[-1]).strip()
            if name in dims:
                multiples[name] = max(int(by), multiples.get(name, 1))
    return multiples
