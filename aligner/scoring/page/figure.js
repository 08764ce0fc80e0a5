// The view "Directions": both directions and their union, before and after projection, beside each other
// (Graça, Ganchev & Taskar 2010, figure 1).
"use strict";

const READABLE = 10; // pixels of a cell that words can stand beside

class Figure {
  constructor(place, { onPoint }) {
    this.place = place;
    this.panels = [];
    place.addEventListener("pointermove", (event) => onPoint(...cellAt(event, this)));
    place.addEventListener("pointerleave", () => onPoint(-1, -1));
  }

  // view: {threshold, gold}
  draw(s, view) {
    this.s = s;
    const rows = this.arrange(systems.filter((system) => system.column >= 0));
    this.panels = [];
    this.place.replaceChildren(...rows.map((row) => (
      html("div", { class: "row" }, ...row.map((system, at) => this.panel(s, system, view, at === 0)))
    )));
  }

  // Rows of panels: before above after; for long sentences, before beside after; on a phone, one below the other.
  arrange(shown) {
    const before = shown.filter((system) => system.isBefore);
    const after = shown.filter((system) => !system.isBefore);
    const wide = [before, after].filter((row) => row.length > 0);
    this.size = this.fitting(wide[0].length);
    if (this.size >= READABLE) return wide;
    const columns = this.place.clientWidth < 640 || before.length === 0 ? 1 : 2;
    this.size = Math.max(this.fitting(columns), 6);
    if (columns === 1) return [...before, ...after].map((system) => [system]);
    return after.map((system) => [system.before, system]);
  }

  // Pixels of a cell, if so many panels stand beside each other.
  fitting(columns) {
    const { src, tgt } = sentences[this.s];
    const side = Math.min(Math.max(...src.map((text) => measureText(text, 13)), 0) + 12, 120);
    const room = this.place.clientWidth - side - 30 - 40 * (columns - 1);
    return Math.min(Math.floor(room / columns / Math.max(tgt.length, 1)), 28);
  }

  panel(s, system, { threshold, gold }, isFirst) {
    const { size } = this;
    const { src, tgt } = sentences[s];
    const [width, height] = [tgt.length * size, src.length * size];
    const lights = new Lights(width, height, size);
    const marks = svg("g", { class: "marks" });
    drawGold(marks, s, gold, size);
    (system.before ? drawChange : drawDiscs)(marks, s, system, { threshold, size });
    const body = svg("svg", { width: width + 1, height: height + 1, "aria-hidden": "true" },
      svg("rect", { class: "frame", width, height }), ...lights.rects, marks);
    this.panels.push(lights);
    const caption = system.label + (system.before ? ", after projection" : "");
    return html("figure", {}, html("figcaption", {}, caption), this.words(body, isFirst));
  }

  // The words around a panel, where the cells are large enough for letters; rows have their words at the first panel.
  words(body, isFirst) {
    if (this.size < READABLE) return body;
    const { src, tgt } = sentences[this.s];
    const rows = isFirst ? src.map((text, i) => word(text, { "data-i": i })) : [];
    const columns = tgt.map((text, j) => html("span", { "data-j": j }, word(text)));
    return wordsAround(body, { rows, columns, corner: "", size: this.size, longest: 64 });
  }

  light(i, j) {
    for (const lights of this.panels) lights.light(i, j);
  }
}
