"""Turns what the executor saw into findings: the kind, the line, and a sentence that says what to change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from records.evaluation import Code, Finding, FindingKind, kind_named
from sandbox.candidate.plan import CONTENTS, COPY, FILL, VALUE
from sandbox.lab import hazards, source_faults, told_rows, wait_states
from sandbox.lab.scene import Scene, candidate_line, who
from sandbox.lab.told_rows import CODE, IMAGE, LDS, NEAR, NULL, OTHER_LDS, OWN, PRIVATE, VECTOR

_RENAMED: Mapping[str, FindingKind] = {
    "trap": "wrong_result",
    "illegal": "over_limit",
    "kept_state": "nondeterministic",
    "shift": "wrong_result",
    "probe": "wrong_result",
}  # the executor's own kinds
_ARRAYS = {
    PRIVATE: "in private memory",
    OWN: "among the file's variables",
    OTHER_LDS: "in LDS, which reaches into another variable",
}

_OF_ONE_WAVE = 1 << 32  # of a barrier: the work-items that are missing are of the wave that waits


def findings(scene: Scene, rows: Sequence[Mapping[str, Any]]) -> tuple[Finding, ...]:
    """One finding for each kind and line, in the order they were seen."""
    by_kind_and_line: dict[tuple[str, int | None], Finding] = {}
    for row in rows:
        finding = _finding(scene, row)
        by_kind_and_line.setdefault((finding.kind, finding.line), finding)
    return tuple(by_kind_and_line.values())


def _finding(scene: Scene, row: Mapping[str, Any]) -> Finding:
    at_probe = None
    if row["kind"] == "probe":
        row, at_probe = told_rows.by_probe(scene.program, row)
    launch = scene.plan.launches[int(row["launch"])]
    if row["kind"] in ("timeout", "deadlock"):
        row = told_rows.of_grid(scene.lines, launch, row)
    kind, line = str(row["kind"]), candidate_line(scene.lines, row["places"])
    line = line or at_probe
    kernel = launch.kernel
    if line is None and kernel.startswith((FILL, COPY, CONTENTS, VALUE)):
        line = launch.line
    if line is None and row["places"]:  # at an instruction of the compiler's own: an empty loop's jump, a stack's probe
        line = scene.lines.line_before(row["places"][0])
    region = int(row["region"])
    buffer = scene.regions[region].buffer.name if 0 <= region < len(scene.regions) else None
    message = KINDS[kind](scene, row)
    if buffer is None and kind in ("race", "undrained_barrier", "uninitialised") and not hazards.is_global(row):
        buffer = _lds_variable(scene, row)[2]
    code: Code | None = "C.2" if kind == "kept_state" else None
    return Finding(_RENAMED.get(kind) or kind_named(kind), message, line, kernel, buffer=buffer, code=code)


def _out_of_bounds(scene: Scene, row: Mapping[str, Any]) -> str:
    verb = "writes" if row["write"] else "reads"
    if row["detail"] in (*_ARRAYS, VECTOR):
        return _outside(row)
    if row["detail"] == LDS:
        location = _lds_place(scene, row)
        return f"{who(row)} {verb} {row['size']} bytes of LDS {location}; check the index against the array"
    if row["detail"] == NULL:
        return f"{who(row)} {verb} through a null pointer (address {row['address']})"
    if row["detail"] == IMAGE:
        return f"{who(row)} {verb} constant memory or code (address {row['address']:#x})"
    if row["detail"] == CODE:
        return f"{who(row)} calls an address that is no function of this file with these types ({row['address']:#x})"
    region = int(row["region"])
    if row["detail"] != NEAR or not 0 <= region < len(scene.regions):
        return (
            f"{who(row)} {verb} at address {row['address']:#x}, which belongs to no buffer; "
            "check the pointer and the index"
        )
    data = scene.regions[region].buffer.data
    name, item = scene.regions[region].buffer.name, data.itemsize
    index = int(row["offset"]) // item
    wide = f" ({row['size']} bytes at once)" if row["size"] > item else ""
    return (
        f"{who(row)} {verb} {name}[{index}]{wide}, but {name} has {data.size} elements; "
        "guard the access or the partial tile"
    )


def _outside(row: Mapping[str, Any]) -> str:
    index, count = (int(v) for v in row["other"])
    index -= 1 << 64 if index >> 63 else 0
    if row["detail"] == VECTOR:
        return f"{who(row)} uses index {index} of a vector that has no such element; check the index"
    if not count:
        return (
            f"{who(row)} leaves the array in private memory that its pointer belongs to; check the index against "
            "the array"
        )
    array = f"an array of {count} elements"
    array_name = f"{row['name']}, {array}" if row.get("name") else f"{array} {_ARRAYS[int(row['detail'])]}"
    return f"{who(row)} uses index {index} of {array_name}; check the index against the array"


def _lds_place(scene: Scene, row: Mapping[str, Any]) -> str:
    offset = int(row["offset"])
    start, size, name = _lds_variable(scene, row)
    if offset + int(row["size"]) > start + size:
        return f"at byte {offset - start} of {name}, which has {size} bytes"
    return f"{start - offset} bytes before {name}"


def _lds_variable(scene: Scene, row: Mapping[str, Any]) -> tuple[int, int, str]:
    """Offset, size and name of the LDS that the access is nearest to."""
    static, dynamic = scene.program.lds_bytes, scene.plan.launches[int(row["launch"])].lds_bytes
    is_dynamic = dynamic and (int(row["offset"]) >= static or not static)
    return (static, dynamic, "the dynamic LDS") if is_dynamic else (0, static, "LDS")


def _hazard(scene: Scene, row: Mapping[str, Any]) -> str:
    region = int(row["region"])
    if row["kind"] == "uninitialised" and row["detail"]:
        return _undefined(scene, row)
    if 0 <= region < len(scene.regions):
        data = scene.regions[region].buffer
        location = f"{data.name}[{int(row['offset']) // data.data.itemsize}]"
    elif hazards.is_global(row):
        location = "a variable of the file"
    else:
        start, _, name = _lds_variable(scene, row)
        location = f"LDS at byte {int(row['offset']) - start} of {name}"
    say = {
        "race": hazards.race,
        "undrained_barrier": hazards.undrained,
        "uninitialised": hazards.uninitialised,
        "wave_mask": hazards.wave_mask,
    }[str(row["kind"])]
    return say(
        {**row, "buffer": 0 <= region < len(scene.regions), "wave": scene.wave},
        who(row),
        location,
        scene.plan.launches[int(row["launch"])],
        lambda counter: scene.lines.line(counter),
    )


def _undefined(scene: Scene, row: Mapping[str, Any]) -> str:
    used = candidate_line(scene.lines, row["places"][1:])
    consequence = f", which decides line {used}" if used else ""
    return f"{who(row)} uses a value that nothing has set{consequence}; set it on every way that leads here"


def _input_written(scene: Scene, row: Mapping[str, Any]) -> str:
    name = scene.regions[int(row["region"])].buffer.name
    return f"{who(row)} writes to the input {name}; inputs must stay as they are, use a workspace"


def _barrier(scene: Scene, row: Mapping[str, Any]) -> str:
    if row["write"]:
        return (
            f"{who(row)} waits for the whole grid, and another workgroup has ended without it; let every workgroup "
            "reach every barrier of the grid"
        )
    if int(row["detail"]) & _OF_ONE_WAVE:
        return (
            f"{who(row)} waits at a barrier that {int(row['detail']) % _OF_ONE_WAVE} work-items of its wave do not "
            "reach with it: they have returned or go another way; a barrier must not stand in divergent code, so let "
            "all of them reach it and guard the work instead"
        )
    if row["detail"]:
        return (
            f"{who(row)} waits at a barrier that {row['detail']} work-items of its workgroup never reach because "
            "they have returned; let all of them reach every barrier and guard the work instead"
        )
    other = candidate_line(scene.lines, row["places"][1:])
    location = f"line {other}" if other else "another place"
    return (
        f"{who(row)} waits at this barrier while others of its wave wait at the one in {location}; "
        "a barrier must not stand in divergent code"
    )


def _collective(scene: Scene, row: Mapping[str, Any]) -> str:
    present = f"{bin(int(row['detail'])).count('1')} of {scene.wave} lanes take part"
    other = candidate_line(scene.lines, row["places"][1:])
    location = f"; others wait in line {other}" if other else ""
    return (
        f"{who(row)} needs lanes that do not reach this wave operation: only {present}{location}; move it out of the "
        "divergent branch, or keep every lane of the wave alive"
    )


def _misaligned(scene: Scene, row: Mapping[str, Any]) -> str:
    verb = "writes" if row["write"] else "reads"
    amount = f"{row['size']} bytes" if row["size"] else "a vector"
    alignment = f"{row['detail']} bytes, " if not row["size"] and row["detail"] else ""
    return (
        f"{who(row)} {verb} {amount} at an address that is not a multiple of {alignment}the type's alignment, which "
        "the compiler relies on; align the index, or read through a type that promises less: typedef float4 loose "
        "__attribute__((aligned(4)))"
    )


def _timeout(scene: Scene, row: Mapping[str, Any]) -> str:
    if row["write"] and row["size"]:
        return (
            f"{who(row)} waits for the whole grid in a launch of which not all workgroups run at once; "
            "say cooperative = true in the launch"
        )
    state = f" while {row['detail']} others wait for it at a barrier or wave operation" if row["detail"] else ""
    return (
        f"{who(row)} was here{state} when {scene.deadline_s:.3g} s had passed; look for a loop that does not end or "
        "far too much work in one workgroup"
    )


def _deadlock(scene: Scene, row: Mapping[str, Any]) -> str:
    return (
        f"{who(row)} stays here for ever: its wave comes back to the same state, and nobody is left who could change "
        "what it looks at; end the loop by what it changes itself, and let no lane wait for another of its wave: they "
        "do not advance apart"
    )


KINDS: Mapping[str, Callable[[Scene, Mapping[str, Any]], str]] = {
    "out_of_bounds": _out_of_bounds,
    "input_written": _input_written,
    "divergent_barrier": _barrier,
    "divergent_collective": _collective,
    "misaligned": _misaligned,
    "stack_overflow": source_faults.of_stack,
    "division_by_zero": source_faults.of_division,
    "timeout": _timeout,
    "trap": source_faults.of_trap,
    "illegal": source_faults.of_illegal,
    "race": _hazard,
    "undrained_barrier": _hazard,
    "uninitialised": _hazard,
    "wave_mask": _hazard,
    "kept_state": source_faults.of_kept_state,
    "shift": source_faults.of_shift,
    "missing_wait": wait_states.of_missing_wait,
    "deadlock": _deadlock,
    "hazard": wait_states.of_hazard,
    "probe": source_faults.of_probe,
}  # of the executor, in its order
