"""Sizes of the tiles of a product: which to begin with, which to try, which fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agents.product_kinds import ProductKind, Shape

STAGED_BYTES = 65536  # of LDS that a workgroup may have
NAMES = ("WAVESI", "WAVESJ", "TILESI", "TILESJ")


def tunables(kind: ProductKind, products: Sequence[tuple[int, int, int]], units: int) -> dict[str, list[int]]:
    """List the sizes of tiles, the best guess first; `products` are rows, columns and matrices of timed cases."""
    best = min(kind.shapes, key=lambda shape: sum(_rounds(kind, shape, product, units) for product in products))
    lists = {name: list(dict.fromkeys([best[i], *kind.usual[i]])) for i, name in enumerate(NAMES)}
    rows = kind.tile * (best[0] * best[2] + best[1] * best[3])
    fitting = [(d, b) for d in kind.depths for b in (2, 1) if b * d * rows <= STAGED_BYTES]
    depth, buffers = fitting[0]
    sizes = {"DEPTH": list(dict.fromkeys([depth, *kind.depths])), "BUFFERS": list(dict.fromkeys([buffers, 2, 1]))}
    if not kind.is_sliced:
        return {**lists, **sizes}
    tiles = max(_tiles(kind, best, product) for product in products)
    slices = max(1, (8 if tiles <= units else 4) // (best[0] * best[1]))
    return {**lists, "SLICES": list(dict.fromkeys([slices, 4, 8, 2, 1])), **sizes}


def _tiles(kind: ProductKind, shape: Shape, product: tuple[int, int, int]) -> int:
    m, n, matrices = product
    return -(-m // (shape[0] * shape[2] * kind.tile)) * -(-n // (shape[1] * shape[3] * kind.tile)) * matrices


def _rounds(kind: ProductKind, shape: Shape, product: tuple[int, int, int], units: int) -> float:
    """Estimate the clocks of one case along the inner axis: rounds of tiles, each with its sums and what they load."""
    rows, columns = shape[0] * shape[2] * kind.tile, shape[1] * shape[3] * kind.tile
    work = float(rows * columns + 32 * (rows + columns))
    if kind.is_sliced:
        work = shape[0] * shape[1] * max(2 * shape[2] * shape[3], 8 * (shape[2] + shape[3]))
    return -(-_tiles(kind, shape, product) // units) * work


def constraints(kind: ProductKind) -> Mapping[str, str]:
    """Say which sizes of tiles fit: LDS, registers of a lane, work-items."""
    staged = f"BUFFERS * {kind.tile} * (WAVESI * TILESI + WAVESJ * TILESJ) * DEPTH"
    lanes = f"WAVESI * WAVESJ * {'SLICES * ' if kind.is_sliced else ''}{kind.lanes}"
    rules = {
        "staged": f"{staged} <= {STAGED_BYTES}",
        "sums": f"TILESI * TILESJ <= {kind.most_tiles}",
        "lanes": f"{lanes} <= 1024",
    }
    if kind.is_sliced:
        rules["slices"] = f"SLICES * {kind.step} <= DEPTH"
        rules["joined"] = f"SLICES == 1 or {lanes} * TILESJ * {kind.bytes} <= {STAGED_BYTES}"
    return rules
