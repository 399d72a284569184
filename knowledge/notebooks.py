"""A Jupyter notebook to Markdown: its text, its code and what the code printed; pictures are left out."""

from __future__ import annotations

import json
from typing import Any

from knowledge.markup import fence
from records.errors import DocumentError

PRINTED = 2000  # characters of an output that are kept


def from_notebook(name: str, text: str) -> str:
    """Markdown of every cell; DocumentError where the file is no notebook."""
    try:
        cells = json.loads(text)["cells"]
        return "\n\n".join(part for cell in cells for part in _cell(cell) if part.strip())
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise DocumentError(f"the document {name} is no notebook ({type(error).__name__})") from error


def _cell(cell: dict[str, Any]) -> list[str]:
    source = _joined(cell.get("source", ""))
    if cell.get("cell_type") != "code":
        return [source]
    printed = [_joined(o.get("text") or o.get("data", {}).get("text/plain", "")) for o in cell.get("outputs", [])]
    said = "\n".join(printed).strip()[:PRINTED]
    return [fence(source, "python") if source.strip() else "", fence(said, "text") if said else ""]


def _joined(value: Any) -> str:
    return "".join(str(part) for part in value) if isinstance(value, list) else str(value)
