// Gold made by hand: what was annotated, what is kept by the browser, and files of it.
"use strict";

// A number that says which text the page is of: other pages of the same text share their annotation.
function textKey() {
  let a = 0x811c9dc5;
  let b = 0x1b873593;
  const add = (text) => {
    for (let k = 0; k < text.length; k++) {
      a = Math.imul(a ^ text.charCodeAt(k), 0x01000193);
      b = Math.imul(b ^ text.charCodeAt(k), 0x85ebca6b);
    }
  };
  for (const sentence of sentences) {
    add(sentence.src.join(" ") + "\n" + sentence.tgt.join(" ") + "\n");
  }
  return `aligner:${sentences.length}:${(a >>> 0).toString(16)}${(b >>> 0).toString(16)}`;
}

// entries: sentence -> {links: code -> 1 sure | 0 possible, done: boolean}; sentences that nobody touched have none.
// steps: for undo; each step is a list of [sentence, entry before the step or undefined].
class Hand {
  constructor() {
    this.key = textKey();
    this.entries = new Map();
    this.steps = [];
    this.isKept = true;
    this.load();
  }

  // Takes what the browser keeps, which another page of the same text may have changed.
  load() {
    const stored = kept.read(this.key);
    if (stored === null || !this.isKept) return;
    try {
      this.entries = new Map(Object.entries(JSON.parse(stored)).map(([s, { links, done }]) => (
        [Number(s), { links: new Map(links), done }]
      )));
    } catch {
      notice("The annotation that the browser keeps for this page is damaged. It was left out.", true);
    }
  }

  save() {
    const stored = {};
    for (const [s, { links, done }] of this.entries) stored[s] = { links: [...links], done };
    const wasKept = this.isKept;
    this.isKept = kept.write(this.key, JSON.stringify(stored));
    if (wasKept && !this.isKept) {
      notice("The browser does not keep the annotation of this page. Export it before the page is closed.", true);
    }
  }

  // The gold that is shown and scored: what was annotated by hand, else the gold file's; null if there is neither.
  gold(s) {
    return this.entries.get(s)?.links ?? fileGold(s);
  }

  // The gold that counts for the numbers of all sentences. Without a gold file, unfinished sentences do not count.
  finishedGold(s) {
    return data.gold === null && !this.isDone(s) ? null : this.gold(s);
  }

  isDone(s) {
    return this.entries.get(s)?.done ?? false;
  }

  // One step: the sentences get new entries; an entry of undefined forgets the sentence.
  step(changes) {
    this.steps.push(changes.map(([s]) => [s, this.entries.get(s)]));
    this.put(changes);
  }

  put(changes) {
    this.load();
    for (const [s, entry] of changes) {
      if (entry === undefined) this.entries.delete(s);
      else this.entries.set(s, entry);
    }
    this.save();
  }

  // Takes the last step back; gives a sentence of it, or undefined if there was no step.
  undo() {
    const changes = this.steps.pop();
    if (changes !== undefined) this.put(changes);
    return changes?.[0][0];
  }

  // A cell becomes sure (1), possible (0) or no link (undefined).
  set(s, i, j, kind) {
    const links = new Map(this.gold(s) ?? []);
    if (kind === undefined) links.delete(codeOf(s, i, j));
    else links.set(codeOf(s, i, j), kind);
    this.step([[s, { links, done: this.isDone(s) }]]);
  }

  // none -> sure -> possible -> none
  cycle(s, i, j) {
    const kind = this.gold(s)?.get(codeOf(s, i, j));
    this.set(s, i, j, kind === undefined ? 1 : kind === 1 ? 0 : undefined);
  }

  setDone(s, done) {
    this.step([[s, { links: new Map(this.gold(s) ?? []), done }]]);
  }

  start(s, links) {
    const sure = new Map(links.map((link) => [codeOf(s, link.i, link.j), 1]));
    this.step([[s, { links: sure, done: this.isDone(s) }]]);
  }

  reset(s) {
    if (this.entries.has(s)) this.step([[s, undefined]]);
  }

  doneSentences() {
    return [...this.entries.keys()].filter((s) => this.isDone(s)).sort((x, y) => x - y);
  }
}

// A line of a gold file: `i-j` is sure, `i?j` possible, in order of the source words.
function formatGold(s, gold) {
  const codes = [...(gold ?? new Map()).keys()].sort((x, y) => x - y);
  return codes.map((code) => cellOf(s, code).join(gold.get(code) ? "-" : "?")).join(" ");
}

// The gold file of some sentences, a line for each.
function goldFile(hand, chosen) {
  return chosen.map((s) => formatGold(s, hand.gold(s)) + "\n").join("");
}

function textFile(side, chosen) {
  return chosen.map((s) => sentences[s][side].join(" ") + "\n").join("");
}

// The links of a line of a gold file. Throws an error that says what is wrong with the line.
function parseGold(s, line) {
  const links = new Map();
  for (const item of line.split(/[ \t]+/).filter((text) => text !== "")) {
    const parts = /^(\d+)([-?])(\d+)$/.exec(item);
    if (parts === null) throw new Error(`“${item}” is no link: links are i-j (sure) or i?j (possible)`);
    const [i, j] = [Number(parts[1]), Number(parts[3])];
    const { src, tgt } = sentences[s];
    if (i >= src.length || j >= tgt.length) {
      throw new Error(`“${item}” is beyond the sentence pair of ${src.length} and ${tgt.length} words;`
        + " words count from 0");
    }
    const code = codeOf(s, i, j);
    links.set(code, Math.max(parts[2] === "-" ? 1 : 0, links.get(code) ?? 0));
  }
  return links;
}

// Whether two golds have the same links; no gold is as good as an empty one.
function sameGold(first, second) {
  const [a, b] = [first ?? new Map(), second ?? new Map()];
  return a.size === b.size && [...a].every(([code, kind]) => b.get(code) === kind);
}

// The changes that make the annotation what a gold file of all sentences says. Throws an error with the line.
function readGoldFile(hand, text) {
  const lines = text.replace(/\r?\n$/, "").split(/\r?\n/);
  if (lines.length !== sentences.length) {
    throw new Error(`the file has ${numberOf(lines.length, "line")},`
      + ` but the page has ${numberOf(sentences.length, "sentence")}:`
      + " choose a file that “Export all” wrote from a page of this text");
  }
  const changes = [];
  lines.forEach((line, s) => {
    try {
      const links = parseGold(s, line);
      if (!sameGold(links, hand.gold(s))) changes.push([s, { links, done: hand.isDone(s) }]);
    } catch (error) {
      throw new Error(`line ${s + 1}: ${error.message}`);
    }
  });
  return changes;
}
