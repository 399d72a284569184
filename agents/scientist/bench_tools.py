"""The tools of the bench as the writer uses them: arguments in, bounded text out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from agents.author import Draft
from agents.bench import Bench, BenchKernel, BenchRefusal, Checked, changed
from agents.scientist.observations import bounded, checked_text, compared_text, found_text, loops_text
from agents.scientist.toolbox import (
    CHECK,
    COMPARE,
    ISA,
    NAMES,
    SEARCH,
    SUBMIT,
    TOOLS,
    BadRequest,
    Change,
    CheckArguments,
    CompareArguments,
    IsaArguments,
    SearchArguments,
    SubmitArguments,
    ToolRequest,
)
from agents.traced import as_tool
from tasks.task import Task

LONGEST_QUERY = 200  # characters
LONGEST_CHANGE = 160  # characters
MOST_CHANGES = 20  # of one kernel in one request


@dataclass(frozen=True)
class Answered:
    """The result of one request; `draft` where it ended the experiment."""

    text: str
    draft: Draft | None = None
    is_useful: bool = False  # a tool was used


class BenchTools:
    """The tools over one bench."""

    def __init__(self, bench: Bench, task: Task, classifies: bool = True) -> None:
        """Nothing is asked yet."""
        self._bench, self._task, self._classifies = bench, task, classifies
        self.latest: Checked | None = None  # the latest try
        self._uses: Mapping[str, Callable[[ToolRequest], Answered]] = {
            CHECK.name: self._check,
            ISA.name: self._isa,
            COMPARE.name: self._compare,
            SEARCH.name: self._search,
            SUBMIT.name: self._submit,
        }

    @property
    def checked(self) -> bool:
        """True once a kernel was checked."""
        return self.latest is not None

    def use(self, request: ToolRequest) -> Answered:
        """Do one request; one that cannot be done is answered with the reason."""
        use = self._uses.get(request.tool)
        if use is None:
            return _refused(f"there is no tool {request.tool[:40]!r}; there are {NAMES}")
        words = next(tool.description for tool in TOOLS if tool.name == request.tool)
        return as_tool(request.tool, words, request.arguments, partial(self._used, request, use), lambda a: a.text)

    @staticmethod
    def _used(request: ToolRequest, use: Callable[[ToolRequest], Answered]) -> Answered:
        try:
            if request.fault:
                raise BadRequest(request.fault)
            answer = use(request)
        except (BadRequest, BenchRefusal) as error:
            return _refused(str(error))
        return Answered(bounded(request.tool, answer.text), answer.draft, is_useful=True)

    def _check(self, request: ToolRequest) -> Answered:
        arguments = request.read(CheckArguments)
        if arguments.source and arguments.changes:
            raise BadRequest("give either the whole source or changes of an earlier kernel")
        if not arguments.source and not arguments.changes:
            raise BadRequest("there is no kernel: give it as source, in a block fenced as ```hip, or as changes")
        source = arguments.source or with_changes(self._kernel(arguments.of), arguments.changes)
        return Answered(self._tried(self._bench.check(source, CHECK.name, _line(arguments.why))))

    def _isa(self, request: ToolRequest) -> Answered:
        kernel = self._kernel(request.read(IsaArguments).of)
        return Answered(loops_text(kernel.name, self._bench.loops(kernel), kernel.source))

    def _compare(self, request: ToolRequest) -> Answered:
        arguments = request.read(CompareArguments)
        kernel = self._kernel(arguments.of)
        if arguments.changes:
            sides = kernel, self._bench.estimate(with_changes(kernel, arguments.changes))
        else:
            sides = self._bench.named(arguments.to or "parent"), kernel
        return Answered(compared_text(*sides, self._task, self._classifies))

    def _search(self, request: ToolRequest) -> Answered:
        query = " ".join(request.read(SearchArguments).query.split())[:LONGEST_QUERY]
        if not query:
            raise BadRequest("the query is empty")
        return Answered(found_text(self._bench.search(query)))

    def _submit(self, request: ToolRequest) -> Answered:
        """End the experiment with the best right kernel; one that was not checked is checked first."""
        arguments, bench = request.read(SubmitArguments), self._bench
        observation = ""
        if arguments.source and (bench.tries_left or bench.best is None):
            observation = self._tried(checked := bench.check(arguments.source, SUBMIT.name))
            if checked.status != "tried":
                return Answered(f"Not submitted, because it is not right.\n\n{observation}")
        best = bench.best
        if best is None:
            raise BadRequest("no kernel is right yet; check one")
        if arguments.of and not arguments.source and not self._bench.named(arguments.of).is_verified:
            raise BadRequest(f"{arguments.of[:40]} is not right; submit {best.kernel.name}, or check another")
        report = [
            tuple(line.strip()[:400] for line in lines[:20]) for lines in (arguments.implemented, arguments.skipped)
        ]
        return Answered("Submitted." + observation, Draft(best.kernel.source, *report))

    def _tried(self, checked: Checked) -> str:
        self.latest = checked
        return checked_text(checked, self._bench.parent, self._task, self._bench.tries_left, self._classifies)

    def _kernel(self, name: str) -> BenchKernel:
        """Find the kernel of that name, the latest try, or the parent where nothing was tried yet."""
        latest = self.latest.kernel.name if self.latest is not None else "parent"
        return self._bench.named(name.strip() or latest)


def _refused(why: str) -> Answered:
    return Answered(bounded("", f"Not done: {why}."))


def _line(text: str) -> str:
    """One short line of what a writer says of its change."""
    return " ".join(text.split())[:LONGEST_CHANGE]


def with_changes(kernel: BenchKernel, changes: Sequence[Change]) -> str:
    """Return the kernel's source with the changes made one after the other."""
    source = kernel.source
    for change in changes[:MOST_CHANGES]:
        source = changed(source, change.old, change.new)
    if source == kernel.source:
        raise BadRequest(f"the changes leave {kernel.name} as it is")
    return source
