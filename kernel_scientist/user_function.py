"""What a program brings to `optimise`: a path, or a function of its own, whose text becomes a file for that time."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from app.function_text import text_of_function
from app.optimising import UserFile
from records.errors import UsageError

DTYPES = {
    **{"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "bool": "bool"},
    **{"int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8", "uint8": "u8"},
}


@contextlib.contextmanager
def user_file_of(
    source: str | Path | Callable[..., Any],
    inputs: Mapping[str, Any],
    sizes: Mapping[str, int],
    reference: str | Path | Callable[..., Any],
    launch: tuple[tuple[str, ...], tuple[str, ...]],
    name: str,
) -> Iterator[UserFile]:
    """Give the same as the command's words; UsageError for what is no function, no array and no number."""
    with tempfile.TemporaryDirectory() as folder:
        words, more = declared_words(inputs)
        yield UserFile(
            _path(source, Path(folder)),
            words,
            tuple(f"{n}={v}" for n, v in {**more, **sizes}.items()),
            _path(reference, Path(folder)),
            (),
            *launch,
            name=name,
        )


def declared_words(inputs: Mapping[str, Any]) -> tuple[tuple[str, ...], dict[str, int]]:
    """Write inputs as words: texts and numbers as they are, arrays by type and shape; and the sizes of these.

    Equal extents of the arrays are one size (n0, n1, ... in their order); an extent of 1 stays.
    """
    words, names = list[str](), dict[int, str]()
    for name, value in inputs.items():
        if isinstance(value, str | bool | int | float):
            words.append(f"{name}={value}")
            continue
        dtype = DTYPES.get(str(getattr(value, "dtype", "")).removeprefix("torch."))
        if dtype is None:
            raise UsageError(f"the input {name} is no array, number or text such as 'f32[rows,cols]'")
        extents = [int(n) for n in value.shape] or [1]
        axes = ["1" if n == 1 else names.setdefault(n, f"n{len(names)}") for n in extents]
        words.append(f"{name}={dtype}[{','.join(axes)}]")
    return tuple(words), {axis: n for n, axis in names.items()}


def _path(source: str | Path | Callable[..., Any], folder: Path) -> str:
    """Return the path as it is, or that of a file with the function's text."""
    if not callable(source):
        return str(source)
    file = folder / f"{source.__name__}.py"
    file.write_text(text_of_function(source), encoding="utf-8")
    return f"{file}:{source.__name__}"
