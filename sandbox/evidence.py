"""A folder that keeps all that the lab makes of one kernel, for a person who asks why the kernel fails."""

from __future__ import annotations

import math
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from records.errors import UsageError
from sandbox.candidate.arguments import BufferArg, ResolvedArg, ScalarArg, StructArg
from sandbox.candidate.resolve import ResolvedPlan
from sandbox.process import Completed

TITLE = "Kept by `kernel-scientist check --keep`"
README = "README.txt"
MESSAGES = "messages.txt"
INPUTS = "inputs.bin"
IMAGES = "images"
EXECUTOR = "executor"  # the interpreter, which the lab builds in its cache folder
LARGEST_BYTES = 64 << 20  # of the buffers of one execution; larger ones are not kept
_PARTS = ("gpu", IMAGES, "run-*")
_FILES = {  # in the order of their making
    "gpu/candidate.hip": "the kernel file as it was given",
    "gpu/files.json": "the only files that the compiler's front end can open",
    "gpu/candidate.s": "assembly listing for the GPU, with a line marker before each source line's instructions",
    "gpu/candidate.o": "the assembled object",
    "gpu/candidate.co": "the code object a GPU would load",
    f"{IMAGES}/*": "the decoded instructions of one program, which the interpreter executes",
    "run-*/launches.txt": "the launches and buffers of one execution",
    "run-*/request.bin": "the executor's request; its fields are in sandbox/machine/interpreter/request.h",
    "run-*/memory.bin": "the buffers after the execution",
    f"run-*/{INPUTS}": "the inputs, where the memory accesses are only counted: the beginning of each, which repeats",
    "run-*/masks.bin": "one byte for each byte of the outputs: 1 where it was written",
    "run-*/result.json": "the executor's result: findings, counters, time",
    MESSAGES: "standard error of the commands below, in their order",
}


class Evidence:
    """Collects the files in one folder; the README.txt there names each and the command that made it."""

    def __init__(self, folder: Path) -> None:
        """Empty the folder of an earlier check; UsageError where it holds anything else or cannot be written."""
        self.folder = folder.resolve()
        self._commands: list[str] = []
        self._environment: dict[str, str] = {}
        self._runs = 0
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if any(self.folder.iterdir()) and not self._is_ours():
                raise UsageError(f"{folder} holds other files; give --keep a new or an empty folder")
            for pattern in _PARTS:
                for part in self.folder.glob(pattern):
                    shutil.rmtree(part)
            (self.folder / MESSAGES).write_text("", encoding="utf-8")
            self._write_readme()
        except OSError as error:
            raise UsageError(f"the folder {folder} cannot be used for --keep ({error.strerror})") from None

    def once(self, part: str) -> Path | None:
        """Make a new folder of this name; None where it was handed out before."""
        folder = self.folder / part
        if folder.exists():
            return None
        folder.mkdir()
        return folder

    def command(self, folder: Path, argv: Sequence[str], environment: Mapping[str, str], completed: Completed) -> None:
        """Record one command that ran in a folder of the evidence; commands in other folders are ignored."""
        if not folder.is_relative_to(self.folder):
            return
        self._environment.update(environment)
        subfolder = folder.relative_to(self.folder)
        self._commands.append(f"cd {subfolder}  # exit status {completed.returncode}\n{shlex.join(argv)}")
        with (self.folder / MESSAGES).open("a", encoding="utf-8") as file:
            title = f"== {len(self._commands)}: {subfolder}, exit status {completed.returncode}"
            file.write(f"{title}\n{completed.stderr.rstrip()}\n")
        self._write_readme()

    def execution(
        self, folder: Path, image: Path, plan: ResolvedPlan, sizes: Mapping[str, int], inputs: Path | None = None
    ) -> None:
        """Keep the files of one execution: all of them where the buffers are small, else all but the buffers."""
        self._runs += 1
        run_folder = self.folder / f"run-{self._runs:02}"
        run_folder.mkdir()
        names = ["request.bin", "result.json"]
        if sum(sizes.values()) <= LARGEST_BYTES:
            names += ["memory.bin", "masks.bin"]
        for name in names:
            if (folder / name).is_file():
                shutil.copyfile(folder / name, run_folder / name)
        image_copy = self.folder / IMAGES / image.name
        if not image_copy.is_file():
            image_copy.parent.mkdir(exist_ok=True)
            shutil.copyfile(image, image_copy)
        words = [EXECUTOR, f"../{IMAGES}/{image.name}", "."]
        if inputs is not None and inputs.stat().st_size <= LARGEST_BYTES:
            shutil.copyfile(inputs, run_folder / INPUTS)
            words.append(INPUTS)
        (run_folder / "launches.txt").write_text(_launches(plan, sizes), encoding="utf-8")
        self._commands.append(f"cd {run_folder.name}\n{' '.join(words)}")
        self._write_readme()

    def _is_ours(self) -> bool:
        readme = self.folder / README
        return readme.is_file() and readme.read_text(encoding="utf-8", errors="replace").startswith(TITLE)

    def _write_readme(self) -> None:
        files = [(p, text) for p, text in _FILES.items() if any(self.folder.glob(p))]
        rows = [f"  {pattern:24}{text}" for pattern, text in files]
        variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in sorted(self._environment.items()))
        commands = [f"{number}. {text}" for number, text in enumerate(self._commands, 1)]
        text = [f"{TITLE}.", "", *rows, "", "The commands, in their order, with nothing in the environment but:"]
        text += [f"  {variables}", "", *commands]
        if self._runs:
            text += ["", f"`{EXECUTOR}` is the interpreter, which the lab builds in its cache folder."]
        (self.folder / README).write_text("\n".join(text) + "\n", encoding="utf-8")


def _argument_text(argument: ResolvedArg) -> str:
    match argument:
        case BufferArg(name=name, offset=offset):
            return f"{name} + {offset} bytes" if offset else name
        case ScalarArg(dtype=dtype, value=value):
            return f"{dtype} {value}"
        case StructArg(fields=fields, size=size):
            leaves = ", ".join(f"{start}: {_argument_text(leaf)}" for start, leaf in fields)
            return f"a struct of {size} bytes ({leaves})"
    return "null"


def _launches(plan: ResolvedPlan, sizes: Mapping[str, int]) -> str:
    rows = [f"buffer {name}: {size} bytes" for name, size in sizes.items()]
    for launch in plan.launches:
        arguments = ", ".join(_argument_text(a) for a in launch.args)
        threads = math.prod(launch.block)
        rows.append(
            f"launch {launch.kernel}: grid {launch.grid}, block {launch.block} ({threads} work-items), "
            f"{launch.lds_bytes} bytes of dynamic LDS, arguments {arguments}"
        )
    return "\n".join(rows) + "\n"
