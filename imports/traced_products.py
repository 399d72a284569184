"""Products of matrices and sums of products, written down. In the import's own process only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from imports.traced_array import NotFollowed, TracedArray
from imports.traced_moves import TracedMoves

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


class TracedProducts(TracedMoves):
    """The part of NumPy that adds up products."""

    def do_matmul(self, x1: Any, x2: Any, **options: Any) -> Any:
        """Write a product of matrices, of batches of them, or with a vector."""
        a, b = self.of(x1), self.of(x2)
        if a.dtype.kind != "f" and b.dtype.kind != "f":
            raise NotFollowed("a product of matrices of whole numbers has no generated kernel yet")
        a, b = self.cast(a, float), self.cast(b, float)
        if not a.ndim or not b.ndim:
            raise ValueError("matmul: an operand has no axis")
        if a.ndim == 1:
            product = self.do_matmul(a[None, :], b)
            return product.reshape([*product.shape[:-2], product.shape[-1]])
        if b.ndim == 1:
            product = self.do_matmul(a, b[:, None])
            return product.reshape(product.shape[:-1])
        if b.ndim == 2:
            rows = a if a.ndim == 2 else a.reshape(math.prod(a.shape[:-1]), a.shape[-1])
            product = self.tape.emit("aten.mm.default", (rows, b), rows.value @ b.value)
            return product if a.ndim == 2 else product.reshape([*a.shape[:-1], b.shape[-1]])
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        flat = [self.broadcast(x, [*batch, *x.shape[-2:]]).reshape(math.prod(batch), *x.shape[-2:]) for x in (a, b)]
        product = self.tape.emit("aten.bmm.default", flat, flat[0].value @ flat[1].value)
        return product.reshape([*batch, a.shape[-2], b.shape[-1]])

    def do_dot(self, a: Any, b: Any, out: Any = None) -> Any:
        """Write a product over the last axis and the last but one."""
        left, right = self.of(a), self.of(b)
        if not left.ndim or not right.ndim:
            return self.elements("multiply", left, right)
        if right.ndim <= 2:
            return self.do_matmul(left, right)
        return self.do_tensordot(left, right, ([-1], [-2]))

    def do_inner(self, a: Any, b: Any) -> Any:
        """Write a product over the last axes."""
        return self.do_tensordot(a, b, ([-1], [-1]))

    def do_vdot(self, a: Any, b: Any) -> Any:
        """Write the sum of all products."""
        return self.reduced("sum", self.elements("multiply", self.of(a).reshape(-1), self.of(b).reshape(-1)))

    def do_outer(self, a: Any, b: Any, out: Any = None) -> Any:
        """Write all products of two elements."""
        return self.elements("multiply", self.of(a).reshape(-1)[:, None], self.of(b).reshape(-1)[None, :])

    def do_tensordot(self, a: Any, b: Any, axes: Any = 2) -> Any:
        """Write a product over pairs of axes."""
        left, right = self.of(a), self.of(b)
        if isinstance(axes, int):
            axes = (list(range(left.ndim - axes, left.ndim)), list(range(axes)))
        pairs = [[int(n) % x.ndim for n in np.atleast_1d(s)] for s, x in zip(axes, (left, right), strict=True)]
        first = LETTERS[: left.ndim]
        second = list(LETTERS[left.ndim : left.ndim + right.ndim])
        for i, k in zip(*pairs, strict=True):
            second[k] = first[i]
        free = [c for i, c in enumerate(first) if i not in pairs[0]] + [
            c for i, c in enumerate(second) if i not in pairs[1]
        ]
        return self.do_einsum(f"{first},{''.join(second)}->{''.join(free)}", left, right)

    def do_einsum(self, subscripts: str, *operands: Any, **options: Any) -> Any:
        """Write a sum of products, two operands after the other."""
        if not isinstance(subscripts, str):
            raise NotFollowed("np.einsum of lists has no generated kernel yet")
        arrays = [self.of(x) for x in operands]
        labels, wanted = _labels(subscripts, [a.ndim for a in arrays])
        terms = list(zip(arrays, labels, strict=True))
        while len(terms) > 1:
            (a, first), (b, second), *rest = terms
            later = set(wanted).union(*(set(t) for _, t in rest))
            kept = "".join(c for c in dict.fromkeys(first + second) if c in later)
            terms = [(self._pair(a, first, b, second, kept), kept), *rest]
        array, label = terms[0]
        summed, left = self._summed(array, label, wanted)
        return self.do_transpose(summed, [left.index(c) for c in wanted])

    def _summed(self, array: TracedArray, label: str, wanted: Sequence[str]) -> tuple[TracedArray, str]:
        """Add up the axes that nothing else has."""
        if len(set(label)) < len(label):
            raise NotFollowed("np.einsum of a diagonal has no generated kernel yet")
        axes = [i for i, c in enumerate(label) if c not in wanted]
        return self.reduced("sum", array, axes) if axes else array, "".join(c for c in label if c in wanted)

    def _pair(self, a: TracedArray, first: str, b: TracedArray, second: str, kept: str) -> TracedArray:
        """Write the product of two, with the axes `kept` in their order."""
        a, first = self._summed(a, first, [*second, *kept])
        b, second = self._summed(b, second, [*first, *kept])
        extents = {**dict(zip(first, a.shape, strict=True)), **dict(zip(second, b.shape, strict=True))}
        batch = [c for c in kept if c in first and c in second]
        over = [c for c in first if c in second and c not in kept]
        rows, columns = [c for c in kept if c not in second], [c for c in kept if c not in first]
        if not over:
            shaped = [self._ordered(x, label, kept) for x, label in ((a, first), (b, second))]
            return self.elements("multiply", *shaped)
        left = self.do_transpose(a, [first.index(c) for c in [*batch, *rows, *over]])
        right = self.do_transpose(b, [second.index(c) for c in [*batch, *over, *columns]])
        count, depth, height, width = (math.prod(extents[c] for c in group) for group in (batch, over, rows, columns))
        left, right = (
            left.reshape([*[count][: len(batch)], height, depth]),
            right.reshape([*[count][: len(batch)], depth, width]),
        )
        product: TracedArray = self.do_matmul(left, right).reshape([extents[c] for c in [*batch, *rows, *columns]])
        order = [*batch, *rows, *columns]
        moved: TracedArray = self.do_transpose(product, [order.index(c) for c in kept])
        return moved

    def _ordered(self, array: TracedArray, label: str, kept: str) -> TracedArray:
        """Give an operand the axes of the result, of one element where it has none of its own."""
        present = [c for c in kept if c in label]
        moved: TracedArray = self.do_transpose(array, [label.index(c) for c in present])
        extents = dict(zip(present, moved.shape, strict=True))
        return moved.reshape([extents.get(c, 1) for c in kept])


def _labels(subscripts: str, ranks: Sequence[int]) -> tuple[list[str], list[str]]:
    """Read the axes of each operand and of the result; an ellipsis stands for letters that are free."""
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    free = [c for c in LETTERS if c not in text]
    most = max((n - len(part.replace("...", "")) for part, n in zip(left.split(","), ranks, strict=True)), default=0)
    shared = "".join(free[:most])
    parts = [
        part.replace("...", shared[most - (n - len(part.replace("...", ""))) :] if "..." in part else "")
        for part, n in zip(left.split(","), ranks, strict=True)
    ]
    if arrow:
        return parts, list(right.replace("...", shared))
    joined = "".join(parts)
    once = sorted(c for c in set(joined) if joined.count(c) == 1 and c not in shared)
    return parts, [*(shared if "..." in left else ""), *once]
