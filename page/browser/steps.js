// What a run is doing now, and for how long, by the clock of the machine that serves the page; and what its time went to.

const serverClock = { aheadMs: 0 };

const stagesNow = (book) => (book.head.status === "running" ? book.stages : []);

const ageOf = (since) => inSeconds((Date.now() + serverClock.aheadMs) / 1000 - since);

const wordsOfStage = (book, stage) => book.stage_names[stage] || stage;

const stageNow = (book, stage) => [stage.experiment ? `${stage.experiment}: ` : "", wordsOfStage(book, stage.stage), " ", h("span", { class: "age", "data-since": stage.since }, ageOf(stage.since))];

function tickAges() {
  for (const age of document.querySelectorAll("[data-since]")) age.textContent = ageOf(Number(age.dataset.since));
}

function nowOf(view) {
  const { book } = view, stages = stagesNow(book);
  return stages.length ? h("p", { class: "now" }, h("b", {}, "Now"), " ", stages.slice(0, 6).map((stage, n) => [n ? " · " : "", stageNow(book, stage)])) : null;
}

function stageTimes(book) {
  const rows = Object.entries(book.stage_seconds).map(([stage, seconds]) => ({ stage, seconds })).sort((a, b) => b.seconds - a.seconds), all = rows.reduce((sum, row) => sum + row.seconds, 0);
  return all ? h("details", {}, h("summary", {}, `Time by stage: ${inSeconds(all)}`), table([
    ["stage", (row) => row.stage], ["what is done then", (row) => wordsOfStage(book, row.stage)], ["time", (row) => `${row.seconds.toFixed(1)} s`, "n"], ["share", (row) => [meter(row.seconds / all), inShare(row.seconds / all)], "n"],
  ], rows)) : null;
}
