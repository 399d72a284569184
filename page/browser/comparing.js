// All runs, and two of them side by side.

const BEGINNINGS = [["kernel-scientist optimise FILE", "makes a kernel, or a function of PyTorch or NumPy, of yours faster"], ["kernel-scientist demo", "speeds up a softmax kernel in a minute: no key, no GPU"]];

// What the list of runs shows before the first one.
function noRuns() {
  return h("section", { class: "empty" }, h("h1", {}, "No runs yet"), h("p", {}, "Start one in another terminal, in the same folder. It appears here by itself when it begins."),
    h("dl", { class: "pairs" }, BEGINNINGS.map(([words, does]) => [h("dt", {}, h("kbd", {}, words)), h("dd", {}, does)])));
}

function runList(view) {
  if (!view.runs.length) return noRuns();
  const { runs, ui } = view, chosen = ui.chosen || (ui.chosen = []);
  const toggle = (id, event) => {
    event.stopPropagation();
    ui.chosen = chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id].slice(-2);
    view.again();
  };
  const words = (ui.search || "").toLowerCase(), shown = runs.filter((run) => !words || `${run.id} ${run.task} ${run.target} ${run.author} ${run.status}`.toLowerCase().includes(words));
  const search = h("input", { type: "search", placeholder: "filter runs", "aria-label": "filter", value: ui.search || "", input: (event) => { ui.search = event.target.value; view.again(); } });
  return h("div", {}, h("div", { class: "bar-of" }, h("h1", {}, counted(runs.length, "run")), search,
    h("button", { type: "button", disabled: chosen.length !== 2, click: () => view.go(`#/compare/${chosen.map(encodeURIComponent).join("/")}`) }, "compare the two chosen")),
  table([
    ["", (run) => h("input", { type: "checkbox", "aria-label": `choose ${run.id}`, checked: chosen.includes(run.id), click: (event) => toggle(run.id, event) })],
    ["run", (run) => h("a", { class: "mono", href: `#/run/${encodeURIComponent(run.id)}`, title: `begun ${onDay(run.created_at)}` }, run.id)], ["task", (run) => run.task, "far"], ["target", (run) => run.target, "far"], ["on", (run) => run.on, "far"], ["author", (run) => run.author, "far"],
    ["status", (run) => h("span", { title: run.stop_reason }, tag(run.status), run.pause ? ` ${run.pause}` : "")], ["generation", (run) => (run.of_generations ? `${run.generations} / ${run.of_generations}` : String(run.generations)), "n"],
    ["candidates", (run) => inCount(run.candidates), "n"], ["verified", (run) => inCount(run.accepted), "n"], ["best", (run) => inUs(run.best_us), "n"], ["", (run) => h("small", {}, run.kind)],
    ["gain", (run) => inTimes(run.headline.gain), "n"], ["over", (run) => (run.headline.over ? OVER[run.headline.over] : ""), "far"], ["USD", (run) => inUsd(run.usd), "n"],
  ], shown, { open: (run) => view.go(`#/run/${encodeURIComponent(run.id)}`), kind: (run) => (run.id === ui.cursor ? "cursor" : ""), empty: "no run matches" }));
}

const inFull = (books, read, format) => books.map((book) => format(read(book)));

async function comparison(view, ids) {
  const books = await Promise.all(ids.map((id) => data.book(id))), { ui } = view, [a, b] = books;
  const axes = X_AXES.filter(([name]) => books.every((book) => axesOf(book).some(([one]) => one === name))), axis = axes.some(([name]) => name === ui.axis) ? ui.axis : "count";
  const courses = books.map((book) => courseOf(book, axis)), names = ["a", "b"], isOneKind = a.head.kind === b.head.kind;
  const rows = [
    ["task", (book) => book.head.task], ["target", (book) => book.head.target], ["author", (book) => book.head.author], ["on", (book) => book.head.on], ["status", (book) => book.head.status],
    ["best", (book) => `${inUs(book.head.best_us)} ${book.head.kind}`], ["gain", (book) => book.head.headline.text], ["changed", (book) => book.head.headline.change || DASH],
    ["candidates, verified", (book) => `${inCount(book.head.candidates)}, ${inCount(book.head.accepted)}`], ["candidates until the best", (book) => inCount(1 + courseOf(book, "count").dots.findIndex((dot) => dot.item.id === book.head.best_id))],
    ["cost", (book) => inUsd(book.head.usd)], ["time", (book) => inSeconds(between(book.head.created_at, book.head.seen_at || book.head.created_at))],
  ];
  const settings = [...new Set(books.flatMap((book) => Object.keys(book.config)))].filter((name) => a.config[name] !== b.config[name]).map((name) => [name, (book) => String(book.config[name] ?? DASH)]);
  const curves = isOneKind && courses.every((course) => course.stairs.length);
  return h("div", { class: "compare" }, h("div", { class: "bar-of" }, h("h1", {}, "Two runs"), axes.length > 1 && curves ? choice("horizontal axis", axes, axis, (value) => { ui.axis = value; view.again(); }) : null),
    curves ? plot({
      height: 340, label: "best time so far of both runs", tip: tipOf, pick: (line) => { const book = books.find((one) => one.lines.includes(line)); view.go(`#/run/${encodeURIComponent(book.head.id)}/candidates/${encodeURIComponent(line.id)}`); },
      dots: courses.flatMap((course, n) => course.dots.filter((dot) => dot.y !== null).map((dot) => ({ ...dot, state: n ? "second" : dot.item.is_record ? "record" : "accepted" }))),
      stairs: courses.map((course, n) => ({ points: course.stairs, state: n ? "second" : "best", label: names[n] })), x: xAxis(axis), y: { label: `${a.head.kind} time (log)`, format: (v) => shortest(inUs(v)), isLog: true },
    }) : h("p", { class: "note" }, isOneKind ? "One of the two has no time yet." : "One was measured and the other predicted: the two kinds of time are never compared."),
    table([["", ([name]) => name], ...books.map((book, n) => [h("span", {}, h("b", { class: n ? "second" : "first" }, names[n]), " ", h("a", { class: "mono", href: `#/run/${encodeURIComponent(book.head.id)}` }, book.head.id)), ([, read]) => read(book)])], [...rows, ...settings]),
    isOneKind ? casesSideBySide(books) : null, await bestSources(books));
}

function casesSideBySide(books) {
  const [a, b] = books.map((book) => new Map(book.shapes.map((shape) => [shape.measurement.case, shape.measurement]))), names = [...a.keys()].filter((name) => b.has(name));
  return names.length ? h("section", {}, h("h2", {}, "Cases of both"), table([
    ["case", (name) => name, "mono"], ["a", (name) => inUs(a.get(name).time_us), "n"], ["b", (name) => inUs(b.get(name).time_us), "n"], ["a over b", (name) => inTimes(b.get(name).time_us / a.get(name).time_us), "n"],
    ["", (name) => (isTie(a.get(name), b.get(name)) ? "equal within the clock's error" : "")],
  ], names)) : null;
}

async function bestSources(books) {
  if (!books.every((book) => book.head.best_id)) return null;
  const [a, b] = await Promise.all(books.map((book) => data.sheet(book, book.head.best_id)));
  return h("section", {}, h("h2", {}, "From the best of a to the best of b"), differenceListing(a.source, b.source));
}
