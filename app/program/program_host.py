"""The machine around a coding agent's session: its fence, its folder, its server, and the time that it has used."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.coding_agent.coding_agent import CodingAgent
from agents.coding_agent.host import Desk, RunningProgram
from app.mcp.workspace import ClientFolder
from app.program.author_command import command_of, program_environment
from app.program.program_fence import Fence, visible_around
from app.program.started_program import ProgramProcess, end_left_over
from records import scratch_folder
from records.errors import MachineError, UsageError
from records.files import write_whole
from records.redaction import redacted
from records.run_meter import RunMeter
from sandbox.cage import landlock

if TYPE_CHECKING:
    from app.settings import Settings
    from records.experiment import Run

FOLDER, RECORD, LOG = "workspace", "program.json", "program.log"
HIDDEN = ("/dev/shm", "/tmp", "/var/tmp")  # where the judge's programs hold inputs while they work


def program_author(settings: Settings, run: Run, folder: Path, meter: RunMeter) -> CodingAgent:
    """Make the author of a run that is a program; `folder` is the run's."""
    minutes, turns = (float(str(run.config[name])) for name in ("session_minutes", "session_turns"))
    return CodingAgent(ProgramHost(settings, folder, command_of(run.config), meter), minutes, int(turns))


class ProgramHost:
    """One run's, for one thread. The workspace lies in the run's folder, which the program cannot see otherwise."""

    def __init__(self, settings: Settings, folder: Path, words: tuple[str, ...], meter: RunMeter) -> None:
        """`folder` is the run's. Nothing is made yet."""
        self.program = Path(words[0]).name
        self._settings, self._folder, self._words, self._meter = settings, folder, words, meter

    @property
    def files(self) -> ClientFolder:
        """The workspace, made where it is not there."""
        folder = self._folder / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        files = ClientFolder(folder)
        for name in ("home", "home/.codex", "tmp"):
            with contextlib.suppress(UsageError):  # the program has put something else there, and does without
                files.make_folder(name)
        return files

    @contextlib.contextmanager
    def working(self, prompt: str, desk: Desk, seconds: float) -> Iterator[RunningProgram]:
        """Start the program with the prompt on its standard input; at the end of the block nothing of it is left."""
        from app.mcp.bench_server import client_settings, serving

        end_left_over(self._record().get("mark", ""))  # of a session that was killed
        scratch = scratch_folder.make("program")
        try:
            with contextlib.ExitStack() as stack:
                if desk.tools and (address := stack.enter_context(serving(desk, scratch / "s"))) is not None:
                    for name, text in client_settings(address).items():
                        with contextlib.suppress(UsageError):
                            self.files.write(name, text, replace=True)
                process = ProgramProcess(self._words, self._environment(), self._fence(), prompt, seconds)
                self._keep(mark=process.mark)
                try:
                    yield stack.enter_context(process.telling(self._folder / LOG, self._plain))
                finally:
                    desk.close()
        finally:
            scratch_folder.remove(scratch)

    def check(self) -> None:
        """RunStopped where the run was cancelled."""
        self._meter.stop.check()

    def seconds_left(self) -> float:
        """Return the time that the run's own limit leaves; infinite without one."""
        return self._meter.seconds_left()

    def judged(self) -> frozenset[str]:
        """Digests of the candidates that were judged, in this session and in those before."""
        return frozenset(self._record().get("judged", ()))

    def note_judged(self, digest: str) -> None:
        """Keep that a candidate was judged."""
        self._keep(judged=sorted({*self.judged(), digest}))

    def used(self, session: str) -> tuple[float, int]:
        """Seconds and turns that a session has used, those before a crash included."""
        seconds, turns = self._record().get("used", {}).get(session, (0.0, 0))
        return float(seconds), int(turns)

    def note_used(self, session: str, seconds: float, turns: int) -> None:
        """Keep what a session has used."""
        self._keep(used={**self._record().get("used", {}), session: (round(seconds, 1), turns)})

    def _environment(self) -> dict[str, str]:
        root = self.files.root
        return {"HOME": str(root / "home"), "TMPDIR": str(root / "tmp"), **program_environment(self._settings)}

    def _fence(self) -> Fence:
        """Return what the program sees; MachineError where this machine hides nothing and nobody has allowed that."""
        settings, root = self._settings, self.files.root
        if not landlock.version():
            if settings.isolation != "limits":
                raise MachineError(
                    "this machine cannot keep a program as author from the ledger: use Linux 5.13 or later with "
                    "Landlock, or allow it with --isolation limits"
                )
            return Fence(root, (), (), is_fenced=False)
        own = (settings.runs_folder, settings.cache_folder, settings.knowledge, Path(".env").absolute())
        hidden = [*own, *map(Path, HIDDEN), Path(tempfile.gettempdir())]
        home = Path(self._environment()["HOME"])
        homes = () if home.is_relative_to(root) else visible_around(hidden, home.resolve())
        own_files = tuple(path for word in self._words if (path := Path(word)).is_absolute() and path.is_file())
        return Fence(root, (*visible_around(hidden), *own_files), (root, *homes))

    def _plain(self, text: str) -> str:
        return redacted(text, self._settings.secrets(), str(Path.home()))

    def _record(self) -> dict[str, Any]:
        with contextlib.suppress(OSError, ValueError):
            return dict(json.loads((self._folder / RECORD).read_text(encoding="utf-8")))
        return {}

    def _keep(self, **fields: object) -> None:
        write_whole(self._folder / RECORD, json.dumps({**self._record(), **fields}).encode())
