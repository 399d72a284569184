from __future__ import annotations

from pathlib import Path

import pytest

from app import run_request
from app.sandboxes import make_post, make_sandbox, refuse_shapes_elsewhere, resolve_on
from app.settings import Settings, load_settings
from records.errors import DeviceError, MachineError, SettingsError, SpoolError, UsageError
from sandbox.remote.client import Remote
from sandbox.remote.pool import gpu_indices, make_bench
from sandbox.target import load_target
from tasks.loader import load_task

TOKEN = "a token that is long enough"
NO_GPU = not (gpu_indices(load_target("mi300x")) or gpu_indices(load_target("h200")))
without_gpu = pytest.mark.skipif(not NO_GPU, reason="this machine has a GPU")


@pytest.fixture(autouse=True)
def work_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@without_gpu
def test_without_a_gpu_verdicts_come_from_the_lab() -> None:
    assert resolve_on("auto", "mi300x") == resolve_on("lab", "mi300x") == "lab"


@without_gpu
@pytest.mark.parametrize(
    ("on", "target", "words"),
    [
        ("device", "mi300x", "no AMD Instinct MI300X with a working driver on this machine; use --on lab"),
        ("device", "h200", "the lab does not know the target h200; use --on spool:DIR"),
        (
            "auto",
            "h200",
            "no NVIDIA H200 with a working driver on this machine, and the lab does not know the target h200",
        ),
    ],
)
def test_a_gpu_that_is_not_here_is_one_sentence(on: str, target: str, words: str) -> None:
    with pytest.raises(MachineError, match=words):
        resolve_on(on, target)


@without_gpu
def test_a_worker_without_a_driver_is_one_sentence(work_folder: Path) -> None:
    with pytest.raises(DeviceError, match="there is no NVIDIA H200 with a working driver on this machine; start"):
        make_bench("w", "device", load_target("h200"), work_folder, None, None, False, "strict")


def test_the_lab_knows_its_own_target_only() -> None:
    with pytest.raises(MachineError, match="the lab does not know the target h200"):
        resolve_on("lab", "h200")


@pytest.mark.parametrize("on", ["", "moon", "spool", "spool:", "worker:", "lab:x"])
def test_what_is_no_place_is_refused(on: str) -> None:
    with pytest.raises(UsageError):
        resolve_on(on, "mi300x")


def test_a_place_elsewhere_is_kept_in_full(work_folder: Path) -> None:
    assert resolve_on("spool:there", "h200") == f"spool:{work_folder / 'there'}"
    assert resolve_on("worker:box:7000", "h200") == "worker:box:7000"


def sandbox_of(settings: Settings, on: str, place_id: str = "") -> Remote:
    sandbox = make_sandbox(settings, "h200", on, 0, place_id=place_id)
    assert isinstance(sandbox, Remote)
    return sandbox


def test_a_run_remembers_its_folder_and_refuses_another_one(work_folder: Path) -> None:
    settings = load_settings()
    request = run_request.RunRequest("row_softmax", "h200", "spool:there")
    run = run_request.new_run(settings, request, load_task("row_softmax", "h200"))
    assert run.on == f"spool:{work_folder / 'there'}"
    assert run.config["place"]
    sandbox_of(settings, run.on, str(run.config["place"]))
    for path in (work_folder / "there").iterdir():
        path.rmdir() if path.is_dir() else path.unlink()
    with pytest.raises(SpoolError, match="is not the one that the run was started with; bring that one back"):
        sandbox_of(settings, run.on, str(run.config["place"]))


def test_a_served_worker_needs_its_token(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsError, match="set KERNEL_SCIENTIST_WORKER_TOKEN"):
        sandbox_of(load_settings(), "worker:127.0.0.1:1")
    monkeypatch.setenv("KERNEL_SCIENTIST_WORKER_TOKEN", "short")
    with pytest.raises(SettingsError, match="at least 16 characters"):
        sandbox_of(load_settings(), "worker:127.0.0.1:1")
    monkeypatch.setenv("KERNEL_SCIENTIST_WORKER_TOKEN", TOKEN)
    assert TOKEN in load_settings().secrets()
    with pytest.raises(SpoolError, match="cannot be reached"):
        sandbox_of(load_settings(), "worker:127.0.0.1:1")


def test_the_key_of_a_folder_seals_what_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes from the settings, must be long enough, and is no part of what the folder says of itself."""
    monkeypatch.setenv("KERNEL_SCIENTIST_SPOOL_KEY", "short")
    with pytest.raises(SettingsError, match="a worker's spool key needs at least 16 characters"):
        make_post(load_settings(), f"spool:{tmp_path / 'jobs'}")
    monkeypatch.setenv("KERNEL_SCIENTIST_SPOOL_KEY", TOKEN)
    settings = load_settings()
    post = make_post(settings, f"spool:{tmp_path / 'jobs'}")
    assert TOKEN in settings.secrets()
    assert TOKEN not in repr(vars(post)) + (tmp_path / "jobs" / "spool.json").read_text()


@pytest.mark.parametrize("on", ["spool:/tmp/folder", "worker:host:7000"])
def test_a_worker_is_not_asked_for_shapes_of_ones_own(on: str) -> None:
    refuse_shapes_elsewhere(on, [])
    with pytest.raises(UsageError, match="a worker tests a task's own shapes"):
        refuse_shapes_elsewhere(on, ["n=7"])


@pytest.mark.parametrize("on", ["auto", "lab", "device"])
def test_this_machine_takes_shapes_of_ones_own(on: str) -> None:
    refuse_shapes_elsewhere(on, ["n=7"])
