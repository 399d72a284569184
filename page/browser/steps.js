// What a run is doing now, and for how long, by the clock of the machine that serves the page.

const serverClock = { aheadMs: 0 };

// Steps {text, at}, oldest first: the stages under way, or what happened last where none is.
function stepsNow(book, events) {
  if (book.head.status !== "running") return [];
  const stages = new Map();
  let last = null;
  for (const event of events) {
    const { kind, payload, at } = event, name = payload.experiment;
    if (kind === "stage") stages.set(name, { text: `${name} ${payload.stage}`, at });
    else if (kind === "attempt") stages.delete(name);
    else if (kind === "generation" || kind === "stopped" || kind === "driving") stages.clear();
    if (SAID[kind]) last = { text: `after “${sentenceOf(event)}”`, at };
  }
  return stages.size ? [...stages.values()] : last ? [last] : [];
}

const ageOf = (at) => inSeconds((Date.now() + serverClock.aheadMs - Date.parse(at)) / 1000);

const stepOf = (step) => [step.text, " ", h("span", { class: "age", "data-since": step.at }, ageOf(step.at))];

function tickAges() {
  for (const age of document.querySelectorAll("[data-since]")) age.textContent = ageOf(age.dataset.since);
}

function nowOf(view) {
  const steps = stepsNow(view.book, view.events);
  return steps.length ? h("p", { class: "now" }, h("b", {}, "Now"), " ", steps.slice(-6).map((step, n) => [n ? " · " : "", stepOf(step)])) : null;
}
