"""One session of a coding agent: its calls and files are taken to the bench, until it ends or its budget is used.

The bench is for one thread, so that what the program's server and its folder bring is judged one after the other here.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.author import Assignment, Draft, Specimen
from agents.bench import Bench, BenchRefusal
from agents.coding_agent.agent_folder import AgentFolder
from agents.coding_agent.host import AgentHost, Desk, RunningProgram, ToolAnswer, ToolCallAsked
from agents.scientist.bench_tools import BenchTools
from agents.scientist.observations import bounded, checked_text
from agents.scientist.react import most_turns
from agents.scientist.toolbox import CHECK, SUBMIT, TOOLS, ToolRequest
from records.errors import MalformedReply
from records.experiment import Experiment
from records.literature import Quotation
from records.quantity import counted

LOOK_S = 0.2  # between two looks at the folder
NOTED_S = 5.0  # between two notes of the time used
GRACE_S = 60.0  # to end by itself, once nothing more is judged
FILE = "file"  # the tool of a candidate that was put into the folder
SHOWN_TOOLS = (
    replace(CHECK, description=f"{CHECK.description} The kernel is the whole file as `source`, or `changes` of one."),
    *(tool for tool in TOOLS if tool not in (CHECK, SUBMIT)),
    replace(SUBMIT, description="Submit a kernel: it is checked if it was not, and the report is kept. Then end."),
)


@dataclass(frozen=True)
class SessionLimits:
    """The budget of one session."""

    minutes: float = 30.0
    turns: int = 0  # calls of tools; 0: three for each try, and four

    def turns_for(self, tries: int) -> int:
        """Return the calls of tools that a session with so many tries may make."""
        return self.turns or most_turns(tries)


class WorkSession:
    """A program at work on one experiment."""

    def __init__(
        self,
        host: AgentHost,
        limits: SessionLimits,
        work: Assignment,
        experiment: Experiment,
        base: Specimen,
        reference: Specimen | None,
        bench: Bench,
    ) -> None:
        """Nothing is started yet; what an earlier process of the run has judged is taken up."""
        self._host, self._limits, self._work, self._bench = host, limits, work, bench
        self._experiment, self._base, self._reference = experiment, base, reference
        self._tools, self._folder = (
            BenchTools(bench, work.task, work.classifies),
            AgentFolder(host.files, host.judged()),
        )
        for checked in bench.resumed():
            self._folder.note(checked, "")
        self._seconds, self._turns = host.used(experiment.id)
        self._most_turns = limits.turns_for(bench.tries_left + len(bench.tries))
        self._report = Draft("")

    def work(self, literature: Sequence[Quotation] = ()) -> Draft:
        """Let the program work to its end; its report. MalformedReply where it checked no kernel."""
        left_s = min(60 * self._limits.minutes - self._seconds, self._host.seconds_left())
        if left_s <= 0 or not self._bench.tries_left or self._turns >= self._most_turns:
            return self._ended("its time was used before it was stopped")
        values = {
            "tries": self._bench.tries_left,
            "turns": self._most_turns - self._turns,
            "minutes": f"{left_s / 60:.3g}",
            "literature": list(literature),
            "done": [self._line(name) for name in self._bench.names],
        }
        prompt = self._folder.lay_out(self._work, self._experiment, self._base, self._reference, **values)
        desk = Desk(SHOWN_TOOLS, self._texts(prompt))
        began = time.monotonic()
        try:
            with self._host.working(prompt, desk, left_s) as program:
                self._serve(program, desk, began)
        finally:
            desk.close()
            self._host.note_used(self._experiment.id, self._seconds + time.monotonic() - began, self._turns)
        self._take_files(is_over=True)
        return self._ended(program.ending)

    def _serve(self, program: RunningProgram, desk: Desk, began: float) -> None:
        noted, over_since = began, 0.0
        while not program.has_ended:
            self._host.check()
            now = time.monotonic()
            if now >= noted + NOTED_S:
                noted = now
                self._host.note_used(self._experiment.id, self._seconds + now - began, self._turns)
            if not self._is_over:
                over_since = now
            elif now > over_since + GRACE_S:
                return
            call = desk.next(LOOK_S)
            if call is not None:
                self._answer(call)
            self._take_files()

    @property
    def _is_over(self) -> bool:
        """True where nothing more is judged."""
        return self._turns >= self._most_turns or not self._bench.tries_left

    def _answer(self, call: ToolCallAsked) -> None:
        """Do one call; the caller is not kept waiting where the run ends in it."""
        try:
            answer = self._answered(call)
        except BaseException:
            call.answer.set_result(ToolAnswer("Not done: the run was stopped or met a limit.", is_refused=True))
            raise
        call.answer.set_result(answer)

    def _answered(self, call: ToolCallAsked) -> ToolAnswer:
        if self._turns >= self._most_turns:
            many = counted(self._most_turns, "turn")
            return ToolAnswer(f"Not done: the budget of {many} is used. End your session now.", is_refused=True)
        self._turns += 1
        before = self._bench.tries_left
        answer = self._tools.use(ToolRequest(call.tool, call.arguments))
        if answer.draft is not None:
            self._report = answer.draft
        if self._bench.tries_left < before and self._tools.latest is not None:
            self._folder.note(self._tools.latest, str(call.arguments.get("why", ""))[:160])
        left = self._most_turns - self._turns
        return ToolAnswer(f"{answer.text}\n\n({counted(left, 'turn')} left)", is_refused=not answer.is_useful)

    def _take_files(self, is_over: bool = False) -> None:
        """Judge the candidates that the program has put into its folder."""
        for candidate in self._folder.submitted(is_over):
            change = f"from {candidate.name[:60]}"
            try:
                checked = self._bench.check(candidate.source, FILE, change)
            except BenchRefusal as error:
                self._folder.tell(candidate.name, f"Not judged: {error}.")
                continue
            self._host.note_judged(candidate.digest)
            parent, left = self._bench.parent, self._bench.tries_left
            text = checked_text(checked, parent, self._work.task, left, self._work.classifies)
            self._folder.tell(candidate.name, bounded(CHECK.name, text))
            self._folder.note(checked, change)

    def _ended(self, ending: str) -> Draft:
        if not self._bench.tries:
            raise MalformedReply(f"the program {self._host.program} submitted no kernel: {ending}")
        return self._report

    def _line(self, name: str) -> str:
        kernel = self._bench.named(name)
        time_us = kernel.evaluation.geomean_us
        return f"`{name}`: {time_us:.4g} us" if time_us and kernel.is_verified else f"`{name}`: refused"

    def _texts(self, prompt: str) -> dict[str, str]:
        """Return what a client may read beside its tools."""
        texts = {"task": prompt, "hardware": self._work.target_brief, "base": self._base.source}
        return {name: text for name, text in texts.items() if text}
