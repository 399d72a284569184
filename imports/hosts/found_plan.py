"""The launch plan of a file's host half: built against the recording runtime, executed at several sizes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from imports.hosts.host_build import HostBuild, HostSource, HostWishes
from imports.hosts.host_compiler import HostCompiler, HostFailure, HostProgram, Recorded
from imports.hosts.host_launcher import UNSAID
from imports.hosts.host_plan import HostPlan
from imports.hosts.local_headers import data_files, run_arguments
from imports.hosts.memory import HostUnclear
from imports.hosts.plan_maker import PlanMaker
from imports.hosts.record import HostCall, HostTrace, read_record
from imports.hosts.size_runs import SizedRun, SizeName, SizeSearch, sized_run
from imports.hosts.stub_names import kernel_names, struct_fields, symbol_types
from imports.names import free_name
from records import scratch_folder
from sandbox.process import last_words
from tasks.expressions import names_in

MOST_REBUILT, MOST_LOWERED = 4, 2
QUICK_S, MOST_S, LARGE = 1.0, 30.0, 1024  # processor time of a quick run, of all; the least size that is lowered
REPEATED = re.compile(r"rep|iter|loop|time|run|warm|trial|step", re.I)


__all__ = ["HostSource", "HostWishes", "found_plan"]


class HostExecution:
    """One host half while its plan is looked for."""

    def __init__(self, source: HostSource, wishes: HostWishes, compiler: HostCompiler, folder: Path) -> None:
        """Take a folder for what is built."""
        self.source, self.wishes, self._compiler = source, wishes, compiler
        self._half = HostBuild(source, wishes, compiler, folder)
        self.arguments: list[str] = []
        self._kernels: Mapping[str, str] = {}
        self._live: list[int] = []
        self._spent_s = 0.0  # by all runs
        self._seconds = 0.0  # of processor time that the last run took
        self._lowered: dict[tuple[str, int], int] = {}  # sizes of the file that take too long here

    def plan(self) -> HostPlan:
        """Find the plan; HostUnclear says why there is none."""
        program, live = self._half.built()
        self._live = live
        base = self._quick(program, live, self._first_run(program, live))
        return self._planned(program, live, base)

    # running

    def _execute(
        self, program: HostProgram, arguments: Sequence[str], numbers: Mapping[int, int]
    ) -> tuple[HostTrace, Recorded]:
        data = data_files(self.source.path, arguments) if self.source.path.is_file() else {}
        names = {str(p.resolve()): name for name, p in reversed(data.items())}
        folder = self.source.path.resolve().parent
        words = [names.get(str((folder / a).resolve()), a) for a in arguments]
        recorded = self._compiler.run(program, words, numbers, data, is_first=not self._kernels)
        self._seconds = recorded.completed.cpu_s
        self._spent_s += self._seconds
        return read_record(recorded.lines, program.kernels), recorded

    def _first_run(self, program: HostProgram, live: Sequence[int]) -> SizedRun:
        """Run with the arguments of the user, of the Makefile, none, or guessed ones, until a kernel is launched."""
        last: Recorded | None = None
        for arguments in self._argument_lists():
            numbers = self._given_numbers(live)
            trace, last = self._execute(program, arguments, numbers)
            self._kernels = trace.kernels
            self._spent_s = 0.0  # the first one does not count
            if trace.trouble:
                raise HostUnclear(trace.trouble)
            if any(map(self._is_kept, trace.launches)):
                self.arguments = list(arguments)
                return self._sized({}, trace)
            if last.completed.timed_out or last.completed.end == "memory":
                lowered = self._lowered_run(program, live, arguments)
                if lowered is not None:
                    return lowered
        assert last is not None
        completed = last.completed
        if completed.timed_out:
            raise HostUnclear("it launches no kernel before the time limit")
        if completed.end == "memory":
            raise HostUnclear("it takes more memory than a host half may before it launches a kernel")
        if completed.returncode < 0:
            raise HostUnclear("its host half crashes before it launches a kernel")
        words = last_words(completed.stderr or completed.stdout, 160)
        raise HostUnclear(f"it ends before it launches a kernel{f': {words}' if words else ''}")

    def _lowered_run(self, program: HostProgram, live: Sequence[int], arguments: Sequence[str]) -> SizedRun | None:
        """Run with a sixteenth of the largest sizes, where the file's own are too much for this machine."""
        self.arguments = list(arguments)
        for size in sorted(self._candidates(live), key=lambda c: -c.value)[:MOST_LOWERED]:
            if size.value < LARGE:
                break
            self._lowered[size.key] = size.value // LARGE * 64
            run = self._at(program, live, {})
            if run is not None and run.trace.launches:
                return run
        self._lowered.clear()
        return None

    def _quick(self, program: HostProgram, live: Sequence[int], base: SizedRun) -> SizedRun:
        """Take smaller sizes where the file's own take long: expressions hold for all, and more runs follow."""
        for size in sorted(self._candidates(live), key=lambda c: -c.value):
            if self._seconds <= QUICK_S or size.value < LARGE:
                break
            self._lowered[size.key] = size.value // LARGE * 64
            run = self._at(program, live, {})
            if run is not None and run.trace.launches:
                base = run
            else:
                del self._lowered[size.key]
        return base

    def _argument_lists(self) -> list[list[str]]:
        if self.wishes.arguments is not None:
            return [list(self.wishes.arguments)]
        rows = [*run_arguments(self.source.path), []] if self.source.path.is_file() else [[]]
        positions = [int(n) for n in re.findall(r"\bargv\s*\[\s*(\d)\s*\]", self._half.plain)]
        most = max(positions, default=0)
        if most:
            names = self._argument_names(most)
            rows.append(["2" if REPEATED.search(n) else "1024" for n in names])
            rows.append(["2" if REPEATED.search(n) else "64" for n in names])
        return [list(r) for r in dict.fromkeys(tuple(r) for r in rows)]

    def _argument_names(self, count: int) -> list[str]:
        names = list[str]()
        for position in range(1, count + 1):
            match = re.search(rf"\b([A-Za-z_]\w*)\s*=\s*[^;=]*\bargv\s*\[\s*{position}\s*\]", self._half.plain)
            names.append(match[1] if match else f"n{position}")
        return names

    def _given_numbers(self, live: Sequence[int]) -> dict[int, int]:
        sizes = self.wishes.sizes or {}
        return {i: sizes[self._half.names[i].name] for i in live if self._half.names[i].name in sizes}

    def _is_kept(self, event: HostCall) -> bool:
        entry = self.wishes.entry
        is_other = self._half.launcher is not None and entry == self._half.launcher.name
        if event.kind != "launch" or not entry or is_other or not self._half.is_kernel(entry):
            return True
        return re.search(rf"\b{entry}\b", self._kernels.get(event.kernel, event.kernel)) is not None

    def _sized(self, dims: Mapping[str, int], trace: HostTrace) -> SizedRun:
        return sized_run(dims, trace, self._is_kept)

    # sizes

    def _candidates(self, live: Sequence[int]) -> list[SizeName]:
        sizes, used_names = list[SizeName](), set[str]()
        names = self._argument_names(len(self.arguments))
        for position, (word, name) in enumerate(zip(self.arguments, names, strict=True)):
            if re.fullmatch(r"\d{1,10}", word) and int(word) > 1:
                sizes.append(SizeName(("argument", position), free_name(name, used_names), int(word)))
                used_names.add(sizes[-1].name)
        stated = self._given_numbers(live)
        if self._half.launcher is not None:
            asked_sizes = self.wishes.sizes or {}
            positions = enumerate(self._half.launcher.sizes, len(self._half.names))
            return [SizeName(("number", i), n, asked_sizes.get(n, UNSAID)) for i, n in positions]
        for index in live:
            number = self._half.names[index]
            value = stated.get(index, number.value)
            if value > 1:
                sizes.append(SizeName(("number", index), free_name(number.name, used_names), value))
                used_names.add(sizes[-1].name)
        return sizes

    def _planned(self, program: HostProgram, live: Sequence[int], base: SizedRun) -> HostPlan:
        candidates = [replace(c, value=self._lowered.get(c.key, c.value)) for c in self._candidates(live)]
        search = SizeSearch(partial(self._at, program, live), base)
        sizes = search.sizes(candidates)
        if not sizes:
            search, sizes = self._rebuilt(live, base)
        search.joint(sizes)
        while True:
            runs = [replace(base, dims={s.name: s.value for s in sizes})]
            for values, run in search.runs:
                if set(values) <= {s.key for s in sizes}:
                    runs.append(replace(run, dims={s.name: values.get(s.key, s.value) for s in sizes}))
            try:
                plan = self._made(runs, search)
            except HostUnclear:
                if not sizes:
                    raise
                failed = self._frozen(sizes, search, base)
                sizes = [s for s in sizes if s is not failed]
                continue
            in_blocks = {n for s in plan.steps for t in s.block for n in names_in(t)}
            if in_blocks.isdisjoint(s.name for s in sizes):
                return plan
            sizes = [s for s in sizes if s.name not in in_blocks]

    def _frozen(self, sizes: Sequence[SizeName], search: SizeSearch, base: SizedRun) -> SizeName:
        """Choose the size without which the others fit, or the last."""
        for size in reversed(sizes):
            tail = [s for s in sizes if s is not size]
            runs = [replace(base, dims={s.name: s.value for s in tail})]
            for values, run in search.runs:
                if set(values) <= {s.key for s in tail}:
                    runs.append(replace(run, dims={s.name: values.get(s.key, s.value) for s in tail}))
            try:
                self._made(runs, search)
            except HostUnclear:
                continue
            return size
        return sizes[-1]

    def _made(self, runs: Sequence[SizedRun], search: SizeSearch) -> HostPlan:
        used = {e.kernel for e in runs[0].trace.launches}
        symbols = {s: n for s, n in runs[0].trace.kernels.items() if s in used}
        counts = {e.kernel: len(e.arguments) for e in runs[0].trace.launches}
        kernels = kernel_names(symbols, counts, self._half.text)
        maker = PlanMaker(runs, kernels, symbol_types(self._half.text), partial(struct_fields, self._half.text))
        plan = maker.plan(
            self.wishes.outputs, {n: m for n, m in search.multiples.items() if n in runs[0].dims and m > 1}
        )
        decisions = [f"the command line {' '.join(self.arguments)}"] if self.arguments else []
        sizeless = (
            tuple(n for n in self._half.launcher.sizes if n not in (self.wishes.sizes or {}))
            if self._half.launcher
            else ()
        )
        files = {c.name: c.value for c in self._candidates(self._live) if c.key in self._lowered}
        dims = {n: files.get(n, v) for n, v in plan.dims.items()}
        integers = {n: files.get(n, v) for n, v in plan.integers.items()}
        notes = (*plan.decisions, *decisions)
        return replace(plan, dims=dims, integers=integers, decisions=notes, sizeless=sizeless)

    def _at(self, program: HostProgram, live: Sequence[int], values: Mapping[tuple[str, int], int]) -> SizedRun | None:
        if self._spent_s > MOST_S:
            return None
        arguments, numbers = list(self.arguments), self._given_numbers(live)
        for (kind, position), value in {**self._lowered, **values}.items():
            if kind == "argument":
                arguments[position] = str(value)
            else:
                numbers[position] = value
        trace, _ = self._execute(program, arguments, numbers)
        # Its end says nothing: many compare results, which no kernel has computed here, and give up.
        return None if trace.trouble else self._sized({}, trace)

    def _rebuilt(self, live: Sequence[int], base: SizedRun) -> tuple[SizeSearch, list[SizeName]]:
        """Look for sizes among the constants that no running program can change, each by another build."""
        blocks = {n for e in base.trace.launches for n in e.block}
        tail = [i for i in self._half.free() if i not in live]
        tail = [i for i in tail if self._half.names[i].value not in blocks and self._half.names[i].value >= 16][
            :MOST_REBUILT
        ]
        candidates = [SizeName(("number", i), self._half.names[i].name, self._half.names[i].value) for i in tail]

        def execute(values: Mapping[tuple[str, int], int]) -> SizedRun | None:
            try:
                program = self._half.build({i: str(v) for (_, i), v in values.items()})
            except HostFailure:
                return None
            return self._at(program, (), {})

        search = SizeSearch(execute, base)
        return search, search.sizes(candidates)


def found_plan(source: HostSource, compiler: HostCompiler, wishes: HostWishes, work: Path) -> HostPlan:
    """Find the plan of a file's host half, built in a new folder of `work`; HostUnclear where there is none."""
    folder = scratch_folder.make_in(work)
    try:
        return HostExecution(source, wishes, compiler, folder).plan()
    finally:
        scratch_folder.remove(folder)
