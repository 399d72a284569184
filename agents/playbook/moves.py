"""Small changes of a kernel's text that keep its result. Each is offered only where its pattern is certain."""

from __future__ import annotations

import re
from collections.abc import Mapping

from agents.playbook import (
    item_moves,
    jam_moves,
    layout_moves,
    loop_moves,
    plan_moves,
    prefetch_moves,
    private_moves,
    product_moves,
    row_moves,
    split_moves,
    stage_moves,
    stride_moves,
    tile_moves,
    wide_moves,
)
from agents.playbook.move import Move
from agents.playbook.plain_text import plain
from agents.source import KernelFile, SourceError, read

MOVES: tuple[Move, ...] = (
    Move(
        "wave_rows",
        "give each row to a wave",
        "one work-item a row reads with a stride of a row; the lanes of a wave read neighbours, several at once",
        ("one wave a row, lanes on neighbouring elements, several a lane", "join the lanes' results by shuffles"),
        (0, 100),
        75,
        row_moves.row_variants,
        row_moves.wave_rows,
        is_exact=False,
    ),
    Move(
        "block_rows",
        "give each row to a block",
        "one work-item a row reads with a stride of a row; few long rows need more work-items than a wave has",
        ("one block a row, lanes on neighbouring elements, several a lane", "join shuffles' results through LDS"),
        (0, 95),
        80,
        row_moves.row_variants,
        row_moves.block_rows,
        is_exact=False,
    ),
    Move(
        "tile_in_lds",
        "turn transposed reads in LDS",
        "lanes along the stores load with a stride; a tile in LDS lets both go to neighbouring elements",
        ("read each tile along its rows into LDS, use it along its columns", "one element of padding a row"),
        (0, 90),
        70,
        tile_moves.tile_variants,
        tile_moves.tile_in_lds,
    ),
    Move(
        "loop_tile",
        "share a loop's loads in LDS",
        "items of a block load the same elements again and again; a tile in LDS is loaded once for all of them",
        ("stretches of the loop through tiles in LDS", "a small tile of items in the registers of each lane"),
        (0, 100),
        78,
        stage_moves.stage_variants,
        stage_moves.loop_tile,
    ),
    Move(
        "fused_tiles",
        "multiply matrices by tiles",
        "each item adds up products of a row and a column that its neighbours load again; tiles share them",
        ("tiles of both operands in LDS, loaded ahead", "a tile of sums a lane, two fused steps at once"),
        (60, 100),
        82,
        product_moves.fused_variants,
        product_moves.fused_tiles,
        is_exact=False,
    ),
    Move(
        "matrix_tiles",
        "multiply matrices with the matrix cores",
        "each item adds up products of a row and a column that its neighbours load again; matrix cores share them",
        ("tiles of both operands in LDS, loaded ahead", "sums of 32 by 32 a wave by matrix instructions"),
        (70, 100),
        85,
        product_moves.matrix_variants,
        product_moves.matrix_tiles,
        is_exact=False,
    ),
    Move(
        "privatise",
        "count in LDS first",
        "atomics on few places of a buffer wait for each other in the L2; those of one block can meet in its LDS",
        ("counters of its own for each block in LDS, added to the buffer at the end", "many items a block"),
        (0, 100),
        72,
        private_moves.private_variants,
        private_moves.private_counters,
    ),
    Move(
        "items",
        "give each work-item several neighbouring items",
        "accesses to neighbouring elements join into wide ones, and index arithmetic is shared",
        ("several items a work-item without guards between them", "a guarded loop for the last ones"),
        (0, 50),
        45,
        item_moves.item_variants,
        item_moves.several_items,
    ),
    Move(
        "wide_lanes",
        "give each lane several neighbouring elements of a shared loop",
        "lanes that lie one element apart load one each; several neighbours join into wide accesses",
        ("several neighbouring passes a lane, without guards between them", "a guarded loop for the last ones"),
        (0, 70),
        46,
        wide_moves.wide_variants,
        wide_moves.wide_lanes,
        is_exact=False,
    ),
    Move(
        "register_tile",
        "give each work-item a tile of items",
        "items of a tile share loads, which stay in registers",
        ("take each step of the loop for all items of the tile",),
        (-20, 60),
        60,
        jam_moves.jam_variants,
        jam_moves.register_tile,
    ),
    Move(
        "split_sum",
        "share a long sum among blocks",
        "few items with a long loop leave most of the GPU idle; parts of the loop run side by side",
        ("a part of the loop for each block along z", "a second launch adds the parts and does the rest"),
        (-30, 90),
        68,
        split_moves.split_variants,
        split_moves.split_sum,
        is_exact=False,
    ),
    Move(
        "prefetch",
        "load a pass ahead",
        "a pass that waits for its own loads leaves the units idle; the next one's can be on their way",
        ("load the next pass's values into registers before this one's are used",),
        (-10, 30),
        48,
        prefetch_moves.prefetch_variants,
        prefetch_moves.prefetch,
    ),
    Move(
        "grid_stride",
        "let a grid of fixed size take all items",
        "a block that ends makes room for another one at a cost; fewer blocks go on through the items instead",
        ("a loop over items as far apart as the grid is wide", "the number of blocks is a tunable"),
        (-10, 15),
        38,
        stride_moves.stride_variants,
        stride_moves.grid_stride,
    ),
    Move(
        "launch_bounds",
        "tell the compiler the block size",
        "without launch bounds the compiler plans for 1024 work-items and may spill registers",
        ("add __launch_bounds__ with the plan's block size, or a minimum of what should run at a time",),
        (0, 15),
        15,
        plan_moves.bounds_variants,
        plan_moves.add_bounds,
    ),
    Move(
        "restrict",
        "promise that buffers do not overlap",
        "loads can move across stores and be merged when pointers cannot alias",
        ("add __restrict__ to every pointer parameter",),
        (0, 12),
        10,
        plan_moves.restrict_variants,
        plan_moves.add_restrict,
    ),
    Move(
        "unroll",
        "unroll the innermost loops",
        "several loads are in flight at once and loop overhead falls",
        ("put #pragma unroll before every innermost loop that has none",),
        (1, 25),
        25,
        loop_moves.unroll_variants,
        loop_moves.unroll,
    ),
    Move(
        "block_size",
        "make the block size a tunable",
        "a better block size changes occupancy and how much each block can share",
        ("turn the fixed block size into a tunable and use it in plan and code",),
        (3, 40),
        35,
        plan_moves.block_variants,
        plan_moves.expose_block,
    ),
    Move(
        "nontemporal",
        "write outputs past the caches",
        "results that are not read again need no room in the caches",
        ("store outputs with __builtin_nontemporal_store",),
        (-2, 8),
        40,
        loop_moves.store_variants,
        loop_moves.nontemporal_stores,
    ),
    Move(
        "xcd_order",
        "give each chiplet neighbouring blocks",
        "blocks are dealt round-robin to eight chiplets; neighbours that share data should share an L2",
        ("remap blockIdx.x so that each of the eight chiplets works on a contiguous range",),
        (-5, 20),
        70,
        layout_moves.xcd_variants,
        layout_moves.xcd_order,
    ),
    Move(
        "lds_padding",
        "pad rows in LDS",
        "rows of a multiple of 128 bytes put a column into one bank and serialise the access",
        ("widen the last dimension of two-dimensional __shared__ arrays by one bank",),
        (0, 60),
        55,
        layout_moves.padding_variants,
        layout_moves.pad_lds,
    ),
    Move(
        "swap_threads",
        "swap the work-item axes",
        "which axis runs along the lanes decides whether a wave reads whole cache lines",
        ("exchange threadIdx.x and threadIdx.y, and the block's extents",),
        (-40, 80),
        60,
        layout_moves.thread_swap_variants,
        layout_moves.swap_threads,
    ),
    Move(
        "swap_grid",
        "swap the block axes",
        "the order of blocks decides what the caches hold when a neighbour needs it",
        ("exchange blockIdx.x and blockIdx.y, and the grid's extents",),
        (-15, 25),
        50,
        layout_moves.grid_swap_variants,
        layout_moves.swap_grid,
    ),
    Move(
        "fast_math",
        "use the hardware's exponential and logarithm",
        "the precise functions spend instructions on ranges that the inputs do not reach",
        ("replace expf, logf and powf-free helpers by their __ forms",),
        (0, 20),
        30,
        loop_moves.math_variants,
        loop_moves.fast_math,
        is_exact=False,
    ),
)
BY_NAME: Mapping[str, Move] = {move.name: move for move in MOVES}
SAFE_TOGETHER = ("restrict:all", "launch_bounds:1", "unroll:4")
_HANDLE = re.compile(r"[a-z_]+:[\w.+]+")


def offers(file: KernelFile, arch: str, reserved: frozenset[str]) -> tuple[str, ...]:
    """List handles `move:variant` of every change that applies, in a fixed order."""
    file = read(plain(file.source))
    handles = [f"{m.name}:{v}" for m in MOVES for v in m.variants(file, arch, reserved)]
    together = [h for h in SAFE_TOGETHER if h in handles]
    return tuple(handles + (["together:" + "+".join(h.split(":")[0] for h in together)] if len(together) > 1 else []))


def apply(source: str, handle: str, arch: str, reserved: frozenset[str]) -> str:
    """Apply a change and return the text; SourceError when the change does not apply to it."""
    if not _HANDLE.fullmatch(handle):
        raise SourceError(f"{handle!r} is no change this author knows")
    name, variant = handle.split(":")
    if name == "together":
        for part in SAFE_TOGETHER:
            if part.split(":")[0] in variant.split("+"):
                source = apply(source, part, arch, reserved)
        return source
    file = read(plain(source))
    if name not in BY_NAME or variant not in BY_NAME[name].variants(file, arch, reserved):
        raise SourceError(f"the change {handle} does not apply to this kernel")
    return BY_NAME[name].apply(file, variant)
