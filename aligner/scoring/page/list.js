// The list of sentences: search, order, and a number for each.
//
// All rows stand in the page; the browser skips the work for rows out of sight (content-visibility in page.css).
"use strict";

class SentenceList {
  // errorOf(s) -> {aer, errors} or null without gold; disagreementOf(s) -> number; isDone(s)
  constructor({ errorOf, disagreementOf, isDone }) {
    this.errorOf = errorOf;
    this.disagreementOf = disagreementOf;
    this.isDone = isDone;
    this.place = byId("list");
    this.rows = sentences.map((sentence, s) => this.row(sentence, s));
    this.numbers = this.rows.map((row) => row.querySelector(".number"));
    this.order = sentences.map((_, s) => s);
    this.current = -1;
    this.texts = null;
    this.place.append(...this.rows);
    this.search("");
  }

  row(sentence, s) {
    const start = sentence.src.slice(0, 14).join(" ");
    return html("li", { "data-sentence": lineOf(s) },
      html("a", { href: `#${lineOf(s)}` },
        html("span", { class: "at" }, String(lineOf(s))),
        word(start || "(empty)", { class: "start" }),
        html("span", { class: "number" })));
  }

  // Shows the sentences that have all words of a query, each on one of the two sides.
  search(query) {
    const parts = query.toLocaleLowerCase().split(/\s+/).filter((part) => part !== "");
    if (parts.length > 0 && this.texts === null) {
      this.texts = sentences.map(({ src, tgt }) => `${src.join(" ")}\n${tgt.join(" ")}`.toLocaleLowerCase());
    }
    let found = 0;
    this.rows.forEach((row, s) => {
      row.hidden = !parts.every((part) => this.texts[s].includes(part));
      if (!row.hidden) found += 1;
    });
    const all = `${sentences.length} ${sentences.length === 1 ? "sentence" : "sentences"}`;
    byId("found").textContent = parts.length === 0 ? all : `${found} of ${all}`;
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
    this.place.replaceChildren(...this.order.map((s) => this.rows[s]));
    this.show(this.current);
  }

  // What stands at the end of each row: what the list is sorted by, else the error, else the cost.
  write(by) {
    byId("list-head").textContent = this.head(by);
    this.numbers.forEach((place, s) => {
      const text = this.number(s, by);
      if (place.textContent !== text) place.textContent = text;
      this.rows[s].classList.toggle("done", this.isDone(s));
    });
  }

  head(by) {
    if (by === "length") return "words";
    if (by === "disagreement") return "links that differ";
    const hasGold = sentences.some((_, s) => this.errorOf(s) !== null);
    if (hasGold && by !== "score") return "AER";
    return data.model === null ? "" : "cost a word";
  }

  number(s, by) {
    const cost = costOf(s);
    if (by === "length") return `${sentences[s].src.length}·${sentences[s].tgt.length}`;
    if (by === "disagreement") return String(this.disagreementOf(s));
    if (by === "score" && cost !== null) return cost.toFixed(2);
    const error = this.errorOf(s);
    if (error !== null) return (100 * error.aer).toFixed(0);
    return cost === null ? "" : cost.toFixed(2);
  }

  // Marks a sentence as the one that is shown, and brings its row into sight.
  show(s) {
    this.rows[this.current]?.firstChild.removeAttribute("aria-current");
    this.current = s;
    const row = this.rows[s];
    if (row === undefined) return;
    row.firstChild.setAttribute("aria-current", "true");
    const top = row.offsetTop - this.place.offsetTop;
    const { scrollTop, clientHeight } = this.place;
    if (top < scrollTop || top + row.offsetHeight > scrollTop + clientHeight) {
      this.place.scrollTop = top - clientHeight / 2;
    }
  }

  // The sentence some rows below (1) or above (-1) among those found; the current one at the end of the list.
  neighbour(step) {
    const found = this.order.filter((s) => !this.rows[s].hidden);
    const at = found.indexOf(this.current);
    if (at < 0) return found[0] ?? this.current;
    return found[Math.min(Math.max(at + step, 0), found.length - 1)];
  }
}
