// Words of the field, each spelt out where a view uses it first.

const TERMS = {
  roofline: ["roofline", "the least time in which this GPU can move the task's bytes and do its arithmetic"],
  seed: ["seed", "a kernel that the task comes with"],
  naive: ["naive seed", "the task's first kernel, as its file has it"],
  predicted: ["predicted", "counted work on a model of the GPU; nothing was measured"],
  measured: ["measured", "timed on a GPU"],
  verified: ["verified", "compiled, executed and compared with the float64 reference on every case"],
  candidate: ["candidate", "a kernel file that was written and judged"],
  generation: ["generation", "one round: choose a kernel, plan experiments on it, run them side by side"],
  mean: ["geometric mean", "over the benchmark cases: the ratio of two such means does not depend on the long cases alone"],
  cold: ["cold, warm", "with empty caches, and with what the call before it left in them"],
  bound: ["bound", "the least time of this code: no faster one is possible without changing it"],
  hbm: ["HBM", "high-bandwidth memory: the GPU's main memory"],
  mall: ["MALL", "the Infinity Cache, between L2 and memory"],
  l2: ["L2", "the cache that the compute units of a chiplet share"],
  l1: ["L1", "the cache of one compute unit"],
  lds: ["LDS", "local data share: the fast memory of one workgroup"],
  valu: ["VALU", "the vector arithmetic units"],
  mfma: ["MFMA", "the matrix units"],
  atomics: ["atomics", "updates of one address, one after the other"],
  latency: ["latency", "waiting that the waves in flight do not hide"],
  launch: ["launch", "the fixed time of starting a kernel"],
  issue: ["issue", "waves wait for their turn to issue an instruction"],
  vmcnt: ["vmcnt", "waits for loads from global memory"],
  lgkmcnt: ["lgkmcnt", "waits for LDS or scalar loads"],
  memory: ["memory", "waits for the bandwidth of caches and HBM"],
  dependency: ["dependency", "an instruction waits for the result of the one before it"],
  barrier: ["barrier", "waves wait for the others of their workgroup"],
  tail: ["tail", "the last workgroups run on few units"],
};

// The words of a view, in the order of their first use.
class Glossary {
  constructor() { this.names = new Set(); }

  // The word; with its meaning as a title where it has not been used before.
  word(name, text) {
    const entry = TERMS[name], said = text || (entry ? entry[0] : name);
    if (!entry || this.names.has(name)) return said;
    this.names.add(name);
    return h("abbr", { title: `${entry[0]}: ${entry[1]}` }, said);
  }

  list() {
    return this.names.size ? h("dl", { class: "pairs terms" }, [...this.names].map((name) => [h("dt", {}, TERMS[name][0]), h("dd", {}, TERMS[name][1])])) : null;
  }
}
