"""What a check of a model found, as a record and as the one sentence that people read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from exports.models.check.speed import Ratio

NO_DEVICE = "no device: times were not compared"


@dataclass(frozen=True)
class OutputCheck:
    """The outputs on drawn inputs: errors against the yardstick as multiples of the model's own, the worst of all."""

    draws: int
    right: bool
    rms_ratio: float  # root mean square error of the applied model over that of eager
    most_ratio: float  # the greatest error, likewise
    yardstick: str  # float64, or float32 where memory does not suffice
    reason: str = ""  # why they are wrong
    rule: str = ""  # by which they are right
    decoding: str = ""  # about greedy decoding, where the model generates


@dataclass(frozen=True)
class KernelEffect:
    """One kernel within the model."""

    name: str
    replaced: int  # places
    kept: int
    reasons: tuple[str, ...] = ()  # why places keep the model's operators
    speed: float = 0.0  # over the region in the fastest mode, both alone; 0: not measured
    region_us: float = 0.0  # the region alone, in the fastest mode
    kernel_us: float = 0.0
    in_model: Ratio | None = None  # of the whole model with it over the model without it
    breaks_graphs: str = ""  # why a CUDA graph of the model cannot be captured with it

    @property
    def is_worthless(self) -> bool:
        """True where the model is surely not faster with it, as far as that was measured."""
        unused = self.replaced == 0
        return unused or bool(self.breaks_graphs) or (self.in_model is not None and self.in_model.low <= 1.0)


@dataclass(frozen=True)
class ModelCheck:
    """The whole answer. Times are medians in microseconds by mode; none were taken where there is no device."""

    model: str
    device: str
    outputs: OutputCheck
    kernels: tuple[KernelEffect, ...]
    times_us: Mapping[str, float]
    failed: Mapping[str, str]  # modes that do not run, with the reason
    fastest: str = ""  # of PyTorch's own modes
    applied: str = ""  # the mode with the kernels
    gain: Ratio | None = None  # over the fastest, with the kernels that help
    forecast: float = 0.0  # the same, from the kernels alone; 0: none
    left_out: tuple[str, ...] = ()
    gain_of_all: Ratio | None = None  # with every kernel, those among them that do not help
    forecast_of_all: float = 0.0

    @property
    def accepted(self) -> bool:
        """True where outputs are right and the model, as far as it was timed, is not slower."""
        return self.outputs.right and (self.gain is None or self.gain.estimate >= 1.0 or self.keeps_none)

    @property
    def keeps_none(self) -> bool:
        """True where no kernel helps, so that the model stays as it was."""
        return bool(self.kernels) and len(self.left_out) == len(self.kernels)

    @property
    def sentence(self) -> str:
        """Say it in one sentence."""
        if not self.outputs.right:
            return f"{self.model}: wrong with the kernels: {self.outputs.reason}"
        parts = [self._model_part()]
        speeds = [f"{kernel.name} {kernel.speed:.2f}x" for kernel in self.kernels if kernel.speed]
        if speeds:
            parts.append(f"kernels alone: {_listed(speeds)}")
        parts += [_advice(kernel) for kernel in self.kernels if kernel.name in self.left_out and kernel.is_worthless]
        if not self.gain:
            parts += [f"{k.name} is used in {k.replaced} places, not in {k.kept}" for k in self.kernels if k.replaced]
            parts += [f"{k.name} is used nowhere{_why(k.reasons)}" for k in self.kernels if not k.replaced]
        parts.append(
            f"outputs right on {self.outputs.draws} draws, their error {self.outputs.rms_ratio:.2f} of eager's"
        )
        return f"{self.model}: {'; '.join(parts)}"

    def _model_part(self) -> str:
        if self.gain is None:
            return NO_DEVICE
        if self.keeps_none:
            return f"stays as it is, in the mode {self.fastest}: no kernel makes it faster"
        forecast = f"; forecast {self.forecast:.3f}" if self.forecast else ""
        return f"{self.gain.text} of the fastest of PyTorch's modes, {self.fastest}{forecast}"


def _advice(kernel: KernelEffect) -> str:
    if kernel.breaks_graphs:
        return f"{kernel.name} breaks under CUDA graphs ({kernel.breaks_graphs}): leave it out"
    if kernel.replaced == 0:
        return f"{kernel.name} is used nowhere{_why(kernel.reasons)}: leave it out"
    return f"without {kernel.name} the model loses nothing: leave it out"


def _why(reasons: Sequence[str]) -> str:
    return f" ({reasons[0]})" if reasons else ""


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def forecast(model_us: float, rows: Sequence[tuple[int, float, float]]) -> float:
    """Compute the model's gain by Amdahl's law from places, the region's time and its kernel's, each in us a call."""
    saved_us = sum(sites * (region_us - kernel_us) for sites, region_us, kernel_us in rows)
    return model_us / max(model_us - saved_us, 1e-9)
