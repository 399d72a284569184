// One candidate: verdict and outcome, source, differences, counters, machine code, prompts and replies.

const SHEETS = [["outcome", "Outcome"], ["source", "Source"], ["changes", "Changes"], ["counters", "Counters"], ["machine", "Machine code"], ["prompts", "Prompts"]];

async function candidateSheet(view, line) {
  const { book, ui } = view, sheet = await data.sheet(book, line.id);
  const chosen = SHEETS.some(([name]) => name === ui.sheet) ? ui.sheet : "outcome";
  const tabs = tabList("parts of the candidate", SHEETS.map(([name, text]) => [name, [text, name === "prompts" && sheet.calls.length ? h("small", {}, ` ${sheet.calls.length}`) : null]]), chosen, "sheet", (name) => { ui.sheet = name; view.sheetAgain(); });
  const show = { outcome, source: sourceTab, changes, counters, machine, prompts }[chosen];
  return [sheetHead(view, line), tabs, h("div", { class: "sheet", role: "tabpanel", id: "sheet", "aria-labelledby": `sheet-tab-${chosen}` }, await show(view, line, sheet))];
}

const link = (view, id) => (id ? h("a", { href: view.address("candidates", id), class: "mono" }, id) : DASH);

function sheetHead(view, line) {
  return h("header", { class: "sheet-head" },
    h("div", {}, h("h2", {}, firstLine(line.title) || line.id), h("p", { class: "note" }, h("span", { class: "mono" }, line.id), " ", tag(line.status),
      line.number ? ` repair ${line.number}` : "", line.parent ? [" from ", link(view, line.parent)] : "", line.picked_as ? ` · picked as ${line.picked_as.replaceAll("_", " ")}` : "", line.at ? ` · ${onDay(line.at)}` : "")),
    line.time_us === null ? null : h("div", { class: "time" }, inUs(line.time_us), h("small", {}, ` ${line.kind}`)));
}

// A range that is wider than its own lower end, and than ten per cent, holds almost any outcome: it is no forecast.
const isForecast = (line) => line.hoped_max_pct - line.hoped_min_pct <= Math.max(10, line.hoped_min_pct);

function forecastVerdict(line, found) {
  if (found < line.hoped_min_pct) return "less than predicted";
  if (found > line.hoped_max_pct) return "more than predicted";
  return isForecast(line) ? "as predicted" : "within a range too wide to be a forecast";
}

function hopeAndOutcome(line) {
  if (line.gain_pct === null || !line.generation) return null;
  if (line.tie) return h("p", {}, `Found ${signed(line.gain_pct)} over the parent: ${line.tie}.`);
  if (!line.hoped_min_pct && !line.hoped_max_pct) return h("p", {}, "Found ", h("b", { class: line.gain_pct >= 0 ? "gain" : "loss" }, signed(line.gain_pct)), " over the parent; no gain was predicted.");
  const low = Math.min(0, line.hoped_min_pct, line.gain_pct), high = Math.max(1, line.hoped_max_pct, line.gain_pct), pad = (high - low) * 0.08;
  const at = (value) => 8 + ((value - low + pad) / (high - low + 2 * pad)) * 304;
  const verdict = forecastVerdict(line, line.gain_pct);
  return h("div", { class: "hope" }, s("svg", { width: 320, height: 38, role: "img", "aria-label": `hoped ${hopeOf(line)}, found ${signed(line.gain_pct)}` },
    s("line", { class: "axis", x1: 8, x2: 312, y1: 18, y2: 18 }), s("line", { class: "axis", x1: at(0), x2: at(0), y1: 12, y2: 24 }),
    s("rect", { class: "hoped", x: at(line.hoped_min_pct), width: Math.max(2, at(line.hoped_max_pct) - at(line.hoped_min_pct)), y: 13, height: 10, rx: 2 }),
    s("circle", { class: line.gain_pct >= 0 ? "found" : "found worse", cx: at(line.gain_pct), cy: 18, r: 5 }),
    s("text", { class: "label", x: at(0), y: 36, "text-anchor": "middle" }, "0 %")),
  h("p", {}, "Predicted ", h("b", {}, hopeOf(line)), ", found ", h("b", { class: line.gain_pct >= 0 ? "gain" : "loss" }, signed(line.gain_pct)), " over the parent: ", verdict, "."));
}

function bullets(title, items) {
  return items.length ? h("div", {}, h("h4", {}, title), h("ul", {}, items.map((item) => h("li", {}, item)))) : null;
}

function outcome(view, line, sheet) {
  const parts = [["idea, tuned over tuned parent", line.gain_pct], ["at equal tunables", line.equal_pct], ["by the tuner", line.tuner_pct], ["shown by undoing it", line.shown_pct]].filter(([, value]) => value !== null && line.generation + (value || 0) !== 0);
  const near = sheet.findings.slice(0, 4).map((finding) => [findingNote(finding), excerptOf(sheet.source, finding.line)]);
  return h("div", { class: "outcome" },
    line.status === "accepted" ? null : h("section", { class: "verdict" }, h("h3", {}, "Why not"), sheet.findings.length ? null : h("p", { class: "loss" }, line.reason || line.status),
      sheet.code && sheet.code !== "OK" ? h("p", { class: "note" }, `Stage ${sheet.stage || DASH}, ${sheet.code}: ${sheet.meaning}.`) : null, near, sheet.findings.length > 4 ? h("p", { class: "note" }, `${sheet.findings.length - 4} more beside their lines in the source`) : null),
    h("section", {}, hopeAndOutcome(line), parts.length ? h("p", { class: "note" }, parts.map(([name, value]) => `${name} ${signed(value)}`).join(" · ")) : null),
    sheet.explanation ? h("p", { class: "lines" }, sheet.explanation) : null,
    bullets("Timed in turns", sheet.contrasts),
    bullets("Judged for another run, and found", sheet.paid_by.map((one) => `${one.purpose}: ${one.run}${one.who ? `, ${one.who}` : ""}${one.at ? `, ${onDay(one.at)}` : ""}`)),
    timesOf(sheet),
    planOf(view, sheet),
    casesTable(sheet));
}

function excerptOf(source, number) {
  const lines = linesOf(source);
  if (number === null || number < 1 || number > lines.length) return null;
  const first = Math.max(1, number - 2), rows = lines.slice(first - 1, number + 2);
  return h("div", { class: "code" }, h("table", {}, h("tbody", {}, rows.map((text, n) => h("tr", { class: first + n === number ? "fault" : "" }, h("td", { class: "no" }, String(first + n)), h("td", { class: "text" }, highlighted(text)))))));
}

function passageOf(view, id) {
  const passage = view.book.literature.find((one) => one.id === id);
  return passage ? `${passage.title}: ${passage.section} (${passage.source})` : id;
}

function planOf(view, sheet) {
  const tunables = Object.entries(sheet.tunables);
  return h("section", {}, h("h3", {}, "Plan and report"), sheet.description ? h("p", {}, sheet.description) : null,
    tunables.length ? h("p", { class: "mono" }, tunables.map(([name, value]) => `${name}=${value}`).join("  ")) : null,
    sheet.inert.length ? h("p", { class: "note" }, `No difference by: ${sheet.inert.join(", ")}`) : null,
    bullets("Rests on", sheet.cites.map((id) => passageOf(view, id))), bullets("Asked for", sheet.rubric), bullets("Done, by the writer's own report", sheet.report), bullets("Left out", sheet.skipped), bullets("Conditions", sheet.arms),
    sheet.critique ? [h("h4", {}, "The critic"), h("p", {}, sheet.critique)] : null,
    sheet.lesson ? [h("h4", {}, sheet.standing ? `Learnt (${sheet.standing})` : "Learnt"), h("p", {}, sheet.lesson)] : null);
}

function casesTable(sheet) {
  if (!sheet.cases.length) return null;
  const right = sheet.cases.filter((one) => one.correct).length;
  return h("details", {}, h("summary", {}, `${right} of ${counted(sheet.cases.length, "verification case")} passed`), table([
    ["case", (one) => one.name, "mono"], ["kind", (one) => one.role.replaceAll("_", " ")], ["verdict", (one) => tag(one.correct ? "right" : "wrong")],
    ["error / baseline's", (one) => (one.error === null ? DASH : digits(one.error, 3)), "n"], ["executed", (one) => inShare(one.executed), "n"], ["compared", (one) => inShare(one.compared), "n"],
    ["", (one) => [one.message, one.stands_for && `stands for ${one.stands_for}`].filter(Boolean).join(" ")],
  ], sheet.cases));
}

async function copied(button, text) {
  try { await navigator.clipboard.writeText(text); button.textContent = "copied"; } catch { button.textContent = "the browser does not allow it"; }
}

function sourceTab(view, line, sheet) {
  const names = countersOf(sheet), counter = names.includes(view.ui.counter) ? view.ui.counter : names[0];
  const loose = sheet.findings.filter((one) => one.line === null);
  return h("div", {}, h("div", { class: "bar-of" }, names.length ? menu("cost by line", names.map((name) => [name, name.replaceAll("_", " ")]), counter, (value) => { view.ui.counter = value; view.sheetAgain(); }) : h("span", { class: "note" }, "no counters by line"),
    h("button", { type: "button", class: "quiet", click: (event) => copied(event.target, sheet.source) }, "copy")),
  loose.map(findingNote), sourceListing(sheet, counter));
}

async function changes(view, line, sheet) {
  const { book, ui } = view, options = [["parent", sheet.parent], ["seed", sheet.seed]].filter(([, id]) => id && id !== line.id && book.lines.some((one) => one.id === id));
  if (!options.length) return h("p", { class: "nothing" }, "This candidate has no parent and no seed before it.");
  const [name, id] = options.find(([one]) => one === ui.against) || options[0], other = await data.sheet(book, id);
  return h("div", {}, h("div", { class: "bar-of" }, choice("compared with", options.map(([one, its]) => [one, `${one} ${its}`]), name, (value) => { ui.against = value; view.sheetAgain(); })), differenceListing(other.source, sheet.source));
}

function counters(view, line, sheet) {
  const before = Object.entries(sheet.kernel_counters), kernels = before.length ? before : [["all kernels", sheet.counters]];
  const names = [...new Set(kernels.flatMap(([, values]) => Object.keys(values)))].sort();
  const resources = sheet.resources.length ? table([
    ["kernel", (r) => r.kernel, "mono"], ["VGPR", (r) => inCount(r.vgpr), "n"], ["AGPR", (r) => inCount(r.agpr), "n"], ["SGPR", (r) => inCount(r.sgpr), "n"], ["LDS B", (r) => inCount(r.lds_bytes), "n"],
    ["scratch B", (r) => inCount(r.scratch_bytes), "n"], ["waves/SIMD", (r) => (r.waves_per_simd ? inCount(r.waves_per_simd) : DASH), "n"],
    ["static instructions", (r) => Object.entries(r.instructions).map(([name, value]) => `${name} ${inCount(value)}`).join(", ") || DASH],
  ], sheet.resources) : null;
  const hot = sheet.hot_lines.length ? table([
    ["line", (one) => String(one.line), "n"], ["kernel", (one) => one.kernel, "mono"], ["source", (one) => h("code", {}, (linesOf(sheet.source)[one.line - 1] || "").trim())],
    ...(sheet.hot_lines.some((one) => one.stall_cause) ? [["stalls on", (one) => one.stall_cause || DASH]] : []),
    ...countersOf(sheet).map((name) => [name.replaceAll("_", " "), (one) => (name in one.shares ? [`${compact(one.counters[name])} `, h("small", {}, inShare(one.shares[name]))] : DASH), "n"]),
  ], sheet.hot_lines) : null;
  return h("div", {}, resources ? h("section", {}, h("h3", {}, "Registers and memory of a kernel"), resources) : null, hot ? h("section", {}, h("h3", {}, "Counters by line"), hot) : null,
    names.length ? h("section", {}, h("h3", {}, "Counters over the benchmark cases"), table([["counter", (name) => name, "mono"], ...kernels.map(([kernel, values]) => [kernel, (name) => inCount(values[name]), "n"])], names)) : null,
    resources || hot || names.length ? null : h("p", { class: "nothing" }, "Nothing was counted for this candidate."));
}

async function machine(view, line, sheet) {
  const found = await data.machine(view.book.head.id, line.id), names = Object.keys(found.kernels);
  if (!names.length) return h("p", { class: "nothing" }, found.refusal || "This candidate has no machine code.");
  const name = names.includes(view.ui.kernel) ? view.ui.kernel : names[0], rows = found.kernels[name], mix = mixOf(rows);
  return h("div", {}, h("div", { class: "bar-of" }, names.length > 1 ? menu("kernel", names.map((one) => [one, one]), name, (value) => { view.ui.kernel = value; view.sheetAgain(); }) : h("span", { class: "mono" }, name), h("span", { class: "note" }, counted(rows.length, "instruction"))),
    h("p", { class: "note" }, mix.map((one) => `${one.group} ${one.all}${one.inLoops ? ` (${one.inLoops} in loops)` : ""}`).join(" · ")), machineListing(rows, sheet.source));
}

async function prompts(view, line, sheet) {
  if (!sheet.calls.length) return h("p", { class: "nothing" }, view.book.calls.length ? "No call to the model is recorded for this candidate." : "This run asked no model.");
  return h("div", {}, sheet.calls.map((number) => callDetails(view, view.book.calls[number])));
}

function callDetails(view, call) {
  if (!call) return null;
  const inside = h("div", { class: "talk" }), details = h("details", { class: "call" },
    h("summary", {}, h("b", {}, call.role), ` ${call.model} `, h("small", {}, `${call.experiment || `generation ${call.generation ?? DASH}`} · ${inCount(call.prompt_tokens)} + ${inCount(call.completion_tokens)} tokens · ${inUsd(call.usd)}${call.at ? ` · ${atClock(call.at)}` : ""}`)), inside);
  details.addEventListener("toggle", async () => {
    if (!details.open || inside.childNodes.length) return;
    const text = await data.call(view.book.head.id, call.number);
    inside.replaceChildren(h("h4", {}, "Prompt"), ...conversation(text.prompt), h("h4", {}, "Reply"), ...(text.reply ? conversation(text.reply).filter(Boolean) : [h("p", { class: "nothing" }, "not answered yet")]));
  });
  return details;
}
