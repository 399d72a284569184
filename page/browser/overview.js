// One run at a glance: its story, the best time so far, its best candidate's cases, and what happens now.

const X_AXES = [["count", "candidates"], ["time", "time"], ["cost", "cost"]];

// The dots of a run by the chosen axis, in the order in which they were recorded.
function courseOf(book, axis) {
  const start = book.head.created_at || (book.lines.find((line) => line.at) || {}).at || "";
  const ordered = book.lines.some((line) => line.at) ? [...book.lines].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)) : book.lines;
  const dots = [], stairs = [];
  ordered.forEach((line, n) => {
    const x = axis === "count" ? n + 1 : axis === "time" ? (line.at && start ? between(start, line.at) / 60 : null) : line.usd;
    if (x === null) return;
    const isTimed = line.time_us !== null && line.kind === book.head.kind && line.status === "accepted";
    dots.push({ x, y: isTimed ? line.time_us : null, state: stateOf(line, book), item: line });
    if (isTimed && line.is_record && (!stairs.length || line.time_us < stairs[stairs.length - 1].y)) stairs.push({ x, y: line.time_us });
  });
  return { dots, stairs };
}

function xAxis(axis) {
  if (axis === "time") return { label: "minutes since the run began", format: (v) => inCount(v), low: 0 };
  if (axis === "cost") return { label: "USD paid to the model", format: (v) => inUsd(v), low: 0 };
  return { label: "candidates judged", format: (v) => (Number.isInteger(v) ? inCount(v) : "") };
}

function axesOf(book) {
  const hasTime = book.lines.some((line) => line.at), hasCost = book.head.usd > 0 && book.lines.some((line) => line.usd !== null);
  return X_AXES.filter(([name]) => name === "count" || (name === "time" ? hasTime : hasCost));
}

function tipOf(line) {
  const found = line.gain_pct === null ? null : h("div", {}, `hoped ${hopeOf(line)}, found ${signed(line.gain_pct)}`);
  return [h("b", {}, line.id), " ", tag(line.status), h("div", {}, firstLine(line.title)),
    h("div", {}, line.time_us === null ? line.reason : `${inUs(line.time_us)} ${line.kind}${line.over_seed ? `, ${inTimes(line.over_seed)} the best seed` : ""}`), found];
}

const hopeOf = (line) => (line.hoped_min_pct || line.hoped_max_pct ? `${line.hoped_min_pct.toFixed(0)}–${line.hoped_max_pct.toFixed(0)} %` : DASH);

function curve(view) {
  const { book, ui } = view, axes = axesOf(book), axis = axes.some(([name]) => name === ui.axis) ? ui.axis : "count";
  const { dots, stairs } = courseOf(book, axis);
  if (!stairs.length) return h("p", { class: "nothing" }, book.lines.length ? "No candidate was timed yet." : "There is no candidate yet.");
  const lines = book.roofline_us ? [{ isGuide: false, isLeft: true, state: "light", label: `roofline ${inUs(book.roofline_us)}`, points: [{ x: Math.min(...dots.map((d) => d.x)), y: book.roofline_us }, { x: Math.max(...dots.map((d) => d.x)), y: book.roofline_us }] }] : [];
  return h("div", {},
    h("div", { class: "bar-of" }, h("h2", {}, `Best time so far, ${book.head.kind}`), axes.length > 1 ? choice("horizontal axis", axes, axis, (value) => { ui.axis = value; view.again(); }) : null),
    plot({
      height: 320, label: "best time so far", dots, lines, stairs: [{ points: stairs, state: "best" }], tip: tipOf, pick: (line) => view.open(line.id),
      x: xAxis(axis), y: { label: `${book.head.kind} time, geometric mean (log)`, format: (v) => shortest(inUs(v)), isLog: true },
    }));
}

function figuresOf(book, words) {
  const { head } = book, { gain } = head.headline, isNew = (speedup) => speedup !== null && (gain === null || Math.abs(speedup / gain - 1) > 0.005); // else it stands at the head
  return h("section", {}, h("h2", {}, "The run in figures"), h("dl", { class: "figures" },
    figure(["best, ", head.kind || "no time"], inUs(head.best_us), besideExpected(book.shapes.map((row) => row.measurement))),
    isNew(head.over_seed) ? figure(["over the best ", words.word("seed"), ", tuned"], inTimes(head.over_seed)) : null,
    isNew(head.over_naive) ? figure(["over the ", words.word("naive")], inTimes(head.over_naive)) : null,
    figure([words.word("candidate", "candidates")], inCount(head.candidates), [inCount(head.accepted), " ", words.word("verified")]),
    figure([words.word("generation")], `${head.generations}`, head.of_generations ? `of ${head.of_generations}` : ""),
    figure("cost", inUsd(head.usd), head.calls ? counted(head.calls, "call") : "no calls to a model"),
    figure("time", head.seen_at ? inSeconds(between(head.created_at, head.seen_at)) : DASH)));
}

function casesOf(book, words) {
  if (!book.shapes.length) return null;
  return h("section", {}, h("h2", {}, "Benchmark cases of the best candidate"), table([
    ["case", (row) => row.measurement.case, "mono"],
    [timeHeading(book.shapes.map((row) => row.measurement)), (row) => inUs(row.measurement.time_us), "n"],
    ...expectedColumns(book.shapes.map((row) => row.measurement), (row) => row.measurement, words),
    ["best seed", (row) => inUs(row.seed_us), "n"],
    ["speed-up", (row) => (row.seed_us ? inTimes(row.seed_us / row.measurement.time_us) : DASH), "n"],
    ["of the roofline", (row) => (row.measurement.roofline_us ? [meter(row.measurement.roofline_us / row.measurement.time_us), inShare(row.measurement.roofline_us / row.measurement.time_us)] : DASH), "n"],
    ["bound by", (row) => words.word(row.measurement.bound) || DASH],
  ], book.shapes), book.coverage ? h("p", { class: "note" }, book.coverage) : null);
}

const SAID = {
  generation: (p) => `generation ${p.generation}${p.of ? ` of ${p.of}` : ""}`,
  selected: (p) => `building on ${p.base}: ${p.why}`,
  planned: (p) => (p.experiments ? `planned ${p.experiments}` : "nothing was planned"),
  stage: (p, names) => (p.experiment ? `${p.experiment} ` : "") + (names[p.stage] || p.stage),
  attempt: (p) => `${p.attempt} ${p.status}${p.geomean_us ? `, ${inUs(p.geomean_us)}` : p.reason ? `: ${p.reason}` : ""}`,
  driving: () => "a process took up the run",
  driven: (p) => `the process let it go after ${inSeconds(p.wall_seconds)}`,
  best: (p) => `best so far ${inUs(p.best_us)} (${p.attempt})`,
  stopped: (p) => `stopped: ${p.reason}`,
  literature: (p) => `read ${p.title}: ${p.section}`,
  shared: (p) => `found the ${p.purpose} of ${p.run}${p.who ? `, paid for by ${p.who}` : ""}${p.at ? ` on ${onDay(p.at)}` : ""}`,
  warning: (p) => `warning: ${p.message}`,
};

function sentenceOf(event, names) {
  const say = SAID[event.kind];
  return say ? say(event.payload, names) : `${event.kind} ${Object.entries(event.payload).map(([name, value]) => `${name} ${value}`).join(", ")}`;
}

function activity(view) {
  const events = view.events.filter((event) => event.kind !== "step").slice(-60).reverse(); // a step of a server: for forks alone
  return h("section", { class: "activity" }, h("h2", {}, data.isLive ? "Diary" : "End of the diary"),
    h("ol", { class: "diary keeps", tabindex: "0", "aria-label": "diary" }, events.map((event) => h("li", { class: `e-${event.kind.replace(/\W/g, "")}` }, h("time", {}, atClock(event.at)), h("span", {}, sentenceOf(event, view.book.stage_names)))),
      events.length ? null : h("li", { class: "nothing" }, "nothing yet")));
}

function pairs(title, record) {
  const rows = Object.entries(record).filter(([, value]) => value !== null && value !== "");
  return rows.length ? h("details", {}, h("summary", {}, title), h("dl", { class: "pairs" }, rows.map(([name, value]) => [h("dt", {}, name), h("dd", {}, String(value))]))) : null;
}

function standing(head) {
  const goesOn = `\`kernel-scientist resume ${head.id}\` goes on.`;
  if (head.status === "stopped") return `Stopped: no process is at work on it; ${goesOn}`;
  return head.stop_reason && `${head.status === "paused" ? "Paused" : "Ended"}: ${head.stop_reason}. ${head.status === "paused" ? goesOn : ""}`;
}

async function overview(view) {
  const { book } = view, { head } = book, words = new Glossary();
  const story = [headline(view, words), await changeSection(view, words), h("section", { class: "course" }, curve(view)), gapSection(view, words)];
  const after = [casesOf(book, words), figuresOf(book, words), foretoldOf(book)];
  return h("div", { class: "overview" },
    h("div", { class: "story" }, story),
    h("div", { class: "columns" }, h("div", {}, after), activity(view)),
    h("section", { class: "about" }, h("h2", {}, "About this run"),
      book.task_description ? h("details", {}, h("summary", {}, `Task: ${book.task_title || head.task}`), h("pre", { class: "said" }, book.task_description)) : null,
      pairs("Settings", { target: book.target_title || head.target, on: head.on, author: head.author, seed: book.seed, ...book.config }),
      stageTimes(book),
      pairs("Environment", { ...book.environment, "isolation of compiler and kernels": book.isolation }),
      h("details", { open: true }, h("summary", {}, "Words on this page"), words.list())));
}
