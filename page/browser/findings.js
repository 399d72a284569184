// Strategies, rejected candidates with their reasons, and what was read and learnt.

function grouped(lines, key) {
  const groups = new Map();
  for (const line of lines) {
    const name = key(line) || DASH, held = groups.get(name) || { name, lines: [], accepted: 0, best: null, gains: [] };
    held.lines.push(line);
    if (line.status === "accepted") held.accepted++;
    if (line.time_us !== null && (!held.best || line.time_us < held.best.time_us)) held.best = line;
    if (line.gain_pct !== null && line.generation) held.gains.push(line.gain_pct);
    groups.set(name, held);
  }
  return [...groups.values()].sort((a, b) => (a.best ? a.best.time_us : Infinity) - (b.best ? b.best.time_us : Infinity) || b.lines.length - a.lines.length);
}

function median(values) {
  if (!values.length) return null;
  const sorted = [...values].sort((a, b) => a - b), middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function groupTable(view, heading, groups, kind) {
  return table([
    [heading, (row) => row.name, kind], ["candidates", (row) => inCount(row.lines.length), "n"], ["verified", (row) => inShare(row.accepted / row.lines.length), "n"],
    ["median gain", (row) => h("span", { class: !row.gains.length ? "" : median(row.gains) > 0 ? "gain" : "loss" }, signed(median(row.gains))), "n"], ["fastest", (row) => (row.best ? inUs(row.best.time_us) : DASH), "n"], ["", (row) => (row.best ? link(view, row.best.id) : "")],
  ], groups);
}

const LETTERS = "B threads of a block · L LDS buffers · M matrix instruction · K split over blocks · V bytes of the widest access · S swizzle · W wave collectives · U unrolled · G takes several tiles · T tile (log2) · O waves a SIMD · R spills";

function strategies(view) {
  const tried = view.book.lines.filter((line) => line.generation), ideas = grouped(tried, (line) => firstLine(line.title));
  return h("div", {}, h("h2", {}, "Ideas"), groupTable(view, "idea", ideas), calibration(view),
    h("h2", {}, "Rules that picked them"), groupTable(view, "picked as", grouped(tried, (line) => line.picked_as.replaceAll("_", " "))),
    h("h2", {}, "Strategy codes"), h("p", { class: "note" }, LETTERS), groupTable(view, "code", grouped(view.book.lines, (line) => line.strategy), "mono"));
}

// Predicted gain against the one that was found: on the diagonal a planner is right.
function calibration(view) {
  const lines = view.book.lines.filter((line) => line.gain_pct !== null && line.generation && (line.hoped_min_pct || line.hoped_max_pct));
  if (!lines.length) return null;
  const dots = lines.map((line) => ({ x: (line.hoped_min_pct + line.hoped_max_pct) / 2, y: Math.max(-60, Math.min(120, line.shown_pct ?? line.gain_pct)), state: stateOf(line, view.book), item: line }));
  const verdicts = lines.map((line) => forecastVerdict(line, line.shown_pct ?? line.gain_pct)), told = [...new Set(verdicts)].map((verdict) => `${verdicts.filter((one) => one === verdict).length} ${verdict}`).sort();
  const most = Math.max(...dots.map((dot) => dot.x), 1);
  return h("section", {}, h("h2", {}, "Predicted and found"), h("p", { class: "note" }, `Of ${counted(lines.length, "verified experiment")} with a predicted gain: ${told.join(", ")}.`),
    plot({ height: 280, label: "predicted gain against the one found", dots, lines: [{ state: "guide", isGuide: true, label: "as predicted", points: [{ x: 0, y: 0 }, { x: most, y: most }] }], tip: tipOf, pick: (line) => view.open(line.id),
      x: { label: "middle of the predicted gain, %", format: inCount, low: 0 }, y: { label: "gain found, %", format: inCount } }));
}

function rejected(view) {
  const lines = view.book.lines.filter((line) => line.status !== "accepted" && line.status !== "tried");
  const kinds = grouped(lines, (line) => line.findings[0] ? line.findings[0].replaceAll("_", " ") : line.code && line.code !== "OK" ? line.code : line.status).sort((a, b) => b.lines.length - a.lines.length);
  return h("div", {}, h("h2", {}, counted(lines.length, "candidate was rejected", "candidates were rejected")), lines.length ? null : h("p", { class: "nothing" }, "none"),
    kinds.map((kind, n) => h("details", { open: lines.length <= 60 || n === 0, class: "kind" }, h("summary", {}, h("b", {}, kind.name), ` ${inCount(kind.lines.length)}`), table([
      ["candidate", (row) => link(view, row.id)], ["idea", (row) => firstLine(row.title)], ["stage", (row) => (row.code && row.code !== "OK" ? `${row.stage}, ${row.code}` : row.status)], ["reason", (row) => row.reason, "wide"],
    ], kind.lines))));
}

function learnt(view) {
  const { book } = view, lessons = new Map();
  for (const line of book.lines) if (line.lesson && line.standing !== "refuted" && !lessons.has(line.lesson)) lessons.set(line.lesson, line);
  return h("div", {}, h("h2", {}, "Literature used"), table([
    ["title", (row) => row.title], ["section", (row) => row.section], ["source", (row) => row.source], ["read by", (row) => row.roles.join(", ") || DASH], ["prompts", (row) => inCount(row.times), "n"],
    ["cited by", (row) => (row.cited_by.length ? row.cited_by.map((id, n) => [n ? ", " : "", link(view, `${id}-a0`)]) : "")],
  ], book.literature, { empty: "no passage was looked up" }),
    h("h2", {}, "Lessons"), table([["lesson", (line) => line.lesson, "wide"], ["standing", (line) => (line.standing ? tag(line.standing) : "")], ["from", (line) => link(view, line.id)]], [...lessons.values()], { empty: "none yet" }),
    book.refuted.length ? [h("h2", {}, "Refuted by an ablation"), h("ul", {}, book.refuted.map((text) => h("li", {}, text)))] : null);
}
