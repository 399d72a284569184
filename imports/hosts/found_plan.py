"""The launch plan of a file's host half: built against the recording runtime, executed at several sizes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from imports.hosts.host_compiler import HostCompiler, HostFailure, HostProgram, Recorded
from imports.hosts.host_plan import HostPlan
from imports.hosts.host_text import device_words, in_hip, named_numbers, with_values, without_bodies
from imports.hosts.kernel_names import kernel_names, struct_fields, symbol_types
from imports.hosts.launcher import UNSAID, Launcher, driver, launchers, tops
from imports.hosts.local_headers import data_files, other_sources, run_arguments, with_headers
from imports.hosts.memory import HostUnclear
from imports.hosts.plan_maker import PlanMaker
from imports.hosts.record import Event, HostTrace, read_record
from imports.hosts.size_runs import SizedRun, SizeName, SizeSearch, sized_run
from imports.names import free_name
from records import scratch_folder
from sandbox.process import last_words
from tasks.expressions import names_in

MAIN = "host.hip"
MOST_HEADERS, MOST_REBUILT = 8, 4
REPEATED = re.compile(r"rep|iter|loop|time|run|warm|trial|step", re.I)
LIBRARIES = re.compile(
    r"\b((?:cublas|cufft|curand|cusparse|cusolver|cudnn|nccl|hipblas|hipfft|hiprand|hipsparse|rocblas|"
    r"rocrand|thrust|cub|npp|nvtx|mpi|cutlass|cg)\w*)",
    re.I,
)


@dataclass(frozen=True)
class HostSource:
    """A file with its headers in it, and where it lies."""

    text: str
    path: Path


@dataclass(frozen=True)
class HostWishes:
    """All that somebody says of a host half."""

    entry: str = ""  # a launcher, or a kernel whose launches alone count
    sizes: Mapping[str, int] | None = None
    outputs: Sequence[str] = ()
    arguments: tuple[str, ...] | None = None  # of the command line


class HostExecution:
    """One host half while its plan is looked for."""

    def __init__(self, source: HostSource, wishes: HostWishes, compiler: HostCompiler, folder: Path) -> None:
        """Take a folder for what is built."""
        self.source, self.wishes, self._compiler, self._folder = source, wishes, compiler, folder
        self.text = re.sub(r'\bextern\s+"C"\s+(?=[\w\s()]*__global__)|(?<=__global__)\s+extern\s+"C"', " ", source.text)
        self.text = in_hip(self.text)
        self.plain = without_bodies(self.text)
        self.words = device_words(self.text)
        self.names = [n for n in named_numbers(self.plain) if n.value > 1]
        self._dropped = list[str]()
        self._driver = ""
        self._launcher: Launcher | None = None
        self.arguments: list[str] = []
        self._kernels: Mapping[str, str] = {}

    def plan(self) -> HostPlan:
        """Find the plan; HostUnclear says why there is none."""
        if "__global__" not in self.text:
            raise HostUnclear("it has no kernel (__global__ function)")
        self._entry()
        program, live = self._built()
        base = self._first_run(program, live)
        return self._planned(program, live, base)

    def _entry(self) -> None:
        """Choose what is executed: `main`, or a function without one that calls it, which gets a `main`."""
        entry, functions = self.wishes.entry, launchers(self.text)
        if "main" in self._functions and entry not in functions:
            if entry and not self._is_kernel(entry):
                raise HostUnclear(f"it has no function or kernel {entry}; it has {', '.join(functions) or 'none'}")
            return
        if entry and entry not in functions and not self._is_kernel(entry):
            raise HostUnclear(f"it has no function or kernel {entry}; it has {', '.join(functions) or 'none'}")
        names = [entry] if entry in functions else tops(functions)
        if not names:
            raise HostUnclear("no function of it launches a kernel, so put a launch plan in front of it by hand")
        if len(names) > 1:
            raise HostUnclear(f"{', '.join(names)} launch kernels: name one with FILE:FUNCTION")
        self._launcher = functions[names[0]]
        self._driver = driver(self._launcher, self.wishes.sizes or {}, len(self.names))
        self.plain = re.sub(r"\bint\s+main\s*\(", "int ks_other_main(", self.plain)

    @property
    def _functions(self) -> set[str]:
        return {"main"} if re.search(r"\bmain\s*\(", self.plain) else set()

    def _is_kernel(self, name: str) -> bool:
        return re.search(rf"__global__[^;{{]*\b{re.escape(name)}\b", self.text) is not None

    # building

    def _built(self) -> tuple[HostProgram, list[int]]:
        """Build with numbers that can change while it runs: as many of them as the compiler takes."""
        every = [i for i, n in enumerate(self.names) if not (n.is_global and n.name in self.words)]
        local = [i for i in every if not self.names[i].is_constant and not self.names[i].is_macro]
        failure: HostFailure | None = None
        for live in dict.fromkeys((tuple(every), tuple(local), ())):
            try:
                return self._build({i: f"(int)ks_size({i}, {self.names[i].value}L)" for i in live}), list(live)
            except HostFailure as error:
                failure = error
        assert failure is not None
        raise HostUnclear(self._reason(failure))

    def _build(self, values: Mapping[int, str]) -> HostProgram:
        units = dict[str, str]()
        for _ in range(MOST_HEADERS):
            text = with_values(self.plain, self.names, values)
            for name in self._dropped:
                text = re.sub(rf'^[ \t]*#[ \t]*include[ \t]*["<]{re.escape(name)}[">][^\n]*', "", text, flags=re.M)
            main = f"#include <hip/hip_runtime.h>\n#line 1\n{text}\n{self._driver}\n"
            try:
                return self._compiler.build({MAIN: main, **units}, self._folder)
            except HostFailure as error:
                if error.missing and error.missing not in self._dropped:
                    self._dropped.append(error.missing)
                elif error.undefined and not units:
                    units = self._others()
                    if not units:
                        raise
                else:
                    raise
        raise HostFailure("it includes too many headers that are not here")

    def _others(self) -> dict[str, str]:
        units = dict[str, str]()
        for path in other_sources(self.source.path):
            text = with_headers(path, _read(path), _read)[0]
            if path.suffix not in (".c", ".cpp", ".cc"):
                text = "#include <hip/hip_runtime.h>\n" + without_bodies(in_hip(text))
            units[path.name] = text
        return units

    def _reason(self, failure: HostFailure) -> str:
        dropped = f"the header {self._dropped[0]} is not here, and " if self._dropped else ""
        if failure.undefined:
            return f"{dropped}it calls {failure.undefined[0]}, which no file beside it defines"
        if match := LIBRARIES.search(str(failure)):
            return f"{dropped}it uses {match[1]}, of a library"
        return f"{dropped}its host half does not compile for this machine: {failure}"

    # running

    def _execute(
        self, program: HostProgram, arguments: Sequence[str], numbers: Mapping[int, int]
    ) -> tuple[HostTrace, Recorded]:
        data = data_files(self.source.path, arguments) if self.source.path.is_file() else []
        recorded = self._compiler.run(program, arguments, numbers, data)
        return read_record(recorded.lines, program.kernels), recorded

    def _first_run(self, program: HostProgram, live: Sequence[int]) -> SizedRun:
        """Run with the arguments of the user, of the Makefile, none, or guessed ones, until a kernel is launched."""
        last: Recorded | None = None
        for arguments in self._argument_lists():
            numbers = self._given_numbers(live)
            trace, last = self._execute(program, arguments, numbers)
            self._kernels = trace.kernels
            if trace.trouble:
                raise HostUnclear(trace.trouble)
            if any(map(self._is_kept, trace.launches)):
                self.arguments = list(arguments)
                return self._sized({}, trace)
        assert last is not None
        completed = last.completed
        if completed.timed_out:
            raise HostUnclear("it launches no kernel before the time limit")
        if completed.end == "memory":
            raise HostUnclear("it takes more memory than a host half may before it launches a kernel")
        words = last_words(completed.stderr or completed.stdout, 160)
        raise HostUnclear(f"it ends before it launches a kernel{f': {words}' if words else ''}")

    def _argument_lists(self) -> list[list[str]]:
        if self.wishes.arguments is not None:
            return [list(self.wishes.arguments)]
        rows = [*run_arguments(self.source.path), []] if self.source.path.is_file() else [[]]
        places = [int(n) for n in re.findall(r"\bargv\s*\[\s*(\d)\s*\]", self.plain)]
        most = max(places, default=0)
        if most:
            names = self._argument_names(most)
            rows.append(["2" if REPEATED.search(n) else "1024" for n in names])
            rows.append(["2" if REPEATED.search(n) else "64" for n in names])
        return [list(r) for r in dict.fromkeys(tuple(r) for r in rows)]

    def _argument_names(self, count: int) -> list[str]:
        names = list[str]()
        for place in range(1, count + 1):
            match = re.search(rf"\b([A-Za-z_]\w*)\s*=\s*[^;=]*\bargv\s*\[\s*{place}\s*\]", self.plain)
            names.append(match[1] if match else f"n{place}")
        return names

    def _given_numbers(self, live: Sequence[int]) -> dict[int, int]:
        sizes = self.wishes.sizes or {}
        return {i: sizes[self.names[i].name] for i in live if self.names[i].name in sizes}

    def _is_kept(self, event: Event) -> bool:
        entry = self.wishes.entry
        is_other = self._launcher is not None and entry == self._launcher.name
        if event.kind != "launch" or not entry or is_other or not self._is_kernel(entry):
            return True
        return re.search(rf"\b{entry}\b", self._kernels.get(event.kernel, event.kernel)) is not None

    def _sized(self, dims: Mapping[str, int], trace: HostTrace) -> SizedRun:
        return sized_run(dims, trace, self._is_kept)

    # sizes

    def _candidates(self, live: Sequence[int]) -> list[SizeName]:
        sizes, taken = list[SizeName](), set[str]()
        names = self._argument_names(len(self.arguments))
        for place, (word, name) in enumerate(zip(self.arguments, names, strict=True)):
            if re.fullmatch(r"\d{1,10}", word) and int(word) > 1:
                sizes.append(SizeName(("argument", place), free_name(name, taken), int(word)))
                taken.add(sizes[-1].name)
        given = self._given_numbers(live)
        if self._launcher is not None:
            wanted = self.wishes.sizes or {}
            places = enumerate(self._launcher.sizes, len(self.names))
            return [SizeName(("number", i), n, wanted.get(n, UNSAID)) for i, n in places]
        for index in live:
            number = self.names[index]
            value = given.get(index, number.value)
            if value > 1:
                sizes.append(SizeName(("number", index), free_name(number.name, taken), value))
                taken.add(sizes[-1].name)
        return sizes

    def _planned(self, program: HostProgram, live: Sequence[int], base: SizedRun) -> HostPlan:
        candidates = self._candidates(live)
        search = SizeSearch(partial(self._at, program, live, candidates), base)
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
            rest = [s for s in sizes if s is not size]
            runs = [replace(base, dims={s.name: s.value for s in rest})]
            for values, run in search.runs:
                if set(values) <= {s.key for s in rest}:
                    runs.append(replace(run, dims={s.name: values.get(s.key, s.value) for s in rest}))
            try:
                self._made(runs, search)
            except HostUnclear:
                continue
            return size
        return sizes[-1]

    def _made(self, runs: Sequence[SizedRun], search: SizeSearch) -> HostPlan:
        used = {e.kernel for e in runs[0].trace.launches}
        kernels = kernel_names({s: n for s, n in runs[0].trace.kernels.items() if s in used}, self.text)
        maker = PlanMaker(runs, kernels, symbol_types(self.text), partial(struct_fields, self.text))
        plan = maker.plan(
            self.wishes.outputs, {n: m for n, m in search.multiples.items() if n in runs[0].dims and m > 1}
        )
        decisions = [f"the command line {' '.join(self.arguments)}"] if self.arguments else []
        sizeless = (
            tuple(n for n in self._launcher.sizes if n not in (self.wishes.sizes or {})) if self._launcher else ()
        )
        return replace(plan, decisions=(*plan.decisions, *decisions), sizeless=sizeless)

    def _at(
        self,
        program: HostProgram,
        live: Sequence[int],
        candidates: Sequence[SizeName],
        values: Mapping[tuple[str, int], int],
    ) -> SizedRun | None:
        arguments, numbers = list(self.arguments), self._given_numbers(live)
        for (kind, place), value in values.items():
            if kind == "argument":
                arguments[place] = str(value)
            else:
                numbers[place] = value
        trace, recorded = self._execute(program, arguments, numbers)
        if trace.trouble or (recorded.completed.returncode != 0 and not recorded.completed.timed_out):
            return None
        return self._sized({}, trace)

    def _rebuilt(self, live: Sequence[int], base: SizedRun) -> tuple[SizeSearch, list[SizeName]]:
        """Look for sizes among the constants that no running program can change, each by another build."""
        blocks = {n for e in base.trace.launches for n in e.block}
        rest = [i for i, n in enumerate(self.names) if i not in live and not (n.is_global and n.name in self.words)]
        rest = [i for i in rest if self.names[i].value not in blocks and self.names[i].value >= 16][:MOST_REBUILT]
        candidates = [SizeName(("number", i), self.names[i].name, self.names[i].value) for i in rest]

        def execute(values: Mapping[tuple[str, int], int]) -> SizedRun | None:
            try:
                program = self._build({i: str(v) for (_, i), v in values.items()})
            except HostFailure:
                return None
            return self._at(program, (), candidates, {})

        search = SizeSearch(execute, base)
        return search, search.sizes(candidates)


def found_plan(source: HostSource, compiler: HostCompiler, wishes: HostWishes, place: Path) -> HostPlan:
    """Find the plan of a file's host half; HostUnclear where there is none. `place` is for what is built meanwhile."""
    folder = scratch_folder.make_in(place)
    try:
        return HostExecution(source, wishes, compiler, folder).plan()
    finally:
        scratch_folder.remove(folder)


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")
