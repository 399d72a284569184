"""The codes of a verdict in words, after Dou et al. (arXiv 2407.06153), read for kernels."""

from __future__ import annotations

from collections.abc import Mapping

CODES: Mapping[str, str] = {
    "OK": "accepted",
    "A.1": "the source or its launch plan does not parse or compile",
    "A.2": "the file's form is wrong (no plan comment, wrong fences, wrong encoding)",
    "A.3": "a header or namespace is missing",
    "B.1": "a builtin, intrinsic or register layout is misused",
    "B.2": "a name is used but not defined",
    "B.3": "a boundary is not checked: access out of bounds or a partial tile",
    "B.4": "an argument, grid, block or LDS size breaks a limit or does not match the kernel",
    "B.5": "the kernel does not end in time, or crashes",
    "C.1": "the mathematics or the synchronisation is wrong",
    "C.2": "the task is changed: an input is written, an output is left unwritten, a rule is broken",
    "C.3": "layout, type or order of the output is wrong",
    "C.4": "right but for accuracy: the error is above the tolerance",
}
