// Both directions and their union, before and after projection, beside each other (Graça, Ganchev & Taskar 2010, figure 1).
"use strict";

class Figure {
  constructor(place, { onPoint }) {
    this.place = place;
    this.panels = [];
    const cellOf = (event) => {
      const panel = this.panels.find(({ body }) => body === event.target.closest("svg"));
      if (panel === undefined) return [-1, -1];
      const box = panel.body.getBoundingClientRect();
      const { src, tgt } = sentences[this.s];
      const [i, j] = [(event.clientY - box.top) / this.size, (event.clientX - box.left) / this.size].map(Math.floor);
      return i >= 0 && j >= 0 && i < src.length && j < tgt.length ? [i, j] : [-1, -1];
    };
    place.addEventListener("pointermove", (event) => onPoint(...cellOf(event)));
    place.addEventListener("pointerleave", () => onPoint(-1, -1));
  }

  // view: {threshold, gold}
  draw(s, view) {
    this.s = s;
    const { src, tgt } = sentences[s];
    const shown = systems.filter((system) => system.column >= 0);
    const rows = [shown.filter((system) => system.isBefore), shown.filter((system) => !system.isBefore)];
    const isNarrow = this.place.clientWidth < 640;
    const columns = isNarrow ? 1 : 3;
    this.side = Math.min(Math.max(...src.map((text) => measureText(text, 13)), 0) + 12, 120);
    const room = this.place.clientWidth - this.side - 30 - 40 * (columns - 1);
    this.size = Math.min(Math.max(Math.floor(room / columns / Math.max(tgt.length, 1)), 4), 28);
    this.panels = [];
    this.place.replaceChildren();
    for (const row of rows.filter((list) => list.length > 0)) {
      this.place.append(html("div", { class: "row" }, ...row.map((system, at) => this.panel(s, system, view, at === 0 || isNarrow))));
    }
  }

  panel(s, system, { threshold, gold }, isFirst) {
    const { size } = this;
    const { src, tgt } = sentences[s];
    const [width, height] = [tgt.length * size, src.length * size];
    const rowLight = svg("rect", { class: "light", width, height: size, visibility: "hidden" });
    const columnLight = svg("rect", { class: "light", width: size, height, visibility: "hidden" });
    const marks = svg("g", { class: "marks" });
    drawGold(marks, s, gold, size);
    (system.before ? drawChange : drawDiscs)(marks, s, system, { threshold, size });
    const body = svg("svg", { width: width + 1, height: height + 1, "aria-hidden": "true" },
      svg("rect", { class: "frame", width, height }), rowLight, columnLight, marks);
    this.panels.push({ body, rowLight, columnLight });
    const caption = system.label + (system.before ? ", after projection" : "");
    return html("figure", {}, html("figcaption", {}, caption), this.words(body, isFirst));
  }

  // The words around a panel, where the cells are large enough for letters; rows have their words at the first panel.
  words(body, isFirst) {
    if (this.size < 12) return body;
    const { src, tgt } = sentences[this.s];
    const grid = html("div", { class: "grid small" }, html("div", { class: "corner" }),
      html("div", { class: "column-heads", "aria-hidden": "true" }, ...tgt.map((text, j) => html("span", { "data-j": j }, word(text)))),
      html("div", { class: "row-heads", "aria-hidden": "true" }, ...(isFirst ? src.map((text, i) => word(text, { "data-i": i })) : [])), body);
    grid.style.setProperty("--cell", `${this.size}px`);
    grid.style.setProperty("--longest", "64px");
    return grid;
  }

  light(i, j) {
    for (const { rowLight, columnLight } of this.panels) {
      lightRect(rowLight, "y", i, this.size);
      lightRect(columnLight, "x", j, this.size);
    }
  }
}
