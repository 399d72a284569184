// Addresses, keys and what is new: `#/`, `#/run/ID/VIEW`, `#/run/ID/candidates/CANDIDATE`, `#/compare/A/B`.

const VIEWS = [["overview", "Overview", overview], ["candidates", "Candidates", null], ["roofline", "Roofline", rooflineView], ["strategies", "Strategies", strategies], ["rejected", "Rejected", rejected], ["learnt", "Learnt", learnt], ["spend", "Spend", spending]];
const KEYS = [["j k", "next, previous candidate or run"], ["enter", "open it"], ["1 to 7", "views of a run"], ["[ ]", "parts of a candidate"], ["b", "the best candidate"], ["p", "its parent"], ["/", "filter"], ["u", "all runs"], ["esc", "back"], ["?", "this help"]];
const LEAST_MS = 1200; // between two readings of a run that is going on

const app = {
  main: h("main", { id: "main", tabindex: "-1" }), bar: h("header", { class: "top" }), state: h("span", { class: "state", role: "status" }), step: h("span", { class: "step" }),
  uis: new Map(), stream: null, book: null, place: null, candidates: null, events: [],
};

function placeOf(hash) {
  const [kind, ...rest] = hash.replace(/^#\/?/, "").split("/").map((part) => { try { return decodeURIComponent(part); } catch { return part; } });
  if (kind === "run" && rest[0]) return { kind, run: rest[0], view: VIEWS.some(([name]) => name === rest[1]) ? rest[1] : "overview", candidate: rest[2] || "" };
  if (kind === "compare" && rest.length >= 2) return { kind, runs: rest.slice(0, 2) };
  return { kind: "runs" };
}

function uiOf(key) {
  if (!app.uis.has(key)) app.uis.set(key, {});
  return app.uis.get(key);
}

function viewOf() {
  const { place } = app, run = place.run;
  return {
    book: app.book, events: app.events, runs: app.runs, ui: uiOf(place.run || place.kind),
    address: (view, candidate) => `#/run/${encodeURIComponent(run)}/${view}${candidate ? `/${encodeURIComponent(candidate)}` : ""}`,
    open(id, isStep) { const to = this.address("candidates", id); isStep ? replaceHash(to) : this.go(to); },
    go(to) { location.hash = to; }, again: () => show(), sheetAgain: () => app.candidates && app.candidates.sheetAgain(),
  };
}

function replaceHash(to) {
  history.replaceState(null, "", to);
  route();
}

async function route() {
  const place = placeOf(location.hash), isSame = app.place && app.place.kind === place.kind && app.place.run === place.run;
  if (embedded && place.kind !== "run") return replaceHash(`#/run/${encodeURIComponent(embedded.head.id)}`);
  const before = app.place;
  app.place = place;
  try {
    if (place.kind === "run") { if (!isSame || !app.book) await openRun(place.run); }
    else { app.book = null; app.candidates = null; if (place.kind === "runs") await openRuns(); else follow(null); }
    if (app.place !== place) return;
    const isStep = isSame && before && before.view === place.view && place.view === "candidates" && app.candidates;
    if (isStep) { masthead(); await app.candidates.choose(place.candidate); }
    else { app.candidates = null; await show(); window.scrollTo(0, 0); }
  } catch (error) {
    if (app.place === place) { masthead(); app.main.replaceChildren(h("p", { class: "loss" }, error.message), data.isLive ? h("p", {}, h("a", { href: "#/" }, "all runs")) : ""); }
  }
}

async function openRun(id) {
  app.book = null;
  const book = await data.book(id);
  app.book = book;
  app.events = book.events;
  follow(id, book.row);
}

async function openRuns() {
  const found = await data.runs();
  app.runs = found.runs;
  follow("", found.row);
}

function follow(run, row) {
  if (app.stream) app.stream.close();
  app.stream = null;
  app.state.textContent = "";
  if (!data.isLive || run === null) return;
  app.stream = new Stream(run, row, (name, value) => take(run, name, value), (state, said) => { app.state.className = `state ${state}`; stateText(state, said); });
}

function stateText(state, said) {
  const head = app.book && app.book.head, isOn = !head || head.status === "running";
  app.state.textContent = state === "lost" ? said || "connection lost, trying again" : isOn ? "live" : "";
}

// One row of the ledger: into the diary at once; the run is read again soon, and not more often than it helps.
function take(run, name, value) {
  if ((app.place.run || "") !== run) return;
  if (name === "row" && app.book && !app.events.some((event) => event.number === value.number)) app.events = [...app.events, value].slice(-200);
  if (name === "standing" && !standingIsNew(value)) return;
  if (app.soon) return;
  const wait = Math.max(60, LEAST_MS - (performance.now() - (app.readAt || 0)));
  app.soon = setTimeout(async () => {
    app.soon = 0;
    app.readAt = performance.now();
    if (app.place.kind === "compare" || (app.place.run || "") !== run) return;
    try {
      if (app.place.kind === "runs") app.runs = (await data.runs()).runs;
      else app.book = await data.book(run);
      stateText("live");
      await show(true);
    } catch { app.state.textContent = "connection lost, trying again"; }
  }, wait);
}

function standingIsNew(rows) {
  const told = new Map((app.book ? [app.book.head] : app.runs || []).map((run) => [run.id, run]));
  return rows.length !== told.size || rows.some(([id, status, pause]) => !told.has(id) || told.get(id).status !== status || told.get(id).pause !== pause);
}

function masthead() {
  const { book, place } = app, giveBack = heldIn(app.bar), home = data.isLive ? h("a", { class: "home", href: "#/" }, "Kernel Scientist") : h("span", { class: "home" }, "Kernel Scientist");
  const address = (name) => `#/run/${encodeURIComponent(book.head.id)}/${name}`;
  const tabs = book ? h("nav", { "aria-label": "views" }, tabList("views of the run", VIEWS.map(([name, text]) => [name, text, address(name)]), place.view, "panel", (name) => { location.hash = address(name); })) : null;
  const title = book ? h("h1", { class: "title" }, h("b", {}, book.head.task), h("span", { class: "mono" }, ` ${book.head.id} `), tag(book.head.status)) : null;
  app.bar.replaceChildren(...[home, title, app.state, app.step, h("button", { type: "button", class: "quiet help-key", "aria-label": "keys", click: help }, "?"), tabs].filter(Boolean));
  giveBack();
  const stages = book ? stagesNow(book) : [];
  app.step.replaceChildren(...(stages.length ? stageNow(book, stages[0]) : []), stages.length > 1 ? ` and ${stages.length - 1} more` : "");
  document.title = book ? `${book.head.best_us ? `${inUs(book.head.best_us)} · ` : ""}${book.head.task} · ${book.head.id}` : "Kernel Scientist";
}

// The part of the page that a tab names; the list of runs and a comparison have no tabs.
function panel(content) {
  const { place } = app;
  return place.kind === "run" ? h("div", { id: "panel", role: "tabpanel", "aria-labelledby": `panel-tab-${place.view}` }, content) : content;
}

async function show(isUpdate) {
  const { place } = app, view = viewOf(), isSame = app.shown === place || isUpdate;
  masthead();
  document.body.classList.toggle("split", place.kind === "run" && place.view === "candidates");
  if (place.kind === "run" && place.view === "candidates") return showCandidates(view, isUpdate);
  const content = place.kind === "runs" ? runList(view) : place.kind === "compare" ? await comparison(view, place.runs) : await VIEWS.find(([name]) => name === place.view)[2](view);
  if (app.place !== place) return;
  const giveBack = heldIn(app.main), scrolled = window.scrollY, wasInside = app.main.contains(document.activeElement);
  app.shown = place;
  app.main.replaceChildren(panel(content));
  if (!isSame) return wasInside ? app.main.focus({ preventScroll: true }) : undefined;
  giveBack();
  window.scrollTo(0, scrolled);
}

async function showCandidates(view, isUpdate) {
  if (app.candidates && isUpdate) {
    const before = app.candidates.view.book.lines.find((line) => line.id === app.candidates.chosen);
    app.candidates.view = view;
    app.candidates.refresh();
    const after = view.book.lines.find((line) => line.id === app.candidates.chosen);
    if (!before || JSON.stringify(before) !== JSON.stringify(after)) await app.candidates.sheetAgain();
    return;
  }
  app.candidates = new Candidates(view);
  app.main.replaceChildren(panel(app.candidates.element));
  const isNarrow = matchMedia("(max-width: 60rem)").matches;
  await app.candidates.choose(app.place.candidate || (isNarrow ? "" : view.book.head.best_id));
  if (app.candidates && !app.bar.contains(document.activeElement)) app.candidates.list.element.focus({ preventScroll: true });
}

function help() {
  const box = h("dialog", { class: "help", click: () => box.close(), close: () => box.remove() }, h("h2", {}, "Keys"), h("dl", { class: "pairs" }, KEYS.map(([key, said]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, said)])), h("form", { method: "dialog" }, h("button", {}, "close")));
  document.body.append(box);
  box.showModal();
}

function step(by) {
  const { place } = app;
  if (place.kind === "runs" && app.runs.length) {
    const ui = uiOf("runs"), index = app.runs.findIndex((run) => run.id === ui.cursor);
    ui.cursor = app.runs[Math.max(0, Math.min(app.runs.length - 1, index < 0 ? 0 : index + by))].id;
    show(true);
  } else if (app.candidates) app.candidates.step(by);
  else if (place.kind === "run") window.scrollBy({ top: by * 120 });
}

function turnSheet(by) {
  const ui = uiOf(app.place.run), index = SHEETS.findIndex(([name]) => name === ui.sheet);
  ui.sheet = SHEETS[(Math.max(0, index) + by + SHEETS.length) % SHEETS.length][0];
  if (app.candidates) app.candidates.sheetAgain();
}

const ACTIONS = {
  j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1), "[": () => turnSheet(-1), "]": () => turnSheet(1), "?": help, u: () => data.isLive && (location.hash = "#/"),
  b: () => app.book && app.book.head.best_id && viewOf().open(app.book.head.best_id),
  p: () => { const line = app.candidates && app.book.lines.find((one) => one.id === app.candidates.chosen); if (line && line.parent) viewOf().open(line.parent); },
  "/": () => { const field = app.main.querySelector("input[type=search]"); if (field) field.focus(); },
  Enter: () => { const ui = uiOf("runs"); if (app.place.kind === "runs" && ui.cursor) location.hash = `#/run/${encodeURIComponent(ui.cursor)}`; else if (app.candidates) app.candidates.pane.focus(); },
  Escape: () => { if (app.candidates && document.activeElement === app.candidates.pane) app.candidates.list.element.focus(); else if (app.place.candidate) viewOf().go(viewOf().address("candidates")); else if (app.place.kind === "run" && data.isLive) location.hash = "#/"; },
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const isTyping = event.target.matches("input, select, textarea");
  if (isTyping) { if (event.key === "Escape" || (event.key === "Enter" && event.target.type === "search")) event.target.blur(); return; }
  if (event.key === "Enter" && event.target.matches("a, button, summary")) return;
  const isArrow = event.key.startsWith("Arrow"), digit = Number(event.key);
  if (isArrow && !(app.place.kind === "runs" || (app.candidates && app.candidates.list.element.contains(event.target)))) return;
  if (app.book && digit >= 1 && digit <= VIEWS.length) location.hash = viewOf().address(VIEWS[digit - 1][0]);
  else if (ACTIONS[event.key]) ACTIONS[event.key]();
  else return;
  event.preventDefault();
});

if (location.search) history.replaceState(null, "", location.pathname + location.hash); // the token stays out of the history
const skip = h("a", { class: "skip", href: "#main", click: (event) => { event.preventDefault(); app.main.focus(); } }, "to the content");
document.body.append(skip, app.bar, app.main);
setInterval(tickAges, 1000);
window.addEventListener("hashchange", route);
route();
