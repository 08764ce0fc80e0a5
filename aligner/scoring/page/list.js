// The list of sentences: search, order, and a number for each.
//
// Only the rows in sight, and some around them, stand in the page: thousands of sentences cost no more than a few.
"use strict";

const ROW = 40; // pixels of a row, as in page.css
const SPARE = 60; // rows that stand ready above and below those in sight

class SentenceList {
  // errorOf(s) -> {aer, errors} or null without gold; disagreementOf(s) -> number; isDone(s)
  constructor({ errorOf, disagreementOf, isDone }) {
    Object.assign(this, { errorOf, disagreementOf, isDone });
    this.frame = byId("list-frame");
    this.place = byId("list");
    this.order = sentences.map((_, s) => s);
    this.found = this.order; // sentences that the search leaves, in order
    this.query = [];
    this.rows = new Map(); // sentence -> its row, if that stands in the page
    this.by = "line";
    this.current = -1;
    this.texts = null;
    this.frame.addEventListener("scroll", oncePerFrame(() => this.draw()));
  }

  // Shows the sentences that have all words of a query, each on one of the two sides.
  search(query) {
    this.query = query.toLocaleLowerCase().split(/\s+/).filter((part) => part !== "");
    this.texts ??= sentences.map(({ src, tgt }) => `${src.join(" ")}\n${tgt.join(" ")}`.toLocaleLowerCase());
    this.arrange();
  }

  // The largest value comes first, except that lines keep their order.
  sort(by) {
    const value = {
      line: () => 0,
      error: (s) => {
        const error = this.errorOf(s);
        return error === null ? -1 : error.aer + error.errors * 1e-6;
      },
      length: (s) => sentences[s].src.length + sentences[s].tgt.length,
      disagreement: this.disagreementOf,
      score: (s) => costOf(s) ?? -Infinity,
    }[by];
    const values = sentences.map((_, s) => value(s));
    this.order = sentences.map((_, s) => s).sort((x, y) => values[y] - values[x] || x - y);
    this.by = by;
    this.arrange();
    this.show(this.current);
  }

  // Finds the sentences of the query again, and makes room for them.
  arrange() {
    this.found = this.order.filter((s) => this.query.every((part) => this.texts[s].includes(part)));
    this.place.style.height = `${this.found.length * ROW}px`;
    const all = numberOf(sentences.length, "sentence");
    byId("found").textContent = this.query.length === 0 ? all : `${this.found.length} of ${all}`;
    this.draw();
  }

  // Brings the rows around those in sight into the page. A row that stays is not moved, so that it keeps the focus.
  draw() {
    byId("list-head").textContent = this.head();
    const { scrollTop, clientHeight } = this.frame;
    const first = Math.max(Math.floor(scrollTop / ROW) - SPARE, 0);
    const wanted = this.found.slice(first, Math.ceil((scrollTop + clientHeight) / ROW) + SPARE);
    const stays = new Set(wanted);
    for (const [s, row] of this.rows) {
      if (stays.has(s)) continue;
      row.remove();
      this.rows.delete(s);
    }
    let next = this.place.firstChild;
    wanted.forEach((s, k) => {
      const row = this.rows.get(s) ?? this.row(s);
      this.write(row, s, first + k);
      if (row === next) next = next.nextSibling;
      else this.place.insertBefore(row, next);
    });
  }

  row(s) {
    const start = sentences[s].src.slice(0, 14).join(" ");
    const row = html("li", { "data-sentence": lineOf(s) },
      html("a", { href: `#${lineOf(s)}` },
        html("span", { class: "at" }, String(lineOf(s))),
        word(start || "(empty)", { class: "start" }),
        html("span", { class: "number" })));
    this.rows.set(s, row);
    return row;
  }

  // What a row says now; at: its place in the list
  write(row, s, at) {
    row.style.top = `${at * ROW}px`;
    row.setAttribute("aria-posinset", at + 1);
    row.setAttribute("aria-setsize", this.found.length);
    row.classList.toggle("done", this.isDone(s));
    row.querySelector(".number").textContent = this.number(s);
    if (s === this.current) row.firstChild.setAttribute("aria-current", "true");
    else row.firstChild.removeAttribute("aria-current");
  }

  // What the numbers of the rows are: what the list is sorted by, else the error, else the cost.
  head() {
    if (this.by === "length") return "words";
    if (this.by === "disagreement") return "links that differ";
    const hasGold = sentences.some((_, s) => this.errorOf(s) !== null);
    if (hasGold && this.by !== "score") return "AER";
    return data.model === null ? "" : "cost a word";
  }

  number(s) {
    const cost = costOf(s);
    if (this.by === "length") return `${sentences[s].src.length}·${sentences[s].tgt.length}`;
    if (this.by === "disagreement") return String(this.disagreementOf(s));
    if (this.by === "score" && cost !== null) return cost.toFixed(2);
    const error = this.errorOf(s);
    if (error !== null) return (100 * error.aer).toFixed(0);
    return cost === null ? "" : cost.toFixed(2);
  }

  // Marks a sentence as the one that is shown, and brings its row into sight.
  show(s) {
    this.current = s;
    const top = this.found.indexOf(s) * ROW;
    const { scrollTop, clientHeight } = this.frame;
    if (top >= 0 && (top < scrollTop || top + ROW > scrollTop + clientHeight)) {
      this.frame.scrollTop = top - clientHeight / 2;
    }
    this.draw();
  }

  // The sentence below (1) or above (-1) the current one among those found; the current one at the end of the list.
  neighbour(step) {
    const at = this.found.indexOf(this.current);
    if (at < 0) return this.found[0] ?? this.current;
    return this.found[Math.min(Math.max(at + step, 0), this.found.length - 1)];
  }
}
