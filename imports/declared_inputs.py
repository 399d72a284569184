"""Inputs and sizes in a person's words: `x=f32[rows,cols]`, `eps=1e-5`, `rows=4096,cols=1024`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from imports.readers import Specs
from records.errors import PlanError, UsageError
from tasks.expressions import evaluate, names_in

TYPES = "f64|f32|f16|bf16|i64|i32|i16|i8|u8|bool"
WHOLE = {"i64": 1 << 63, "i32": 1 << 31, "i16": 1 << 15, "i8": 1 << 7, "u8": 1 << 8}  # their largest limits
SPEC = re.compile(rf"([A-Za-z_]\w*)=({TYPES})\[(\w[\w, *+/%-]*)\](?::(\w+))?")
NUMBER = re.compile(r"([A-Za-z_]\w*)=([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|True|False|true|false)")
Plain = float | int | bool


@dataclass(frozen=True)
class DeclaredInputs:
    """The inputs that somebody declares: tensors with type, dims and limit; plain numbers; the sizes of the dims."""

    specs: Specs = field(default_factory=dict)
    numbers: Mapping[str, Plain] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)

    @property
    def sizeless(self) -> tuple[str, ...]:
        """The dims without a size, in the order of the inputs."""
        named = dict.fromkeys(name for dim in self._dims() for name in sorted(names_in(dim)))
        return tuple(name for name in named if name not in self.sizes)

    def _dims(self) -> list[str]:
        return [dim for _, shape, limit in self.specs.values() for dim in (*shape, limit) if dim]

    def checked(self) -> DeclaredInputs:
        """Return the same, where every dim has a size and every limit fits its type; UsageError otherwise."""
        if self.sizeless:
            raise UsageError(
                f"--input names {', '.join(self.sizeless)}, and no --size does: give --size {self.sizeless[0]}=4096"
            )
        if ambiguous := [name for name in (*self.specs, *self.numbers) if name in self.sizes]:
            raise UsageError(f"the name {ambiguous[0]!r} stands for a size and for an input; rename one of them")
        try:
            least = min((evaluate(dim, self.sizes) for dim in self._dims()), default=1)
        except PlanError as error:
            raise UsageError(f"--input: {error}") from None
        if least < 1:
            raise UsageError(
                "an input of --input has no elements or values: its sizes are 1 or more, and so is its limit"
            )
        for name, (dtype, _, limit) in self.specs.items():
            most = evaluate(limit or "0", self.sizes)
            if limit and most > WHOLE[dtype]:
                raise UsageError(f"{name} is {dtype}, which holds no numbers up to its limit {most}: give a wider type")
        return self


def declared(inputs: Iterable[str], sizes: Iterable[str]) -> DeclaredInputs:
    """Read the words of `--input` and `--size`; UsageError for one that is none."""
    specs, numbers = dict[str, tuple[str, list[str], str]](), dict[str, Plain]()
    for text in inputs:
        if number := NUMBER.fullmatch(text.strip()):
            numbers[number[1]] = number_of(number[2])
            continue
        match = SPEC.fullmatch(text.strip())
        dims = [part.strip() for part in match[3].split(",")] if match else []
        if match is None or not all(dims):
            raise UsageError(
                f"--input takes NAME=TYPE[DIM,...] such as x=f32[rows,cols], or NAME=NUMBER, not {text[:80]!r}"
            )
        if match[4] and match[2] not in WHOLE:
            raise UsageError(f"{match[1]} is {match[2]}, and only whole numbers ({', '.join(WHOLE)}) have a limit")
        specs[match[1]] = (match[2], dims, match[4] or "")
    return DeclaredInputs(specs, numbers, sizes_of(sizes))


def number_of(text: str) -> Plain:
    """Read a number of Python: real with a point or an exponent, else whole, or a truth value."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)


def sizes_of(texts: Iterable[str]) -> dict[str, int]:
    """Read `rows=4096,cols=1024`; UsageError for another form."""
    sizes = {}
    for part in (p for text in texts for p in text.split(",")):
        name, _, value = part.partition("=")
        if not value.strip().isdigit() or not int(value):
            raise UsageError(f"--size takes DIM=N,... such as rows=4096,cols=1024, not {part[:80]!r}")
        sizes[name.strip()] = int(value)
    return sizes
