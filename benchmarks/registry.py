"""The table of benchmarks that `python -m benchmarks` runs and reports: one record a module."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

FAST_MINUTES = 1.0  # below this a benchmark counts as fast


@dataclass(frozen=True)
class Benchmark:
    """One source of figures: a module of this package, or a command that needs more than one machine."""

    name: str  # the module's name, unless `by_hand`
    title: str
    shows: str  # one sentence for the page
    minutes: float  # on two cores
    arguments: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()  # programs, or "gpu" and "model"; what is absent leaves the last figures in place
    peer: str = ""  # a package that needs an interpreter of its own: handed on as `--PEER PYTHON`
    stored: bool = False  # prints times stored from a GPU; the command runs anywhere
    by_hand: str = ""  # the command, where no module can run it: its figures are entered with their device and date

    @property
    def command(self) -> str:
        """The command that prints the figures."""
        return self.by_hand or " ".join(("python -m", f"benchmarks.{self.name}", *self.arguments))

    @property
    def is_fast(self) -> bool:
        """True for a benchmark that this command can run in under a minute."""
        return not self.by_hand and self.minutes < FAST_MINUTES

    def missing(self) -> list[str]:
        """List the needs that this machine does not meet."""
        return [need for need in self.needs if shutil.which(need) is None]


# Programs for whoever asks one question: of the interpreter, of clocks and models, of runs that are left alone.
ALONE = (
    frozenset({"beliefs", "machine_instructions", "machine_speed", "machine_waits"})
    | {"clock_campaign", "clock_winners", "model_scan"}
    | {"canaries", "injections", "model_faults", "soak"}
)
BENCHMARKS = (
    Benchmark("startup", "Start-up", "The wait for an answer from a fresh process.", 0.5),
    Benchmark("demo", "The demo", "The best kernel that `kernel-scientist demo` finds, and what finding it takes.", 2),
    Benchmark(
        "example_kernels",
        "Kernels in examples/ for the MI300X",
        "The kernel that a model's run ended with, verified on all test shapes in the lab.",
        3,
    ),
    Benchmark(
        "lab_findings",
        "Faults the lab finds",
        "Faulty kernels of 14 kinds reported with the right kind at the right line, and their honest twins.",
        5,
    ),
    Benchmark(
        "judge_evidence",
        "The lab's judge, on 32 cores",
        "Exploits, twins, mutants, faults, right kernels by new seeds, planted errors, whole executions by one thread.",
        0.2,
        stored=True,
    ),
    Benchmark(
        "under_load",
        "Verdicts on a busy machine",
        "200 right kernels and 200 wrong ones by twelve judges side by side, beside 16 busy processes, on 16 cores.",
        0.2,
        arguments=("--stored",),
        stored=True,
    ),
    Benchmark(
        "verdict_rate",
        "The rate of verdicts",
        "`check` of the softmax seed, and the demo, in turns with a commit whose judge does not compare what is timed.",
        8,
        needs=("git",),
    ),
    Benchmark(
        "one_way",
        "One candidate's way",
        "Parses, resolutions and files between a node of the graph and the compiler, counted for one candidate.",
        1,
    ),
    Benchmark(
        "loop_rate",
        "The loop's own cost",
        "The cost of one candidate when author and sandbox cost next to nothing, early and late in a run of 10,000.",
        8,
        peer="openevolve",
    ),
    Benchmark("compile_speed", "Compiling for gfx942", "The time to gfx942 code for one of 50 distinct kernels.", 1),
    Benchmark(
        "estimate_cost",
        "The cost of an estimate",
        "The processor time of one estimate, as the tuner asks for it, with all the processes it starts.",
        1,
    ),
    Benchmark(
        "sample_efficiency",
        "The tuner's estimates",
        "Estimates to 95 % of the best speed, over spaces of which every point is known, beside other tuners.",
        20,
        peer="rivals",
    ),
    Benchmark(
        "search",
        "The graph against a hill climb",
        "Kernels timed until one is as fast as the graph's, with the same changes and tunables, six tasks, five seeds.",
        90,
    ),
    Benchmark(
        "retrieval_quality",
        "Finding the right note",
        "The place of the right note for judged questions, beside other searches over the same passages. "
        "[What *unseen* and *blind* mean](adding-documents.md#measuring-search).",
        1,
    ),
    Benchmark(
        "retrieval_speed",
        "Speed of retrieval",
        "Adding documents, searching them and searching after a change, beside other searches.",
        4,
        arguments=("--passages", "100000", "--vectors", "384"),
    ),
    Benchmark(
        "own_kernels",
        "Naive kernels of one's own",
        "Twelve naive kernels and what the playbook alone makes of them: shares of the lab's roofline.",
        40,
    ),
    Benchmark(
        "cage_cost",
        "The cost of the cage",
        "The time that confinement adds to a program's start, on each level, and its share of an execution.",
        0.5,
    ),
    Benchmark(
        "lab_speed",
        "The speed of the lab",
        "The lab beside Oclgrind on four algorithms, and one large case verified whole.",
        12,
        needs=("oclgrind-kernel",),
    ),
    Benchmark(
        "clock_worth",
        "What predicted times are worth",
        "Expected times and bounds of 1,057 kernels beside times that others measured on AMD's GPUs.",
        0.1,
        stored=True,
    ),
    Benchmark(
        "measure_truth",
        "Trust in a comparison",
        "The judge's comparison of two kernels beside those of other timers, on an H200.",
        0.2,
        stored=True,
    ),
    Benchmark(
        "database_rate",
        "The ledger on SQLite and on Postgres",
        "Commits a second of one driver and of eight, and what a candidate costs the driver and the server.",
        4,
        arguments=("--candidates", "300"),
        needs=("initdb",),
    ),
    Benchmark(
        "page",
        "The live page",
        "A made-up run of 2,000 candidates in headless Chromium: the wait for the page, and for each step in it.",
        3,
        needs=("chromium",),
    ),
    Benchmark(
        "scale",
        "A cluster's cost",
        "Overhead, efficiency with up to 64 simulated GPUs, and fair shares of three runs, through Ray on one machine.",
        0.2,
        arguments=("--stored",),
        stored=True,
    ),
    Benchmark(
        "parallel_budget",
        "Callers in parallel on one budget",
        "What 32 callers of a model spend of each budget from 0 to 100 % of their work, by the server's own bill.",
        3,
    ),
    Benchmark(
        "kills",
        "Kills in a cluster",
        "Stations, supervisor, bridge, driver, nodes and head killed during a run: what is lost, and for how long.",
        0.2,
        arguments=("--stored",),
        stored=True,
    ),
    Benchmark(
        "model_kills",
        "Kills with a model",
        "The driver killed at random moments, with a model that never answers twice the same: what is asked again.",
        0.1,
        arguments=("--stored",),
        stored=True,
    ),
    Benchmark(
        "cancels", "Cancels", "Work cancelled in five ways: what begins afterwards.", 0.1, ("--stored",), stored=True
    ),
    Benchmark(
        "many_gpus",
        "64 simulated GPUs",
        "Efficiency and rate of a cluster with cores to spare, and a campaign of 10,000 candidates. The driver's time "
        "includes the script's loading of the task for each evaluation.",
        0.2,
        stored=True,
    ),
    Benchmark(
        "two_gpus",
        "Two H200 through Ray",
        "The mix of 500 candidates judged by two GPUs beside one, and a planted 1 % that both must find.",
        0.2,
        stored=True,
    ),
    Benchmark(
        "kernelbench_eval",
        "KernelBench on Hopper GPUs",
        "Generated kernels of KernelBench's problems and wrong ones made from them: our judge, and KernelBench's own.",
        0.2,
        stored=True,
    ),
    Benchmark("faults", "Faults on a GPU", "200 faults in a row on an H200.", 0.2, stored=True),
    Benchmark(
        "compile_rate",
        "Compiling for the H200",
        "The time to H200 code for one of 50 distinct kernels, beside other ways to compile them.",
        0.2,
        stored=True,
    ),
    Benchmark("throughput", "Candidates an hour", "500 mixed candidates judged by one H200.", 0.2, stored=True),
    Benchmark(
        "h200_anchors",
        "Shipped kernels beside PyTorch",
        "Geometric means over the benchmark cases on an H200, inputs cold.",
        0.2,
        stored=True,
    ),
    Benchmark(
        "h200_search",
        "Kernels the playbook found on an H200",
        "Twelve naive kernels, and two that begin with one of examples/, beside PyTorch and a copy of as many bytes.",
        0.2,
        stored=True,
    ),
    Benchmark(
        "author_lab",
        "An author with tools in the lab",
        "The kernel a recorded campaign on `fp8_block_gemm` ends with: its four largest cases, verified whole.",
        5,
    ),
    Benchmark(
        "h200_author",
        "An author with tools on an H200",
        "Softmax and RMS norm by campaigns with answers written beforehand, beside PyTorch and a copy.",
        0.2,
        stored=True,
    ),
    Benchmark(
        "everyday",
        "Everyday functions",
        "What the playbook makes of 20 functions as people bring them, beside textbook kernels that the generator's "
        "authors did not write.",
        40,
        by_hand="python -m benchmarks.everyday --public DIR",
    ),
    Benchmark(
        "kernelbench",
        "KernelBench's problems as tasks",
        "Problems imported, with the generated kernel accepted and two wrong ones refused in the lab.",
        90,
        by_hand="python -m benchmarks.kernelbench --checkout DIR",
    ),
    Benchmark(
        "playbook_h200",
        "The playbook on an H200",
        "One generation through a folder: the best kernel against the naive seed.",
        30,
        needs=("gpu",),
        by_hand="./kernel-scientist run TASK --target h200 --on spool:DIR",
    ),
    Benchmark(
        "author_h200",
        "An author behind an endpoint, on an H200",
        "Two generations with kernels from an OpenAI-compatible server whose answers were written beforehand.",
        60,
        needs=("gpu", "model"),
        by_hand="./kernel-scientist run TASK --target h200 --on device --author llm --generations 2",
    ),
)
