"""Clocks, heat and power: NVML through a library of the same interface, AMD's through a folder of the same files."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.gpu.timing.clocks import ClockSample, open_clocks
from tests.support.c_library import shared_library

PCI = "0000:1b:00.0"
NVML = r"""
#include <string.h>
static int device;
int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* pci, void** handle) {
    *handle = &device;
    return strcmp(pci, "0000:1b:00.0") != 0;
}
int nvmlDeviceGetClockInfo(void* handle, int which, unsigned* mhz) {
    *mhz = which == 1 ? 1980 : 3201;
    return handle != &device || (which != 1 && which != 2);
}
int nvmlDeviceGetTemperature(void* handle, int sensor, unsigned* degrees) { *degrees = 41; return sensor; }
int nvmlDeviceGetCurrentClocksEventReasons(void* handle, unsigned long long* bits) { *bits = 0x24; return 0; }
"""


def test_nvml_is_read_by_pci_address_and_what_it_lacks_is_none() -> None:
    library = shared_library(NVML)
    clocks = open_clocks("nvidia", PCI, library=str(library))
    assert clocks is not None
    sample = clocks.sample()  # the library has no nvmlDeviceGetPowerUsage
    assert sample == ClockSample(1980, 3201, ("power cap", "thermal slowdown"), 41, None)
    assert sample.is_void
    assert str(sample) == "1980 MHz, memory 3201 MHz, 41 C, power cap, thermal slowdown"
    assert open_clocks("nvidia", "0000:2c:00.0", library=str(library)) is None


def test_without_a_library_or_a_folder_there_are_no_clocks(tmp_path: Path) -> None:
    assert open_clocks("nvidia", PCI, library=str(tmp_path / "missing.so")) is None
    assert open_clocks("amd", PCI, root=tmp_path) is None


def amd(root: Path, files: dict[str, str]) -> ClockSample:
    folder = root / "bus" / "pci" / "devices" / PCI
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text + "\n", encoding="ascii")
    clocks = open_clocks("amd", PCI.upper(), root=root)
    assert clocks is not None
    return clocks.sample()


def test_amd_is_read_from_text_files(tmp_path: Path) -> None:
    monitor = "hwmon/hwmon3/"
    sample = amd(
        tmp_path,
        {
            monitor + "freq1_label": "sclk",
            monitor + "freq1_input": "2100000000",
            monitor + "freq2_label": "mclk",
            monitor + "freq2_input": "1300000000",
            monitor + "temp1_input": "45000",
            monitor + "temp2_input": "61000",
            monitor + "temp2_crit": "100000",
            monitor + "power1_input": "432000000",
            monitor + "power1_cap": "750000000",
        },
    )
    assert sample == ClockSample(2100, 1300, (), 61, 432.0)
    assert not sample.is_void


def test_amd_reasons_follow_from_its_own_limits(tmp_path: Path) -> None:
    monitor = "hwmon/hwmon0/"
    capped = {monitor + "power1_average": "749000000", monitor + "power1_cap": "750000000"}
    sample = amd(tmp_path, capped)
    assert sample.throttled == ("power cap",)
    assert not sample.is_void  # how a heavy kernel runs all its life
    hot = amd(tmp_path, {monitor + "temp2_input": "100000", monitor + "temp2_crit": "100000"})
    assert hot.throttled == ("thermal slowdown", "power cap")
    assert hot.is_void


@pytest.mark.parametrize(
    ("text", "mhz"),
    [
        ("0: 132Mhz\n1: 2087Mhz *\n2: 2100Mhz", 2087),
        ("S: 19Mhz *\n0: 500Mhz", 19),
        ("", None),
        ("0: 500Mhz", None),
        ("nonsense *", None),
    ],
)
def test_amd_clocks_without_a_monitor(tmp_path: Path, text: str, mhz: int | None) -> None:
    sample = amd(tmp_path, {"pp_dpm_sclk": text})
    assert (sample.sm_mhz, sample.memory_mhz, sample.power_w) == (mhz, None, None)
