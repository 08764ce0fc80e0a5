// The data of the page, and every number that is computed from them.
//
// Scores are whole numbers of 1/10000, and so is the threshold: a link is shown if its score is above the threshold.
// A cell (i, j) of a sentence pair has the code i * J + j, with J the number of target words.
"use strict";

const SCALE = 10000;
const ALWAYS = SCALE + 1; // the score of a link in a file without scores: above every threshold
const KINDS = ["possible", "sure"]; // kind of a gold link -> its name
const NO_SYSTEM = { id: "", label: "none", scored: false, column: -1, file: -1, before: null };

const data = JSON.parse(byId("data").textContent);
const sentences = data.sentences;
const systems = listSystems();

// Every system that can be drawn: the columns of the model, then the link files.
function listSystems() {
  const columns = data.columns.map((id, column) => {
    const isBefore = id.endsWith("0");
    const label = isBefore ? `${id.slice(0, -1)}, before projection` : id;
    return { id, label, isBefore, scored: true, column, file: -1, before: null };
  });
  for (const system of columns) {
    system.before = columns.find((other) => other.id === system.id + "0") ?? null;
  }
  const files = data.files.map(({ name, scored }, at) => (
    { id: `file${at}`, label: fileName(name), isBefore: false, scored, column: -1, file: at, before: null }
  ));
  return [...columns, ...files];
}

// The name of a file without its folders.
function fileName(path) {
  return path.split("/").pop();
}

// The line of the text that a sentence stands on, counted from 1; the page may begin in the middle of the text.
function lineOf(s) {
  return data.first + s;
}

function systemOf(id) {
  return systems.find((system) => system.id === id) ?? NO_SYSTEM;
}

// The system that the page opens with: the column whose links decoding prints, else the first file.
function firstSystem() {
  return systems.find((system) => system.id === data.model?.prints) ?? systems[0] ?? NO_SYSTEM;
}

// Calls visit(i, j, score) for each cell of a sentence that has a score in a system.
function eachScore(s, system, visit) {
  if (system.column >= 0) {
    const cells = sentences[s].cells;
    const step = 2 + data.columns.length;
    const at = 2 + system.column;
    for (let k = 0; k < cells.length; k += step) {
      if (cells[k + at] > 0) visit(cells[k], cells[k + 1], cells[k + at]);
    }
  } else if (system.file >= 0) {
    const links = sentences[s].files[system.file];
    for (let k = 0; k < links.length; k += 3) {
      visit(links[k], links[k + 1], system.scored ? links[k + 2] : ALWAYS);
    }
  }
}

function codeOf(s, i, j) {
  return i * sentences[s].tgt.length + j;
}

// The cell of a code: [i, j].
function cellOf(s, code) {
  const width = sentences[s].tgt.length;
  return [Math.floor(code / width), code % width];
}

// The cell that an attribute names: "3-4" is [3, 4]. [-1, -1] without a name.
function cellNamed(name) {
  return name?.split("-").map(Number) ?? [-1, -1];
}

function codesOf(s, links) {
  return new Set(links.map(({ i, j }) => codeOf(s, i, j)));
}

// code -> score of the cells of a sentence in a system
function scoresOf(s, system) {
  const scores = new Map();
  eachScore(s, system, (i, j, score) => scores.set(codeOf(s, i, j), score));
  return scores;
}

// The links that a threshold leaves, in order of the source words: {i, j, score}.
function linksOf(s, system, threshold) {
  const links = [];
  eachScore(s, system, (i, j, score) => {
    if (score > threshold) links.push({ i, j, score });
  });
  return links.sort((x, y) => x.i - y.i || x.j - y.j);
}

function pharaoh(links) {
  return links.map((link) => `${link.i}-${link.j}`).join(" ");
}

// code -> 1 sure, 0 possible of the gold file; null without a gold file.
const fileGold = (() => {
  const known = new Map();
  return (s) => {
    if (data.gold === null) return null;
    if (!known.has(s)) {
      const gold = new Map();
      const links = sentences[s].gold;
      for (let k = 0; k < links.length; k += 3) {
        gold.set(codeOf(s, links[k], links[k + 1]), links[k + 2]);
      }
      known.set(s, gold);
    }
    return known.get(s);
  };
})();

function countSure(gold) {
  let sure = 0;
  for (const kind of gold.values()) sure += kind;
  return sure;
}

// The sure links of gold that are not among some links, in order: {i, j, score: 0}.
function missedLinks(s, links, gold) {
  const codes = codesOf(s, links);
  const missed = [...(gold ?? [])].filter(([code, kind]) => kind === 1 && !codes.has(code));
  return missed.map(([code]) => code).sort((x, y) => x - y).map((code) => {
    const [i, j] = cellOf(s, code);
    return { i, j, score: 0 };
  });
}

// |A|, |S|, |A n S| and |A n P| of one sentence: A are the links above the threshold, S the sure links of gold,
// P its sure and possible ones.
function count(s, system, threshold, gold) {
  const counts = { links: 0, sure: countSure(gold), linksSure: 0, linksPossible: 0 };
  eachScore(s, system, (i, j, score) => {
    if (score <= threshold) return;
    const kind = gold.get(codeOf(s, i, j));
    counts.links += 1;
    if (kind === 1) counts.linksSure += 1;
    if (kind !== undefined) counts.linksPossible += 1;
  });
  return counts;
}

// A share of nothing is 1: no claim, no error.
function share(part, whole) {
  return whole === 0 ? 1 : part / whole;
}

// The measures of `aligner evaluate`, as shares.
function measure({ links, sure, linksSure, linksPossible }) {
  const precision = share(linksPossible, links);
  const recall = share(linksSure, sure);
  const below = 0.5 * recall + 0.5 * precision;
  return {
    precision,
    recall,
    aer: 1 - share(linksSure + linksPossible, links + sure),
    f1: below === 0 ? 0 : (precision * recall) / below,
  };
}

// The counts of many sentences at every threshold at once.
//
// links, linksSure, linksPossible: [10002]  t -> how many links have a score of at least t, so that t + 1 is asked for
class Totals {
  constructor(system, goldOf) {
    this.sentences = 0;
    this.sure = 0;
    for (const name of ["links", "linksSure", "linksPossible"]) this[name] = new Int32Array(ALWAYS + 2);
    for (let s = 0; s < sentences.length; s++) {
      const gold = goldOf(s);
      if (gold !== null) this.add(s, system, gold);
    }
    for (const name of ["links", "linksSure", "linksPossible"]) {
      for (let t = ALWAYS; t >= 0; t--) this[name][t] += this[name][t + 1];
    }
  }

  add(s, system, gold) {
    this.sentences += 1;
    this.sure += countSure(gold);
    eachScore(s, system, (i, j, score) => {
      const kind = gold.get(codeOf(s, i, j));
      this.links[score] += 1;
      if (kind === 1) this.linksSure[score] += 1;
      if (kind !== undefined) this.linksPossible[score] += 1;
    });
  }

  above(threshold) {
    const at = threshold + 1;
    return {
      links: this.links[at],
      sure: this.sure,
      linksSure: this.linksSure[at],
      linksPossible: this.linksPossible[at],
    };
  }
}

// A share as a percentage of two decimals. A tie goes to the even digit, as in what `aligner evaluate` prints:
// only odd eighths of a percent are ties.
function percent(value) {
  const hundred = 100 * value;
  if ((8 * hundred) % 2 !== 1) return hundred.toFixed(2);
  const below = Math.floor(100 * hundred);
  return ((below + (below % 2)) / 100).toFixed(2);
}

function decimal(score, digits = 2) {
  return (Math.min(score, SCALE) / SCALE).toFixed(digits);
}

// What a pair costs in the model, the mean of the directions that the model has; null without a model.
function costOf(s) {
  const costs = sentences[s].costs;
  const known = costs.filter((cost) => cost !== null);
  return known.length === 0 ? null : known.reduce((sum, cost) => sum + cost, 0) / known.length;
}

// How many links of two systems are not shared.
function disagreement(s, first, second, threshold) {
  const [codes, others] = [first, second].map((system) => codesOf(s, linksOf(s, system, threshold)));
  const shared = [...codes].filter((code) => others.has(code)).length;
  return codes.size + others.size - 2 * shared;
}
