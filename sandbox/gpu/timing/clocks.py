"""Clocks, heat, power and reasons for slowing down of one GPU: NVML on NVIDIA's, text files on AMD's.

Read between batches of windows, never inside one: a query takes up to milliseconds. What cannot be read is None, and
nothing here is ever an error: a GPU without these readings is still timed, only with less evidence.

Void are samples taken while the hardware protects itself: heat (hardware or software), a power brake, or the general
slowdown, each of which halves clocks at unforeseeable moments. A power cap is not: it is how a heavy kernel runs all
its life, and pairs cancel it. Clocks that somebody has set, synchronised boost and idling are not either.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

POWER_CAP, HEAT, SLOWDOWN, BRAKE = "power cap", "thermal slowdown", "hardware slowdown", "power brake"
HARD_HEAT = "hardware thermal slowdown"
VOID = frozenset({HEAT, SLOWDOWN, BRAKE, HARD_HEAT})
REASONS = {  # bits of nvml.h
    0x02: "clocks set by an application",
    0x04: POWER_CAP,
    0x08: SLOWDOWN,
    0x10: "synchronised boost",
    0x20: HEAT,
    0x40: HARD_HEAT,
    0x80: BRAKE,
    0x100: "clocks set for a display",
}
_NVML = ("libnvidia-ml.so.1", "libnvidia-ml.so")
_SM, _MEMORY, _GPU_TEMPERATURE = 1, 2, 0
_AT_CAP = 0.98  # of the allowed power


@dataclass(frozen=True)
class ClockSample:
    """One reading of a GPU's clocks and of what slows it down."""

    sm_mhz: int | None = None
    memory_mhz: int | None = None
    throttled: tuple[str, ...] = ()  # in words; those of VOID spoil a sample
    temperature_c: int | None = None
    power_w: float | None = None

    @property
    def is_void(self) -> bool:
        """Times taken now show nothing of the kernel."""
        return not VOID.isdisjoint(self.throttled)

    def __str__(self) -> str:
        words = [
            f"{self.sm_mhz} MHz" if self.sm_mhz else "",
            f"memory {self.memory_mhz} MHz" if self.memory_mhz else "",
            f"{self.temperature_c} C" if self.temperature_c is not None else "",
            f"{self.power_w:.0f} W" if self.power_w is not None else "",
            *self.throttled,
        ]
        return ", ".join(word for word in words if word)


class Clocks(Protocol):
    """A GPU whose clocks can be read."""

    def sample(self) -> ClockSample:
        """Read everything there is."""
        ...


def open_clocks(vendor: str, pci: str, *, library: str | None = None, root: Path = Path("/sys")) -> Clocks | None:
    """Open the readings of the GPU at a PCI address such as 0000:1b:00.0; None where there are none.

    By address and not by number: CUDA_VISIBLE_DEVICES renumbers for the driver but not for NVML.
    """
    if vendor == "nvidia":
        return _nvml(pci, library)
    folder = root / "bus" / "pci" / "devices" / pci.lower()
    return AmdClocks(folder) if folder.is_dir() else None


class NvmlClocks:
    """The clocks of an NVIDIA GPU, from NVML."""

    def __init__(self, library: ctypes.CDLL, handle: ctypes.c_void_p) -> None:
        self._library, self._handle = library, handle

    def sample(self) -> ClockSample:
        """Read everything there is."""
        milliwatts, bits = self._number("nvmlDeviceGetPowerUsage"), self._bits()
        return ClockSample(
            self._number("nvmlDeviceGetClockInfo", _SM),
            self._number("nvmlDeviceGetClockInfo", _MEMORY),
            tuple(word for bit, word in REASONS.items() if bits & bit),
            self._number("nvmlDeviceGetTemperature", _GPU_TEMPERATURE),
            None if milliwatts is None else milliwatts / 1e3,
        )

    def _number(self, name: str, *arguments: int) -> int | None:
        value = ctypes.c_uint()
        function = getattr(self._library, name, None)
        if function is None or function(self._handle, *arguments, ctypes.byref(value)):
            return None
        return value.value

    def _bits(self) -> int:
        for name in ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"):
            bits, function = ctypes.c_ulonglong(), getattr(self._library, name, None)
            if function is not None and function(self._handle, ctypes.byref(bits)) == 0:
                return bits.value
        return 0


def _nvml(pci: str, path: str | None) -> NvmlClocks | None:
    for name in (path,) if path else _NVML:
        try:
            library = ctypes.CDLL(name)
            handle = ctypes.c_void_p()
            if (
                library.nvmlInit_v2() == 0
                and library.nvmlDeviceGetHandleByPciBusId_v2(pci.encode(), ctypes.byref(handle)) == 0
            ):
                return NvmlClocks(library, handle)
        except (OSError, AttributeError):
            continue
    return None


class AmdClocks:
    """The clocks of an AMD GPU, from its PCI folder: `hwmon` holds clocks in Hz, heat in m°C and power in uW."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def sample(self) -> ClockSample:
        """Read everything there is. The driver gives no reasons in text: they follow from its own limits."""
        monitor = next(iter(sorted(self._folder.glob("hwmon/hwmon*"))), self._folder)
        hottest, reasons = None, []
        for file in sorted(monitor.glob("temp*_input")):
            degrees, limit = _read(file), _read(file.with_name(file.name.replace("_input", "_crit")))
            if degrees is not None and (hottest is None or degrees > hottest):
                hottest = degrees
            if degrees is not None and limit and degrees >= limit and HEAT not in reasons:
                reasons.append(HEAT)
        power, cap = _read(monitor / "power1_average"), _read(monitor / "power1_cap")
        power = _read(monitor / "power1_input") if power is None else power
        if power is not None and cap and power >= _AT_CAP * cap:
            reasons.append(POWER_CAP)
        return ClockSample(
            self._clock(monitor, "sclk"),
            self._clock(monitor, "mclk"),
            tuple(reasons),
            None if hottest is None else hottest // 1000,
            None if power is None else power / 1e6,
        )

    def _clock(self, monitor: Path, label: str) -> int | None:
        for file in sorted(monitor.glob("freq*_label")):
            if _text(file) == label:
                hertz = _read(file.with_name(file.name.replace("_label", "_input")))
                return None if hertz is None else hertz // 1_000_000
        for line in _text(self._folder / f"pp_dpm_{label}").splitlines():  # "1: 2100Mhz *" is the present one
            digits = line.partition(":")[2].lower().partition("mhz")[0].strip()
            if line.endswith("*") and digits.isdigit():
                return int(digits)
        return None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


def _read(file: Path) -> int | None:
    text = _text(file)
    return int(text) if text.lstrip("-").isdigit() else None
