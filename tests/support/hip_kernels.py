"""The code side of the HIP stub: compiles for gfx942 for real, and executes kernels in the lab."""

from __future__ import annotations

import hashlib
import json
import re
import struct
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sandbox.amdgcn.compiler import Compiler
from sandbox.amdgcn.toolchain import Toolchain
from sandbox.candidate.diagnostics import SOURCE
from sandbox.candidate.header_names import INCLUDE
from sandbox.candidate.plan import Candidate, Launch, Plan
from sandbox.candidate.resolve import NullArg, ResolvedLaunch, ResolvedPlan, ScalarArg, StructArg
from sandbox.elf import Elf
from sandbox.gpu.compile.images import ImageKernel, read_image
from sandbox.lab import executor_request
from sandbox.lab.executor_limits import executor_limits
from sandbox.lab.lab_program import LabProgram
from sandbox.lab.machine_lab import MachineLab
from sandbox.lab.memory_folder import memory_folder, prefix
from sandbox.recent import Recent
from sandbox.target import Target, load_target

Bytes = npt.NDArray[np.uint8]
Allocations = Mapping[int, Bytes]  # by address
DEADLINE_S = 20.0
KEPT_BYTES = 4 << 20  # of one launch
BUILT_IN = "".join(
    f"#include <hip/{p.name}>\n" for p in sorted((INCLUDE / "hip").glob("*.h")) if not p.name.startswith("ks_")
)  # as hipRTC, which includes HIP's headers itself
_RAN: Recent[bytes, tuple[tuple[str, ...], tuple[bytes, ...]]] = Recent(64)  # how the last launches ended


@dataclass
class Image:
    """A module's code: what was compiled, and its variables' contents, which the lab does not share."""

    listing: str
    kernels: dict[str, ImageKernel]
    variables: dict[str, Bytes]
    program: LabProgram | None = field(default=None)


@dataclass(frozen=True)
class Workshop:
    """Compiles and executes; keeps the listing of every image, so that one from an old cache can be executed too."""

    toolchain: Toolchain
    cache: Path
    symbols: dict[str, str] = field(default_factory=dict)  # of the kernels compiled so far, by name

    @cached_property
    def target(self) -> Target:
        return load_target("mi300x")

    @cached_property
    def lab(self) -> MachineLab:
        return MachineLab(self.toolchain, self.cache, self.target)

    def compile(self, source: str, options: Sequence[str], names: Sequence[str] = ()) -> tuple[bytes | None, str]:
        """A code object and what clang said; the kernels of these names are instantiated."""
        tunables = {name: int(value) for o in options if o.startswith("-D") for name, value in [o[2:].split("=")]}
        full_source = BUILT_IN + source
        compiled = Compiler(self.toolchain, self.cache, self.target).compile(
            _candidate(full_source, tuple(Launch(name, ("1",), ("1",), "0", (), 1) for name in names)), tunables
        )
        if not compiled.ok:
            return None, _shifted(compiled.diagnostics) or "\n".join(f"error: {f.message}" for f in compiled.findings)
        image = (self.cache / "objects" / f"{compiled.code_object}.co").read_bytes()
        record = self._kept(image)
        record.parent.mkdir(parents=True, exist_ok=True)
        self.symbols.update({kernel.name: kernel.symbol for kernel in compiled.kernels})
        kernel_names = {kernel.symbol: kernel.name for kernel in compiled.kernels}
        record.write_text(json.dumps({"listing": compiled.listing, "names": kernel_names}), encoding="utf-8")
        return image, _shifted(compiled.diagnostics)

    def _kept(self, image: bytes) -> Path:
        return self.cache / "stub_listings" / f"{hashlib.sha256(image).hexdigest()}.json"

    def load(self, image: bytes) -> Image | None:
        """The listing and variables of an image; None when it is not one of ours."""
        try:
            record = json.loads(self._kept(image).read_text(encoding="utf-8"))
            metadata, elf = read_image(image), Elf(image)
        except (OSError, ValueError):
            return None
        first = {s.name: _first_value(elf, s.section, s.value, s.size) for s in elf.symbols}
        return Image(
            record["listing"],
            {k.symbol: replace(k, name=record["names"].get(k.symbol, k.name)) for k in metadata.kernels},
            {name: first[name] for name, _ in metadata.globals},
        )

    def execute(
        self,
        image: Image,
        kernel: ImageKernel,
        grid: Sequence[int],
        block: Sequence[int],
        dynamic: int,
        packed: bytes,
        memory: Allocations,
    ) -> list[str]:
        """Run one launch on these allocations; the kinds of the lab's findings about memory and time.

        A kernel sees its arguments and these allocations and nothing else, so an equal launch has an equal end.
        """
        program = image.program = image.program or self._program(image)
        values = list(_unpacked(kernel, packed))
        words = {word for value in values for word in _words(value)}
        used = [
            address
            for address in sorted(memory)
            if any(address <= word < address + max(1, memory[address].nbytes) for word in words)
        ]
        spans = {address: memory[address] for address in used}
        key = _key((program.path, kernel.symbol, *grid, *block, dynamic), values, spans)
        recorded = _RAN.known(key)
        if recorded is None:
            kinds = self._launched(program, kernel, grid, block, dynamic, values, spans)
            contents = tuple(span.tobytes() for span in spans.values())
            if sum(map(len, contents)) <= KEPT_BYTES:
                _RAN.keep(key, (kinds, contents))
            return list(kinds)
        kinds, contents = recorded
        for span, data in zip(spans.values(), contents, strict=True):
            span[:] = np.frombuffer(data, np.uint8)
        return list(kinds)

    def _launched(
        self,
        program: LabProgram,
        kernel: ImageKernel,
        grid: Sequence[int],
        block: Sequence[int],
        dynamic: int,
        values: Sequence[int | bytes],
        memory: Allocations,
    ) -> tuple[str, ...]:
        buffers = [executor_request.Buffer(f"{address:x}", data, "inout") for address, data in memory.items()]
        layout = executor_request.lay_out(buffers, count=False, masks=False)
        addresses = {address: region.address for address, region in zip(memory, layout.regions, strict=True)}
        args = tuple(_argument(value, addresses, memory) for value in values)
        x, y, z = grid
        plan = ResolvedPlan(
            (ResolvedLaunch(kernel.symbol, (x, y, z), (block[0], block[1], block[2]), dynamic, args),), {}
        )
        room = memory_folder(self.cache, layout.memory)
        with tempfile.TemporaryDirectory(prefix=prefix(), dir=room) as folder:
            result = self._run(Path(folder), program, plan, layout)
        return tuple(str(row["kind"]) for row in result["findings"])

    def _run(
        self, folder: Path, program: LabProgram, plan: ResolvedPlan, layout: executor_request.MemoryLayout
    ) -> dict[str, Any]:
        total = int(np.prod(plan.launches[0].grid))
        work = executor_request.Work((total,), 0, 1, DEADLINE_S, 256, 128, checks=0)
        self.lab._write(folder, program, plan, layout, work)
        process = self.lab._run([program.path, folder], executor_limits(work, layout, False))
        result: dict[str, Any] = json.loads((folder / "result.json").read_text(encoding="utf-8") or "{}")
        if "findings" not in result:
            raise RuntimeError(f"the lab's executor failed: {process.stderr}")
        for region in layout.regions:
            region.buffer.data[:] = np.fromfile(folder / "memory.bin", np.uint8, region.size, offset=region.file_offset)
        return result

    def _program(self, image: Image) -> LabProgram:
        program = self.lab.program(image.listing, {symbol: symbol for symbol in image.kernels}, SOURCE)
        if not isinstance(program, LabProgram):
            raise RuntimeError(f"the lab cannot execute this: {program}")
        return program


def _candidate(source: str, launches: tuple[Launch, ...]) -> Candidate:
    text = f"{source}\n{launches}"
    return Candidate(hashlib.sha256(text.encode()).hexdigest(), source, Plan(launches))


def _shifted(diagnostics: str) -> str:
    """The lines of the source as it came, in a folder such as hipRTC names it."""
    mine = BUILT_IN.count("\n")
    return re.sub(
        r"\bcandidate\.hip:(\d+)", lambda m: f"/tmp/comgr-1/input/candidate.hip:{int(m[1]) - mine}", diagnostics
    )


def _first_value(elf: Elf, section: int, address: int, size: int) -> Bytes:
    data = np.zeros(size, np.uint8)
    if 0 < section < len(elf.sections) and elf.sections[section].kind != 8:  # 8: no bits, all zero
        start = elf.sections[section].offset + address - elf.sections[section].address
        data[:] = np.frombuffer(bytes(elf.data[start : start + size]), np.uint8)
    return data


def _unpacked(kernel: ImageKernel, packed: bytes) -> Iterator[int | bytes]:
    """Pointers as numbers, what is passed by value as bytes."""
    offset = 0
    for size, buffer in zip(kernel.parameter_bytes, kernel.buffers or (), strict=True):
        yield struct.unpack("<Q", packed[offset : offset + 8])[0] if buffer else packed[offset : offset + size]
        offset += size


def _words(value: int | bytes) -> list[int]:
    """All that could be an address."""
    if isinstance(value, int):
        return [value]
    return [int.from_bytes(value[offset : offset + 8], "little") for offset in range(0, len(value) - 7, 8)]


def _argument(value: int | bytes, addresses: Mapping[int, int], memory: Allocations) -> NullArg | StructArg:
    """A pointer by its address there; of what is passed by value, each word that could be one."""
    if isinstance(value, int):
        return NullArg(_moved(value, addresses, memory))
    fields: list[tuple[int, NullArg | ScalarArg]] = [
        (8 * n, NullArg(_moved(w, addresses, memory))) for n, w in enumerate(_words(value))
    ]
    fields += [(offset, ScalarArg("u8", value[offset])) for offset in range(len(value) // 8 * 8, len(value))]
    return StructArg(tuple(fields), len(value))


def _key(launch: tuple[str | int, ...], values: Sequence[int | bytes], memory: Allocations) -> bytes:
    """All that decides how a launch ends: arguments, pointers as distances, contents."""
    distances = {address: number << 48 for number, address in enumerate(memory)}
    words = [word for value in values for word in _words(value)]
    moved = [_moved(word, distances, memory) for word in words]
    pointers = [_moved(word, {address: address + 1 for address in memory}, memory) != word for word in words]
    tails = [value[len(value) // 8 * 8 :] for value in values if isinstance(value, bytes)]
    sizes = [data.nbytes for data in memory.values()]
    digest = hashlib.blake2b(repr((launch, moved, pointers, tails, sizes)).encode())
    for data in memory.values():
        digest.update(data)
    return digest.digest()


def _moved(value: int, addresses: Mapping[int, int], memory: Allocations) -> int:
    """A device address as the lab's; any other number as it is."""
    for start, target in addresses.items():
        if start <= value < start + max(1, memory[start].nbytes):
            return target + value - start
    return value
