"""A traced model as a scan: its regions with their times, those alike counted once, the largest gain first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from imports.models.costs import OperatorWork, ReachedRates, operator_work, region_work
from imports.models.fusion import DataFlow, Fusion
from imports.models.graph_regions import GraphRegion, region_of
from imports.models.operator_graph import TracedModel
from imports.models.operator_roles import role_of
from imports.models.region_kinds import kind_of, slug_of
from imports.models.region_text import RegionText, refusal_of, region_text
from records.codec import dumps
from records.model_scan import MEASURED, PREDICTED, ModelRegion, ModelScan, RegionPattern

OperatorTimes = Mapping[str, float]  # of nodes, measured, in microseconds
LIBRARY = {
    "product": "the vendor's library",
    "convolution": "the vendor's library",
    "attention": "a fused attention kernel",
}
LITTLE = 1.005  # of the model's time: less than half a per cent
WORTH = 1.15  # of a library's time over its roofline: less is within what libraries vary by


@dataclass(frozen=True)
class ScannedRegion:
    """A region with its pattern and, where it can be a task, its text."""

    region: ModelRegion
    pattern: RegionPattern
    text: RegionText | None


@dataclass(frozen=True)
class _Alike:
    """Regions that are alike: the first one, its flow, and the work of each operator."""

    flow: DataFlow
    region: GraphRegion
    occurrences: list[GraphRegion]


def scan_model(
    traced: TracedModel,
    rates: ReachedRates,
    source: str,
    kind: str,
    measured: OperatorTimes | None = None,
    device: str = "",
) -> tuple[ModelScan, tuple[ScannedRegion, ...]]:
    """Find the regions of all graphs; times are measured where those of the operators are given."""
    alike = _alike(traced)
    times = [_times_us(entry, rates, measured) for entry in alike.values()]
    total_us = sum(times)
    names = dict[str, int]()
    regions = list[ScannedRegion]()
    for entry, time_us in zip(alike.values(), times, strict=True):
        slug = slug_of(entry.region)
        names[slug] = names.get(slug, 0) + 1
        name = slug if names[slug] == 1 else f"{slug}_{names[slug]}"
        regions.append(_scanned(name, traced.name, entry, rates, time_us, total_us))
    regions.sort(key=lambda r: (-r.region.model_gain, -r.region.time_us, r.region.name))
    scan = ModelScan(
        traced.name,
        source,
        kind,
        PREDICTED if measured is None else MEASURED,
        device or rates.target.name,
        total_us,
        tuple(r.region for r in regions),
        traced.notes,
    )
    return scan, tuple(regions)


def _alike(traced: TracedModel) -> dict[str, _Alike]:
    entries = dict[str, _Alike]()
    for graph in traced.graphs:
        flow = DataFlow(graph)
        for group in Fusion(flow).groups:
            region = region_of(flow, group)
            pattern = region.pattern
            strides = [t.stride for t in region.outputs]
            key = dumps([pattern.nodes, pattern.inputs, pattern.outputs, strides, region.is_constant])
            entries.setdefault(key, _Alike(flow, region, [])).occurrences.append(region)
    return entries


def _times_us(entry: _Alike, rates: ReachedRates, measured: OperatorTimes | None) -> float:
    """Time of all occurrences as the model runs now, an operator a kernel."""
    if measured is None:
        once_us = sum(rates.time_us(operator_work(entry.flow, node)) for node in entry.region.operators)
        return once_us * len(entry.occurrences)
    return sum(measured.get(node.name, 0.0) for region in entry.occurrences for node in region.operators)


def _scanned(
    name: str, model: str, entry: _Alike, rates: ReachedRates, time_us: float, total_us: float
) -> ScannedRegion:
    region, count = entry.region, len(entry.occurrences)
    work = region_work(entry.flow, region)
    roofline_us = min(rates.time_us(work) * count, time_us) if time_us else rates.time_us(work) * count
    gain = total_us / (total_us - time_us + roofline_us) if total_us else 1.0
    refusal = "it follows from weights alone and can be computed once" if region.is_constant else refusal_of(region)
    pattern = region.pattern
    record = ModelRegion(
        name,
        kind_of(region),
        tuple(node.name for node in region.nodes),
        tuple(node.target for node in region.operators),
        pattern.inputs,
        tuple(replace(t, name=region.plain_names[t.name]) for t in region.outputs),
        count,
        time_us,
        time_us / total_us if total_us else 0.0,
        work.bytes * count,
        work.flops * count,
        rates.bound_by(work),
        roofline_us,
        time_us / roofline_us if roofline_us else 0.0,
        gain,
        not refusal,
        refusal or _outlook(region, work, rates, time_us / count, gain),
    )
    occurrences = tuple(tuple(n.name for n in r.nodes) for r in entry.occurrences)
    inputs = tuple(tuple(t.name for t in r.inputs) for r in entry.occurrences)
    full_pattern = replace(pattern, occurrences=occurrences, occurrence_inputs=inputs)
    return ScannedRegion(record, full_pattern, None if refusal else region_text(name, model, region))


def _outlook(region: GraphRegion, work: OperatorWork, rates: ReachedRates, time_us: float, gain: float) -> str:
    """Say what a kernel of one's own could give."""
    roles = [role_of(node) for node in region.operators]
    library = next((LIBRARY[r] for r in roles if r in LIBRARY), "")
    bound = {"hbm": "memory", "compute": "arithmetic", "launch": "its launch"}[rates.bound_by(work)]
    gap = time_us / rates.time_us(work)
    if library and len(roles) == 1:
        if gap < WORTH:
            return f"{library}'s, near the roofline and bound by {bound}: hardly worth a try"
        return f"{library}'s, {gap:.2f}x its roofline and bound by {bound}: worth a try"
    if library:
        extra = len(roles) - 1
        verdict = "hardly worth a try" if gain < LITTLE else "worth a try with a product as fast as the library's"
        return f"{library} with {extra} more kernel{'s' if extra > 1 else ''} beside it: {verdict}"
    if len(roles) == 1:
        return f"one kernel already, bound by {bound}" + (": hardly worth a try" if gain < LITTLE else "")
    return f"{len(roles)} kernels could be one, bound by {bound}" + (": worth little" if gain < LITTLE else "")
