"""Rules on an instruction as a whole: op_sel and its like, DPP, SDWA, old results as sources, forms of addresses."""

from __future__ import annotations

from sandbox.machine.image_layout import ABSENT, EXEC, OPERAND, Flag, Modifier, OperandKind
from sandbox.machine.instruction_draft import NO_SETTINGS, InstructionDraft, modified, narrowed, number
from sandbox.machine.instruction_set import OperandSpec, TableRow
from sandbox.machine.modifiers import Settings
from sandbox.machine.unreadable import UnreadableListing

_EXEC = OPERAND.pack(OperandKind.SCALAR, 2, 0, 0, EXEC, 0)
_LISTS = (
    ("op_sel", Modifier.HIGH),
    ("op_sel_hi", Modifier.HIGH_OF_HIGH),
    ("neg_lo", Modifier.NEGATE),
    ("neg", Modifier.NEGATE),
    ("neg_hi", Modifier.NEGATE_HIGH),
)


_LANES = {"op_sel", "op_sel_hi", "neg_lo", "neg_hi", "omod", "dpp", "row_mask", "bank_mask", "bound_ctrl"}
_LANES |= {"dst_sel", "unused", "src0_sel", "src1_sel"}
_SCOPES = Flag.SC0 | Flag.SC1 | Flag.NON_TEMPORAL
_BUFFERS = Flag.OFFSET_ENABLED | Flag.INDEX_ENABLED | Flag.TO_LDS
_ALLOWED: dict[str, tuple[set[str], int]] = {  # settings and flags by group
    "valu": (_LANES, Flag.CLAMP),
    "trans": (_LANES, Flag.CLAMP),
    "mfma": ({"cbsz", "abid", "blgp", "neg"}, 0),
    "vmem": ({"offset", "format", "dfmt", "nfmt"}, _SCOPES | _BUFFERS),
    "flat": ({"offset"}, _SCOPES),
    "scratch": ({"offset"}, _SCOPES),
    "lds": ({"offset", "offset0", "offset1"}, Flag.GDS),
    "smem": ({"offset"}, Flag.SC0 | Flag.NON_TEMPORAL),
}


def check_allowed(row: TableRow, settings: Settings) -> None:
    """Refuse modifiers that instructions of this group do not have."""
    names, flags = _ALLOWED.get(row.group, (set[str](), 0))
    if wrong := settings.keys() - names - {"flags"}:
        raise UnreadableListing(f"{row.name} has no such modifier", min(wrong))
    if wrong_flags := number(settings, "flags") & ~int(flags):
        raise UnreadableListing(f"{row.name} has no such modifier", str(Flag(wrong_flags).name).lower())
    if "dpp" in settings and not any(spec.is_source for spec in row.operands):
        raise UnreadableListing(f"{row.name} has no such modifier", "dpp")


def apply_modifiers(draft: InstructionDraft, specs: tuple[OperandSpec, ...], suffix: str) -> None:
    """Settle what the operands alone do not say; `specs` are those that the text has."""
    row, settings = draft.row, draft.settings
    if row.is_packed and "op_sel_hi" not in settings:
        for spec in specs:
            if spec.is_source and spec.type.is_packed:
                draft.modify_source(spec.index, Modifier.HIGH_OF_HIGH)
    if row.tied:
        _tie(draft)
    if settings is not NO_SETTINGS:
        check_allowed(row, settings)
        _apply_lists(draft, specs)
        if "dpp" in settings:
            draft.control = number(settings, "dpp")
            first = next(spec for spec in specs if spec.is_source)
            draft.flags |= Flag.DPP | (Flag.DPP_ON_SECOND if first.index == 1 else 0)
            draft.flags |= Flag.BOUND_CONTROL if "bound_ctrl" in settings else 0
        if suffix == "_sdwa" or "dst_sel" in settings or "src0_sel" in settings or "src1_sel" in settings:
            _apply_sdwa(draft, specs)
    if suffix.endswith("_dpp") and "dpp" not in settings:
        raise UnreadableListing("this instruction has no DPP control", row.name)


def _tie(draft: InstructionDraft) -> None:
    """Set sources that are the old value of a result, and results that are EXEC."""
    row = draft.row
    for left, right in row.tied:
        if right == "exec":
            draft.results[int(left[1:])] = _EXEC
            continue
        draft.sources[int(left[1:])] = draft.results[int(right[1:])]
        if row.is_packed and row.operands[0].type.is_packed:
            draft.modify_source(int(left[1:]), Modifier.HIGH_OF_HIGH)


def _apply_lists(draft: InstructionDraft, specs: tuple[OperandSpec, ...]) -> None:
    """Apply lists of bits in the order of the text's sources; op_sel has the result behind them."""
    settings, row = draft.settings, draft.row
    sources = [spec for spec in specs if spec.is_source]
    for name, modifier in _LISTS:
        if not isinstance(bits := settings.get(name), tuple):
            continue
        if name == "neg_hi" and "fma_mix" in row.name:
            modifier = Modifier.ABSOLUTE
        for spec, bit in zip(sources, bits, strict=False):
            if bit:
                draft.modify_source(spec.index, modifier)
    if not isinstance(bits := settings.get("op_sel"), tuple) or row.is_packed:
        return
    if row.name.startswith("v_cvt_sr_"):
        low, high = (*bits, 0, 0, 0, 0)[2:4]
        draft.settings = {**settings, "dst_sel": 1 + low + 2 * high}
    elif len(bits) > len(sources) and bits[len(sources)]:
        draft.results[0] = modified(draft.results[0], Modifier.HIGH)


def _apply_sdwa(draft: InstructionDraft, specs: tuple[OperandSpec, ...]) -> None:
    settings = draft.settings
    draft.flags |= Flag.SDWA
    if not draft.row.name.startswith("v_cmp"):
        draft.flags |= number(settings, "unused", Flag.PRESERVES_UNUSED)  # LLVM's choice where the text has none
    for spec, name in zip((s for s in specs if s.is_source), ("src0_sel", "src1_sel"), strict=False):
        if select := number(settings, name):
            operand = draft.sources[spec.index]
            draft.sources[spec.index] = operand[:3] + bytes([select]) + operand[4:]


def check_memory(draft: InstructionDraft) -> None:
    """Refuse an address of another width than its form needs; give an atomic that returns its result."""
    row, flags = draft.row, draft.flags
    is_buffer = row.semantics.startswith(("buffer", "tbuffer"))
    width = draft.sources[0][1]
    if is_buffer:
        _check_width(draft, width, bool(flags & Flag.OFFSET_ENABLED) + bool(flags & Flag.INDEX_ENABLED))
    elif row.group == "scratch" and width:
        _check_width(draft, width, 1)
    elif row.group == "vmem":
        _check_width(draft, width, 1 if flags & Flag.HAS_BASE else 2)
    if not row.is_atomic or row.group == "lds":
        return
    returns = bool(flags & Flag.SC0)
    if is_buffer or row.group == "smem":
        if returns:
            draft.results[0] = narrowed(draft.sources[1 if is_buffer else 2], row.memory_bytes // 4)
    elif (draft.results[0] is not ABSENT) != returns:
        raise UnreadableListing("an atomic returns a value if and only if it has sc0", row.name)


def _check_width(draft: InstructionDraft, width: int, expected: int) -> None:
    if width != expected:
        raise UnreadableListing(f"this address has {width} registers instead of {expected}", draft.row.name)
