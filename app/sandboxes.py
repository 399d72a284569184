"""Sources of verdicts and times: the lab, a GPU of this machine, a spool folder, a served worker, a Ray cluster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app.settings import Settings
from records.errors import MachineError, SettingsError, SpoolError, UsageError
from records.stopping import StopSignal

if TYPE_CHECKING:
    from graph.context import Context, Sandbox
    from sandbox.remote.client import Post
    from sandbox.target import Target
    from sandbox.target_file import TargetFile

ELSEWHERE = ("spool", "worker", "ray")  # before the colon
MOST_AT_ONCE = 256  # experiments of one generation
MOST_SEED = 2**63 - 1  # of a whole number in a ledger
LAB_VENDOR = "amd"  # whose machine code the lab compiles to and whose instructions it executes


def resolve_on(on: str, target: str) -> str:
    """Resolve the value of `--on` in full: `auto` is a GPU of that kind if there is one, else the lab.

    MachineError for what is not on this machine, UsageError for what is none of these.
    """
    from sandbox.remote.pool import gpu_indices
    from sandbox.target import load_target

    gpu = load_target(target)
    kind, _, address = on.partition(":")
    if kind == "spool" and address:
        return f"spool:{Path(address).expanduser().absolute()}"
    if kind == "worker" and address:
        from sandbox.remote.channel import parse_address

        parse_address(address)
        return on
    if kind == "ray":
        from app.clusters import checked_cluster

        return checked_cluster(on)
    if on not in ("auto", "lab", "device"):
        raise UsageError(f"--on is auto, lab, device, ray, ray:local, spool:DIR or worker:HOST:PORT, not {on!r}")
    has_device = on != "lab" and bool(gpu_indices(gpu))
    if has_device:
        return "device"
    absent = f"there is no {gpu.title} with a working driver on this machine"
    elsewhere = "--on spool:DIR or --on worker:HOST:PORT to ask a machine that has"
    if gpu.vendor != LAB_VENDOR:
        stranger = f"the lab does not know the target {target}; use {elsewhere}"
        raise MachineError(f"{stranger} an {gpu.title}" if on == "lab" else f"{absent}, and {stranger} one")
    if on == "device":
        raise MachineError(f"{absent}; use --on lab, which needs no GPU, or {elsewhere} one")
    return "lab"


def is_elsewhere(on: str) -> bool:
    """Tell whether answers come from another process, maybe later."""
    return on.partition(":")[0] in ELSEWHERE


def is_cluster(on: str) -> bool:
    """Tell whether answers come from a Ray cluster: later than local ones, but within the question."""
    return on.partition(":")[0] == "ray"


def place_of(settings: Settings, on: str, target: str) -> str:
    """Return the id of the place that a new run's answers will come from; empty for this machine."""
    if is_cluster(on):
        from app.clusters import cluster_place
        from cluster.cluster_sandbox import place_id
        from sandbox.target import load_target

        return place_id(cluster_place(settings, load_target(target), on))
    if on == "lab":
        target_file = target_file_of(settings, target)
        return target_file.digest if target_file else ""
    return make_post(settings, on).id if is_elsewhere(on) else ""


def target_file_of(settings: Settings, target: str) -> TargetFile | None:
    """Read the target file of the settings where it is about this target; SettingsError for one that cannot be used."""
    if settings.target_file is None:
        return None
    from sandbox.target import load_target
    from sandbox.target_file import overlaid, read_target_file

    target_file = read_target_file(settings.target_file)
    overlaid(load_target(target_file.target), target_file)
    return target_file if target_file.target == target else None


def refuse_seed(seed: int) -> None:
    """UsageError for a seed that no generator and no ledger takes."""
    if not 0 <= seed <= MOST_SEED:
        raise UsageError(f"--seed is a whole number from 0 to {MOST_SEED}, not {seed}")


def refuse_shapes_elsewhere(on: str, shapes: Sequence[str]) -> None:
    """UsageError where shapes of one's own are asked of a worker, which knows those of the task only."""
    if shapes and is_elsewhere(on):
        raise UsageError(
            "--shape is for the lab and the GPUs of this machine; a worker tests a task's own shapes: leave it out, or "
            "add the shape to a task folder of yours"
        )


def make_sandbox(
    settings: Settings,
    target: str,
    on: str,
    seed: int,
    *,
    exact: bool = False,
    keep: Path | None = None,
    whole_s: float = 0.0,
    place_id: str = "",
    run_id: str = "",
    stop: StopSignal | None = None,
) -> Sandbox:
    """Make the sandbox for a target; UsageError or MachineError names the missing part.

    `place_id`: the folder's, worker's or cluster place's id that a run was started with; another one is refused.
    `run_id` has a share of a cluster of its own. `whole_s` is the lab's processor time for benchmark cases executed
    whole, where that is not to be the usual. `stop` ends what it is at, with RunStopped.
    """
    from sandbox.target import load_target

    gpu, resolved = load_target(target), resolve_on(on, target)
    if resolved == "lab" and run_id:
        _refuse_other_file(settings, target, place_id)
    if exact and resolved != "lab":
        raise UsageError("--exact is about the lab's matrix instructions; leave it out, or use --on lab")
    if keep is not None and resolved != "lab":
        raise UsageError("--keep is about the lab's files; leave it out, or use --on lab")
    if whole_s and resolved != "lab":
        raise UsageError(
            "--whole-seconds is about the lab, a GPU always executes the whole; leave it out, or use --on lab"
        )
    if is_cluster(resolved):
        from app.clusters import cluster_sandbox

        return cluster_sandbox(settings, gpu, resolved, seed, place_id, run_id)
    if is_elsewhere(resolved):
        from sandbox.remote.client import Remote

        post = make_post(settings, resolved)
        if place_id not in ("", post.id):
            raise SpoolError(
                f"{resolved} is not the one that the run was started with; bring that one back, or start a new run"
            )
        return Remote(post, resolved, gpu, seed)
    if resolved == "device":
        from sandbox.remote.pool import device_evaluator

        return device_evaluator(gpu, settings.cache_folder / "kernels", seed)
    return _lab(settings, gpu, seed, exact, keep, whole_s, stop or StopSignal())


def _refuse_other_file(settings: Settings, target: str, begun_with: str) -> None:
    """SettingsError where a run began with another target file: its times would be of two kinds."""
    if begun_with != place_of(settings, "lab", target):
        raise SettingsError(
            "the run was started with another target file: set KERNEL_SCIENTIST_TARGET_FILE as it was, or start another"
        )


def require_isolation(settings: Settings, target: str, on: str) -> None:
    """MachineError where a run, which nobody watches, would leave files and network to kernels of this machine."""
    from sandbox.amdgcn.toolchain import find_toolchain
    from sandbox.cage.confinement import candidates, require

    resolved = resolve_on(on, target)
    if resolved == "lab":
        require(find_toolchain(settings.cache_folder / "toolchain").cage.level, settings.isolation)
    elif resolved == "device":
        require(candidates(None)[0].level, settings.isolation)


def require_fence_of(settings: Settings, sandbox: Sandbox) -> None:
    """MachineError where a GPU's process, in a run which nobody watches, could reach the user's files."""
    from sandbox.gpu.fence_choice import require_fence
    from sandbox.gpu.gpu_evaluator import GpuEvaluator

    if isinstance(sandbox, GpuEvaluator):
        require_fence(sandbox.fence, settings.isolation)


def make_post(settings: Settings, on: str) -> Post:
    """Open the way to the workers; SpoolError when the folder or the worker cannot be used."""
    from sandbox.remote.channel import checked_token

    kind, _, address = on.partition(":")
    if kind == "spool":
        from sandbox.remote.spool import Spool

        key = settings.spool_key.get_secret_value() if settings.spool_key is not None else ""
        return Spool(Path(address), key=checked_token(key, "spool key") if key else "")
    from sandbox.remote.channel import parse_address
    from sandbox.remote.server import ServedPost

    if settings.worker_token is None:
        raise SettingsError("--on worker:HOST:PORT needs the worker's token: set KERNEL_SCIENTIST_WORKER_TOKEN")
    return ServedPost(parse_address(address), checked_token(settings.worker_token.get_secret_value()))


def _lab(
    settings: Settings, target: Target, seed: int, exact: bool, keep: Path | None, whole_s: float, stop: StopSignal
) -> Sandbox:
    from sandbox.amdgcn.toolchain import find_toolchain
    from sandbox.evidence import Evidence
    from sandbox.lab.lab_evaluator import LabEvaluator
    from sandbox.lab.lab_verify import patience_for

    target_file = target_file_of(settings, target.name)
    if target_file is not None:
        from sandbox.lab.scaled_lab import ScaledLab
        from sandbox.target_file import overlaid

        plain = settings.model_copy(update={"target_file": None})
        return ScaledLab(_lab(plain, overlaid(target, target_file), seed, exact, keep, whole_s, stop), target_file)
    return LabEvaluator(
        find_toolchain(settings.cache_folder / "toolchain", stop),
        settings.cache_folder / "kernels",
        target,
        seed,
        settings.cores,
        exact=exact,
        evidence=None if keep is None else Evidence(keep),
        patience=patience_for(exact, whole_s),
    )


def parallel(context: Context) -> int | None:
    """Experiments at once: a cluster takes all of a generation, this machine as many as it has threads for."""
    most = max(context.limits.picks, len(context.starts) + len(context.assignment.task.seeds))
    return min(most, MOST_AT_ONCE) if is_cluster(context.run.on) else None
