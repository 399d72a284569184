"""Sizes of a file: those that it names, else those that it writes down; and its function among helpers."""

from __future__ import annotations

import ast

import pytest

from tasks.file_sizes import constants_of, entries, replaced

NAMED = """
rows, dim, top_k = 512, 1, 2
kernel_size = 3
shape = (4, 5)
widths = [64] * 2 + [32]

def get_inputs():
    return [randn(rows, 7)]
"""
WRITTEN = """
class Config:
    hidden: int = 768
    layers: int = 2
    num_heads: int = 12

class Norm:
    def __init__(self, config=None, hidden: int = 64, *, width=16, eps=1e-6, deep=True):
        pass

def get_inputs():
    labels = torch.randint(0, 768, (8, 16))
    return [torch.randn(8, 128), np.zeros(shape=(3, 5)), labels, torch.randint(-9, 9, size=(2,)), torch.full((4,), 32)]
"""


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (NAMED, {"rows": 512, "shape_0": 4, "shape_1": 5, "widths_0": 64, "widths_1": 64, "widths_2": 32}),
        (
            WRITTEN,
            {
                **{f"n{i}": v for i, v in enumerate([8, 128, 3, 5, 8, 16, 2, 4, 768])},
                **{"hidden": 768, "hidden_1": 64, "width": 16},
            },
        ),
    ],
    ids=["named", "written"],
)
def test_sizes_are_found_and_put_in_place(text: str, sizes: dict[str, int]) -> None:
    tree = ast.parse(text)
    assert sorted(constants_of(tree).values()) == sorted(sizes.values()) and set(constants_of(tree)) == set(sizes)
    other = {name: 1000 + value for name, value in sizes.items()}  # indices stay below the size that they had
    assert constants_of(replaced(tree, other)) == other


def test_helpers_are_no_entries() -> None:
    text = "def a(x): return b(x)\ndef b(x): return b(x)\nclass C: pass\ndef get_inputs(): return C()\n"
    assert entries(ast.parse(text), ["a", "b", "C"]) == ["a"]
