"""Ray clusters for commands: addresses, one link a process, and the place that a run's answers come from."""

from __future__ import annotations

import atexit
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from app.settings import Settings
from records.errors import SettingsError, SpoolError, UsageError

if TYPE_CHECKING:
    from cluster.cluster_link import ClusterAddress, ClusterLink
    from cluster.cluster_sandbox import ClusterSandbox
    from sandbox.remote.message import Place
    from sandbox.target import Target

LOCAL = "ray:local"
KEPT = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "XDG_CACHE_HOME", "PYTHONHASHSEED")
KEPT_BEGINNINGS = ("RAY_", "CUDA_", "HIP_", "ROCR_", "NVIDIA_")  # of names: which cluster, which GPUs
# Ray asks nobody before it sends statistics to its makers. A worker whose process is lost is the supervisor's business.
OWN = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


TOKEN = Path("~/.ray/auth_token").expanduser()


def checked_cluster(on: str) -> str:
    """`ray`, `ray:local` or `ray:HOST:PORT`; UsageError for another form."""
    address = on.partition(":")[2]
    if on not in ("ray", LOCAL):
        _checked_address(address, UsageError(f"--on ray is ray, ray:local or ray:HOST:PORT, not {on[:80]!r}"))
    return on


def _checked_address(text: str, otherwise: Exception) -> str:
    host, _, port = text.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) <= 65535 or "/" in host:
        raise otherwise
    return text


def cluster_address(settings: Settings, on: str, target: str = "") -> ClusterAddress:
    """Give the cluster's address; its resources too where it is one of this process."""
    from cluster.cluster_link import ClusterAddress

    inherited = {k: v for k, v in os.environ.items() if k in KEPT or k.startswith(KEPT_BEGINNINGS)}
    if TOKEN.is_file():  # a head that finds one asks everybody for it, and only the head turns it on by itself
        inherited.setdefault("RAY_AUTH_MODE", "token")
    environment, log = {**inherited, **OWN}, settings.cache_folder / "ray.log"
    settings.cache_folder.mkdir(parents=True, exist_ok=True)
    if on == LOCAL:
        return ClusterAddress("", _own_resources(settings, target), environment=environment, log=log)
    address = on.partition(":")[2] or settings.ray_address
    if address != "auto":
        wrong = SettingsError(f"the setting KERNEL_SCIENTIST_RAY_ADDRESS is HOST:PORT or auto, not {address[:80]!r}")
        _checked_address(address, wrong)
    return ClusterAddress(address, environment=environment, log=log)


def _own_resources(settings: Settings, target: str) -> dict[str, float]:
    """Count this machine's GPUs of the target's kind, and its cores for the lab."""
    from sandbox.remote.pool import gpu_indices
    from sandbox.target import load_target

    gpus = len(gpu_indices(load_target(target))) if target else 0
    lab = settings.ray_lab or settings.cores or len(os.sched_getaffinity(0))
    return {"lab": float(lab)} | ({target: float(gpus)} if gpus else {})


@cache
def _link(settings: Settings, on: str, target: str) -> ClusterLink:
    """One for this process: a cluster takes seconds to start or to join."""
    from cluster.cluster_link import ClusterLink

    link = ClusterLink(cluster_address(settings, on, target))
    atexit.register(link.close)
    return link


def cluster_link(settings: Settings, on: str, target: str = "") -> ClusterLink:
    """Open the link of this process to a cluster; SpoolError where Ray is not installed."""
    return _link(settings, on, target if on == LOCAL else "")


def cluster_places(settings: Settings, target: Target, on: str) -> list[tuple[Place, int]]:
    """List the kinds of place that a cluster has for a target, the largest first."""
    from cluster.cluster_link import spec_of

    cache_folder = str(settings.cache_folder) if on == LOCAL else settings.ray_cache
    link = cluster_link(settings, on, target.name)
    allowed = settings.trust_tasks, settings.task_seconds, settings.task_gib
    return link.open(spec_of(target.name, cache_folder, settings.isolation, *allowed))


def cluster_place(settings: Settings, target: Target, on: str, place_id: str = "") -> Place:
    """Choose the place of a run's answers: the one that it began with, else the one with the most stations."""
    from cluster.cluster_sandbox import place_id as id_of

    candidates = cluster_places(settings, target, on)
    for place, _ in candidates:
        if place_id in ("", id_of(place)):
            return place
    texts = "; ".join(place.text for place, _ in candidates)
    raise SpoolError(
        f"no station of the cluster is of the kind that the run was started with (there are: {texts}); bring that one "
        "back, or start a new run"
    )


def cluster_sandbox(
    settings: Settings, target: Target, on: str, seed: int, place_id: str, run_id: str
) -> ClusterSandbox:
    """Make the sandbox of a run on a cluster."""
    from cluster.cluster_sandbox import ClusterSandbox

    place = cluster_place(settings, target, on, place_id)
    return ClusterSandbox(
        cluster_link(settings, on, target.name), place, target, seed, run_id or f"check-{os.getpid()}"
    )
