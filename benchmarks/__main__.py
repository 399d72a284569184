"""The command that runs the benchmarks and writes docs/results.md: `python -m benchmarks --help`."""

from __future__ import annotations

import argparse
import datetime
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence

from benchmarks.highlights import README, readme
from benchmarks.processes import processor
from benchmarks.registry import BENCHMARKS, Benchmark
from benchmarks.results import PAGE, ROOT, STORE, Record, figures_in, load, page, save
from records.files import write_whole

RUNNABLE = tuple(b for b in BENCHMARKS if not b.by_hand)
MISSED = 1  # the exit code of a benchmark whose figures miss a goal


def parser() -> argparse.ArgumentParser:
    """Build the parser of the command's options."""
    options = argparse.ArgumentParser(prog="python -m benchmarks", description="Run benchmarks, write docs/results.md.")
    which = options.add_mutually_exclusive_group()
    which.add_argument("--only", nargs="+", metavar="NAME", choices=[b.name for b in RUNNABLE], help="those named")
    which.add_argument("--fast", action="store_true", help="those under a minute")
    which.add_argument("--stored", action="store_true", help="those that print times stored from a GPU")
    which.add_argument("--check", action="store_true", help="run nothing: is the page what the stored figures say?")
    which.add_argument("--page", action="store_true", help="run nothing: write the page again from the stored figures")
    options.add_argument("--openevolve", default="", metavar="PYTHON", help="an interpreter with OpenEvolve 0.4.0")
    return options


def chosen(options: argparse.Namespace) -> list[Benchmark]:
    """List the benchmarks to run."""
    if options.only:
        return [b for b in RUNNABLE if b.name in options.only]
    return [b for b in RUNNABLE if (b.is_fast or not options.fast) and (b.stored or not options.stored)]


def machine() -> str:
    """Name the cores and the processor of this machine."""
    cores, model = len(os.sched_getaffinity(0)), processor()
    return f"{cores} cores of {'an ' + model if model else 'an unknown processor'}"


def run(benchmark: Benchmark, peers: Mapping[str, str]) -> Record | str:
    """Run one benchmark in a process of its own: its record, or the reason that there is none.

    `peers` are interpreters by the name of the package that they have.
    """
    if missing := benchmark.missing():
        return f"{', '.join(missing)} is not on this machine"
    argv = [sys.executable, "-m", f"benchmarks.{benchmark.name}", *benchmark.arguments]
    if peers.get(benchmark.peer):
        argv += [f"--{benchmark.peer}", peers[benchmark.peer]]
    code, output, errors = _output_of(argv)
    figures = figures_in(output)
    if code not in (0, MISSED) or not figures:
        return f"ended with {code}: {(errors or output).strip()[-300:]}"
    return Record(benchmark.name, machine(), datetime.datetime.now(datetime.UTC).date().isoformat(), figures)


def _output_of(argv: Sequence[str]) -> tuple[int, str, str]:
    """Return a command's exit code and both outputs; its errors, which tell how far it is, are shown as they come."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        with subprocess.Popen(argv, cwd=ROOT, stdout=output, stderr=subprocess.PIPE, text=True) as process:
            errors = []
            for line in process.stderr or ():
                errors.append(line)
                print(line, end="", file=sys.stderr, flush=True)
        output.seek(0)
        return process.returncode, output.read(), "".join(errors)


def check() -> int:
    """Compare the page with the stored figures and the registry; times are not looked at."""
    records = load()
    absent = [b.name for b in BENCHMARKS if b.name not in records]
    unknown = sorted(set(records) - {b.name for b in BENCHMARKS})
    if unknown:
        print(f"{STORE.name} has figures of no benchmark: {', '.join(unknown)}")
        return 1
    text = README.read_text(encoding="utf-8")
    for path, is_right in (
        (PAGE, PAGE.read_text(encoding="utf-8") == page(BENCHMARKS, records)),
        (README, text == readme(text, BENCHMARKS, records)),
    ):
        if not is_right:
            print(f"{path.name} is not what {STORE.name} says: run `python -m benchmarks --page`")
            return 1
    print(f"docs/results.md shows {len(BENCHMARKS)} benchmarks; not measured yet: {', '.join(absent) or 'none'}")
    return 0


def write_page() -> None:
    """Write docs/results.md, and the README's table, from the stored figures."""
    records = load()
    write_whole(PAGE, page(BENCHMARKS, records).encode(), is_public=True)
    write_whole(README, readme(README.read_text(encoding="utf-8"), BENCHMARKS, records).encode(), is_public=True)


def enter(record: Record) -> None:
    """Keep a benchmark's figures in the place of its last ones, and write the page."""
    records = {**load(), record.name: record}
    save(records[b.name] for b in BENCHMARKS if b.name in records)
    write_page()


def main(words: Sequence[str]) -> int:
    """Run what is asked for; the page and its figures are written after each benchmark."""
    options = parser().parse_args(words)
    if options.check:
        return check()
    if options.page:
        write_page()
        return 0
    failed = 0
    for benchmark in chosen(options):
        print(f"{benchmark.command}  (about {benchmark.minutes:g} min)", flush=True)
        start = time.monotonic()
        answer = run(benchmark, {"openevolve": options.openevolve})
        if isinstance(answer, Record):
            enter(answer)
            missed = [figure["figure"] for figure in answer.figures if figure["met"] is False]
            print(
                f"  {len(answer.figures)} figures in {time.monotonic() - start:.0f} s"
                + (f"; goals missed: {', '.join(missed)}" if missed else ""),
                flush=True,
            )
        else:
            failed += 1
            print(f"  no figures, the last ones stay: {answer}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
