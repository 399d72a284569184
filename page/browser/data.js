// Where the data come from: the server, or the blocks of an exported file. Both give the same objects.

const KEPT = 300; // sheets and texts that stay in memory

const embedded = (() => {
  const block = document.getElementById("book");
  return block ? JSON.parse(block.textContent) : null;
})();

async function ask(path) {
  const answer = await fetch(path, { credentials: "same-origin", cache: "no-store" }), date = Date.parse(answer.headers.get("date"));
  if (date) serverClock.aheadMs = date - Date.now();
  if (answer.ok) return answer.json();
  let said = `the server answered ${answer.status}`;
  try { said = (await answer.json()).error; } catch { said = answer.status === 401 ? "this page's token is gone: open the address that `kernel-scientist serve` printed" : said; }
  throw new Error(said);
}

const pieces = new Map();
const PIECE = 32; // as the exporter packs them

async function unpacked(name, number) {
  const id = `${name}-${Math.floor(number / PIECE)}`;
  if (!pieces.has(id)) pieces.set(id, unpack(id));
  return (await pieces.get(id))[number % PIECE];
}

async function unpack(id) {
  const text = atob(document.getElementById(id).textContent);
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

const kept = new Map();

async function remembered(key, get) {
  if (!kept.has(key)) {
    if (kept.size >= KEPT) kept.delete(kept.keys().next().value);
    kept.set(key, get().catch((error) => { kept.delete(key); throw error; }));
  }
  return kept.get(key);
}

const inRun = (id) => `api/runs/${encodeURIComponent(id)}`;

const data = {
  isLive: !embedded,
  async runs() { return embedded ? { runs: [embedded.head], row: embedded.row } : ask("api/runs"); },
  async book(run) {
    if (!embedded) return ask(inRun(run));
    if (run !== embedded.head.id) throw new Error(`this file holds the run ${embedded.head.id} only`);
    return embedded;
  },
  async sheet(book, id) {
    const run = book.head.id, line = book.lines.findIndex((one) => one.id === id);
    if (line < 0) throw new Error(`this run has no candidate ${id}`);
    if (embedded) return unpacked("sheets", line);
    return remembered(`${run} ${id} ${book.lines[line].status}`, () => ask(`${inRun(run)}/candidates/${encodeURIComponent(id)}`));
  },
  async source(book, id) {
    if (embedded) return (await data.sheet(book, id)).source;
    return remembered(`${book.head.id} ${id} source`, () => ask(`${inRun(book.head.id)}/candidates/${encodeURIComponent(id)}/source`));
  },
  async machine(run, id) {
    if (!embedded) return remembered(`${run} ${id} machine`, () => ask(`${inRun(run)}/candidates/${encodeURIComponent(id)}/machine`));
    const held = (await unpacked("machines", 0))[id];
    return held || { kernels: {}, refusal: "this file holds the machine code of those candidates only that led in their turn; `kernel-scientist serve` shows all" };
  },
  async call(run, number) {
    return embedded ? unpacked("calls", number) : remembered(`${run} call ${number}`, () => ask(`${inRun(run)}/calls/${number}`));
  },
};

// Rows of the ledger as they come. The browser takes up a broken stream at the row where it ended; a hidden page rests.
class Stream {
  constructor(run, row, take, state) {
    Object.assign(this, { run, row, take, state, source: null, doubt: null });
    this.onVisibility = () => (document.hidden ? this.rest() : this.open());
    document.addEventListener("visibilitychange", this.onVisibility);
    if (!document.hidden) this.open();
  }

  open() {
    if (this.source) return;
    const source = (this.source = new EventSource(`api/events?run=${encodeURIComponent(this.run)}&after=${this.row}`));
    source.addEventListener("open", () => { this.trust(); this.state("live"); });
    source.addEventListener("error", () => {
      this.doubt ??= setTimeout(() => this.state("lost"), 2500); // a stream that the server ended is open again by then
      if (source.readyState === EventSource.CLOSED && this.source === source) {
        this.rest();
        this.state("lost");
        this.later = setTimeout(() => this.open(), 2000);
        ask("api/runs").catch((error) => this.state("lost", error instanceof TypeError ? "" : error.message)); // why it was refused
      }
    });
    for (const name of ["row", "runs", "standing"]) {
      source.addEventListener(name, (event) => {
        if (event.lastEventId) this.row = Math.max(this.row, Number(event.lastEventId));
        this.take(name, JSON.parse(event.data));
      });
    }
  }

  trust() {
    clearTimeout(this.doubt);
    this.doubt = null;
  }

  rest() {
    clearTimeout(this.later);
    this.trust();
    if (this.source) this.source.close();
    this.source = null;
  }

  close() {
    this.rest();
    document.removeEventListener("visibilitychange", this.onVisibility);
  }
}
