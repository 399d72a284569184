"""The playbook's changes as the graph's search takes them: those that apply to a text, and a text with one applied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agents.author import Assignment
from agents.playbook import moves
from agents.playbook.moves import BY_NAME, SAFE_TOGETHER
from agents.playbook.refusals import refusals
from agents.source import SourceError, read
from records.evaluation import Evaluation
from tasks.task import Task

HELP = 60.0  # of a change that relieves what binds; one that does not gains little, however good it is elsewhere
_SHARED = (
    "block_rows",
    "wave_rows",
    "wide_lanes",
    "fused_tiles",
    "matrix_tiles",
    "loop_tile",
    "tile_in_lds",
    "privatise",
)  # fewer accesses, or wider ones
NEEDS: Mapping[str, tuple[str, ...]] = {  # what relieves a binding resource, by a part of its name
    "hbm": (*_SHARED, "items", "prefetch", "unroll", "restrict", "swap_threads", "nontemporal"),
    "l1": (*_SHARED, "register_tile", "swap_threads", "unroll"),
    "lds": ("lds_padding", "swap_threads", "fused_tiles", "matrix_tiles"),
    "valu": ("fast_math", "items", "fused_tiles", "matrix_tiles"),
    "latency": (*_SHARED, "split_sum", "prefetch", "register_tile", "block_size", "unroll"),
    "launch": ("block_size", "items", "grid_stride"),
    "l2": (*_SHARED, "xcd_order", "swap_grid"),
    "mall": (*_SHARED, "xcd_order", "swap_grid"),
    "mfma": ("launch_bounds",),
    "atomics": ("privatise", "split_sum"),
}
AT_ONCE = frozenset({"restrict", "launch_bounds", "unroll", "block_size", "lds_padding", "fast_math"})  # lose little


class Changes:
    """The book for one task and architecture. It knows nothing of kernels but their text."""

    def __init__(self, work: Assignment) -> None:
        """Names that a new tunable must not have come from the task."""
        self._arch, self._reserved = work.arch, reserved_names(work.task)

    def offers(self, source: str) -> tuple[str, ...]:
        """List handles `move:variant` of all that applies, one change each; none for a text that cannot be read."""
        try:
            handles = moves.offers(read(source), self._arch, self._reserved)
        except SourceError:
            return ()
        return tuple(handle for handle in handles if not handle.startswith("together:"))

    def together(self, handles: Sequence[str]) -> tuple[str, ...]:
        """Those that lose nothing as a rule, one variant of each move: `unroll:4` where there is a choice."""
        chosen = dict[str, str]()
        for handle in handles:
            name = handle.split(":")[0]
            if name in AT_ONCE and (name not in chosen or handle in SAFE_TOGETHER):
                chosen[name] = handle
        return tuple(chosen.values())

    def title(self, handle: str) -> str:
        """Name a change in words; the handle itself where the book has none of its name."""
        name = handle.split(":")[0]
        return BY_NAME[name].title if name in BY_NAME else handle

    def promise(self, handle: str, evaluation: Evaluation) -> float:
        """Its usual gain, and more where it relieves what binds the kernel or keeps registers from spilling."""
        return promise(handle.split(":")[0], evaluation)

    def refusals(self, source: str) -> tuple[str, ...]:
        """List the changes that were not offered for each kernel of a text, with a reason each."""
        try:
            return refusals(source, self.offers(source))
        except SourceError as error:
            return (f"no change applies: {error}",)

    def apply(self, source: str, handle: str) -> str:
        """Apply a change and return the text; the text itself where the change does not apply."""
        try:
            return moves.apply(source, handle, self._arch, self._reserved)
        except SourceError:
            return source


def reserved_names(task: Task) -> frozenset[str]:
    """Names a new tunable must not have."""
    dims = {d for case in (*task.tests, *task.benchmarks) for d in case.dims}
    return frozenset({t.name for t in (*task.inputs, *task.outputs)} | {s.name for s in task.scalars} | dims)


def promise(move: str, evaluation: Evaluation) -> float:
    """Promise of a move on this kernel, in percent."""
    low, high = BY_NAME[move].gain_pct if move in BY_NAME else (2.0, 30.0)
    bounds = " ".join(m.bound.lower() for m in evaluation.measurements)
    helps = any(key in bounds and move in names for key, names in NEEDS.items())
    spills = any(r.scratch_bytes for r in evaluation.resources) and move == "launch_bounds"
    return (low + high) / 2 + (HELP if helps else 0.0) + (40.0 if spills else 0.0)
