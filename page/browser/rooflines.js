// The roofline of one benchmark case with every candidate on it.

// Work is arithmetic where the task has any, else the bytes that it must move.
function roofline(book, name) {
  const { rates } = book, hbm = rates.bandwidths_tb_s.hbm, flops = rates.flops[name], bytes = rates.compulsory_bytes[name];
  if (!hbm || !(flops > 0 || bytes > 0)) return null;
  const isArithmetic = flops > 0, work = isArithmetic ? flops : bytes;
  const dots = [];
  for (const line of book.lines) {
    const timing = line.timings.find((one) => one.case === name);
    if (!timing || line.kind !== book.head.kind) continue;
    const moved = timing.hbm_us > 0 ? timing.hbm_us * hbm * 1e6 : bytes;
    if (moved > 0) dots.push({ x: work / moved, y: work / timing.time_us / 1e6, state: stateOf(line, book), item: line });
  }
  return { isArithmetic, dots, ideal: bytes > 0 ? work / bytes : null, hbm };
}

const FAR = 12; // from the candidates to the ridge, beyond which the drawing begins with the candidates alone

const ridgeOf = (book, found) => (found.isArithmetic && book.rates.peak_tflops ? book.rates.peak_tflops / found.hbm : null);

function roofLines(book, found, isWhole) {
  const { rates } = book, peak = found.isArithmetic ? rates.peak_tflops : 0;
  const xs = [...found.dots.map((dot) => dot.x), found.ideal || 1, ...(isWhole && peak ? [peak / found.hbm] : [])];
  const room = isWhole ? 2.5 : 1.6, low = Math.min(...xs) / room, high = Math.max(...xs) * room;
  const lines = Object.entries(rates.bandwidths_tb_s).sort((a, b) => a[1] - b[1]).map(([level, speed]) => {
    const end = peak ? Math.min(high, peak / speed) : high;
    return { state: level === "hbm" ? "roof" : "guide", isGuide: level !== "hbm", label: `${level.toUpperCase()} ${digits(speed, 3)} TB/s`, points: [{ x: low, y: low * speed }, { x: end, y: end * speed }] };
  });
  if (peak && high > peak / found.hbm) lines.push({ state: "roof", label: `${rates.peak.replaceAll("_", " ")} ${digits(peak, 4)} TFLOP/s`, points: [{ x: peak / found.hbm, y: peak }, { x: high, y: peak }] });
  return { lines, low, high };
}

const casesTimed = (book) => [...new Set(book.lines.flatMap((line) => line.timings.map((one) => one.case)))];

function slowestCase(book) {
  const slowest = book.shapes.reduce((a, b) => (a && a.measurement.time_us >= b.measurement.time_us ? a : b), null);
  return slowest ? slowest.measurement.case : casesTimed(book)[0];
}

function isFarFromRidge(book, found) {
  const ridge = ridgeOf(book, found);
  return Boolean(ridge) && Math.min(...found.dots.map((dot) => dot.x)) * FAR < ridge;
}

// The drawing for one case; where the work of the task is not known, the share of the roofline in its place.
function rooflineOf(view, name, height, isWhole, isPlain = false) {
  const { book } = view, found = roofline(book, name);
  if (!found || !found.dots.length) return shares(view, name, height);
  const { lines, low, high } = roofLines(book, found, isWhole ?? !isFarFromRidge(book, found)), unit = found.isArithmetic ? "TFLOP/s" : "TB/s";
  const isCounted = book.lines.some((line) => line.timings.some((one) => one.hbm_us > 0));
  return h("div", {}, plot({
    height, label: `roofline of ${name}, ${counted(found.dots.length, "candidate")}`, dots: found.dots, lines: isPlain ? lines.filter((line) => !line.isGuide) : lines, tip: (line) => rooflineTip(line, name), pick: (line) => view.open(line.id),
    x: { label: found.isArithmetic ? "FLOP per byte of HBM traffic (log)" : "necessary bytes per byte of HBM traffic (log)", format: compact, isLog: true, low, high },
    y: { label: `${found.isArithmetic ? "" : "necessary bytes, "}${unit}, ${book.head.kind} (log)`, format: compact, isLog: true },
  }), h("p", { class: "note" }, "Case ", h("span", { class: "mono" }, name), ". ", isCounted ? "Traffic is what the lab counts for each candidate; up is faster, right is less traffic." : "Nobody counted the traffic of these candidates: it is taken to be what the task needs at least.",
    ` A perfect kernel stands at ${digits(found.ideal || 1, 3)} under the roof.`));
}

function rooflineView(view) {
  const { book, ui } = view, names = casesTimed(book), title = h("h2", {}, "Roofline, every candidate");
  if (!names.length) return h("div", {}, title, h("p", { class: "nothing" }, "Nothing was timed yet."));
  const name = names.includes(ui.case) ? ui.case : slowestCase(book), found = roofline(book, name);
  const pick = names.length > 1 ? menu("case", names.map((one) => [one, one]), name, (value) => { ui.case = value; view.again(); }) : h("span", { class: "mono" }, name);
  if (!found || !found.dots.length) return h("div", {}, h("div", { class: "bar-of" }, title, pick), shares(view, name, 420));
  const zoom = ui.zoom || (isFarFromRidge(book, found) ? "near" : "whole");
  const zooms = ridgeOf(book, found) ? choice("part of the roof", [["near", "candidates"], ["whole", "whole roof"]], zoom, (value) => { ui.zoom = value; view.again(); }) : null;
  return h("div", {}, h("div", { class: "bar-of" }, title, zooms, pick), rooflineOf(view, name, 460, zoom === "whole"), boundBy(view, name));
}

function rooflineTip(line, name) {
  const timing = line.timings.find((one) => one.case === name);
  return [h("b", {}, line.id), h("div", {}, firstLine(line.title)), h("div", {}, `${inUs(timing.time_us)} here, ${inShare(timing.roofline_us ? timing.roofline_us / timing.time_us : null)} of the roofline`), line.bound ? h("div", {}, `bound by ${line.bound}`) : null].filter(Boolean);
}

// Where the work of the task is not known: the share of the roofline in the order of the candidates.
function shares(view, name, height) {
  const { book } = view, dots = [];
  book.lines.forEach((line, n) => {
    const timing = line.timings.find((one) => one.case === name);
    if (timing && timing.roofline_us) dots.push({ x: n + 1, y: timing.roofline_us / timing.time_us, state: stateOf(line, book), item: line });
  });
  if (!dots.length) return h("p", { class: "nothing" }, "No roofline is known for this case.");
  return h("div", {}, plot({ height, label: "share of the roofline", dots, tip: (line) => rooflineTip(line, name), pick: (line) => view.open(line.id),
    x: { label: "candidates", format: inCount }, y: { label: "share of the roofline", format: inShare, low: 0, high: 1 } }),
  h("p", { class: "note" }, "The task or its target is not at hand, so its work is not known: the share of the roofline instead."));
}

function boundBy(view, name) {
  const groups = new Map();
  for (const line of view.book.lines) {
    if (!line.bound) continue;
    const held = groups.get(line.bound) || { id: "", bound: line.bound, count: 0, best: null };
    held.count++;
    if (!held.best || line.time_us < held.best.time_us) held.best = line;
    groups.set(line.bound, held);
  }
  return groups.size ? h("section", {}, h("h3", {}, "What binds the slowest case"), table([
    ["resource", (row) => row.bound], ["candidates", (row) => inCount(row.count), "n"], ["fastest", (row) => inUs(row.best.time_us), "n"], ["", (row) => link(view, row.best.id)],
  ], [...groups.values()].sort((a, b) => b.count - a.count))) : null;
}
