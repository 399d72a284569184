from __future__ import annotations

import json

import pytest

from documents.markup import from_notebook
from records.errors import DocumentError


def test_cells_come_with_what_they_printed() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "text"]},
        {
            "cell_type": "code",
            "source": "print(1)",
            "outputs": [
                {"output_type": "stream", "text": ["1\n"]},
                {"output_type": "display_data", "data": {"image/png": "AAAA"}},
                {"output_type": "execute_result", "data": {"text/plain": ["42"]}},
            ],
        },
        {"cell_type": "code", "source": [], "outputs": []},
    ]
    made = from_notebook("a.ipynb", json.dumps({"cells": cells, "nbformat": 4}))
    assert made.startswith("# Title\ntext\n\n```python\nprint(1)\n```\n\n```text\n1\n")
    assert "42" in made and "AAAA" not in made


def test_errors_are_kept_and_what_is_null_is_nothing() -> None:
    outputs = [
        {"output_type": "error", "ename": "RuntimeError", "evalue": "HIP error: no device", "traceback": ["\x1b[31m"]},
        {"output_type": "display_data", "data": None},
    ]
    cells = [{"cell_type": "code", "source": "f()", "outputs": outputs}, {"cell_type": "code", "source": None}]
    made = from_notebook("a.ipynb", json.dumps({"cells": cells}))
    assert made == "```python\nf()\n```\n\n```text\nRuntimeError: HIP error: no device\n```"


def test_a_notebook_of_version_3_has_its_cells_in_sheets() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["Banks"]},
        {"cell_type": "code", "input": "x = 1", "outputs": [{"output_type": "pyout", "text": ["1"]}]},
    ]
    made = from_notebook("a.ipynb", json.dumps({"worksheets": [{"cells": cells}], "nbformat": 3}))
    assert made == "## Banks\n\n```python\nx = 1\n```\n\n```text\n1\n```"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cells": 1}', '{"cells": [1]}', "[" * 200_000])
def test_what_is_no_notebook_is_refused(text: str) -> None:
    with pytest.raises(DocumentError, match="is no notebook"):
        from_notebook("a.ipynb", text)
