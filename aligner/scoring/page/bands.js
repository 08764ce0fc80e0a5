// Two lines of words with curved bands between them; a band's width is the posterior.
// A sure link of gold that is missed is a dotted line.
//
// Where the lines do not fit beside each other on the screen, the words stand in two columns instead.
"use strict";

const GAP = 12; // pixels between words of a line
const FAINT = 500; // bands below 0.05 that are no links are seen only when one of their words is pointed at
const WIDEST = 8; // pixels of a band of posterior 1

function bandWidth(score) {
  return Math.max(0.7, (WIDEST * Math.min(score, SCALE)) / SCALE);
}

class Bands {
  constructor(place, { onPoint }) {
    this.place = place;
    this.drawings = [];
    place.addEventListener("pointerover", (event) => {
      const held = event.target.closest("[data-band], [data-i], [data-j]")?.dataset;
      if (held === undefined) onPoint(-1, -1);
      else if (held.band !== undefined) onPoint(...cellNamed(held.band));
      else onPoint(Number(held.i ?? -1), Number(held.j ?? -1));
    });
    place.addEventListener("pointerleave", () => onPoint(-1, -1));
  }

  // Builds the words of a sentence, once for each system.
  // views: [{system, other, tag, threshold, gold}], other: the system that it is compared with, or null
  draw(s, views) {
    this.s = s;
    this.place.replaceChildren();
    this.drawings = views.map((view) => this.build(view));
    this.place.append(...this.drawings.map(({ box }) => box));
    this.drawings.forEach((drawing, at) => this.mark(drawing, views[at]));
  }

  build({ tag }) {
    const { src, tgt } = sentences[this.s];
    const lines = [["data-i", src], ["data-j", tgt]].map(([name, words]) => (
      html("div", { class: "words-line", "aria-hidden": "true" },
        ...words.map((text, at) => word(text, { [name]: at, class: "word" })))
    ));
    const picture = svg("svg", { "aria-hidden": "true" });
    const room = this.place.clientWidth - 32;
    const width = (words) => words.reduce((sum, text) => sum + measureText(text, 17) + GAP + 8, 0);
    const isUpright = Math.max(width(src), width(tgt)) > room;
    const box = html("div", { class: isUpright ? "bands upright" : "bands" },
      tag ? tagOf(tag) : "", lines[0], picture, lines[1]);
    return { box, lines, picture, isUpright };
  }

  // Draws the bands between the words where they stand now.
  mark({ lines, picture, isUpright }, view) {
    const { system, threshold, gold } = view;
    const bands = [];
    eachScore(this.s, system, (i, j, score) => bands.push({ i, j, score }));
    bands.sort((x, y) => x.score - y.score);
    const links = bands.filter(({ score }) => score > threshold);
    bands.push(...missedLinks(this.s, links, gold).map((link) => ({ ...link, isMissed: true })));
    const ends = lines.map((line) => [...line.children].map((item) => middle(item, picture, isUpright)));
    for (const band of bands) Object.assign(band, { from: ends[0][band.i], to: ends[1][band.j] });
    spread(links, "i", "j", "from", ends[0]);
    spread(links, "j", "i", "to", ends[1]);
    const box = picture.getBoundingClientRect();
    const depth = isUpright ? box.width : box.height;
    lines[0].childNodes.forEach((item, i) => item.classList.toggle("unlinked", !links.some((link) => link.i === i)));
    lines[1].childNodes.forEach((item, j) => item.classList.toggle("unlinked", !links.some((link) => link.j === j)));
    const others = view.other && codesOf(this.s, linksOf(this.s, view.other, threshold));
    picture.replaceChildren(...bands.map((band) => svg("path", {
      "data-band": `${band.i}-${band.j}`,
      class: this.kinds(band, threshold, gold, others, view.tag),
      "stroke-width": band.isMissed ? 2 : bandWidth(band.score).toFixed(1),
      d: curve(band.from, band.to, depth, isUpright),
    })));
  }

  // How a band is drawn: link or not, right or not, and whether only this system has it.
  kinds({ i, j, score, isMissed }, threshold, gold, others, tag) {
    if (isMissed) return "band missed";
    if (score <= threshold) return score < FAINT ? "band faint" : "band pale";
    const code = codeOf(this.s, i, j);
    const isWrong = gold !== null && !gold.has(code);
    const isAlone = others !== null && !others.has(code);
    return `band link${isWrong ? " wrong" : ""}${isAlone ? ` alone-${tag.toLowerCase()}` : ""}`;
  }

  // Lights the bands of a word or of one link, and dims the others.
  light(i, j) {
    for (const { box, picture } of this.drawings) {
      box.classList.toggle("lit", i >= 0 || j >= 0);
      for (const path of picture.children) {
        const [from, to] = cellNamed(path.dataset.band);
        path.classList.toggle("on", (i < 0 || from === i) && (j < 0 || to === j) && (i >= 0 || j >= 0));
      }
    }
  }
}

// Where the middle of a word stands along the picture.
function middle(item, picture, isUpright) {
  const [box, frame] = [item.getBoundingClientRect(), picture.getBoundingClientRect()];
  return isUpright ? box.top + box.height / 2 - frame.top : box.left + box.width / 2 - frame.left;
}

// The links that meet at a word stand beside each other, in the order of their other ends.
function spread(bands, here, there, name, places) {
  const atWord = places.map(() => []);
  for (const band of bands) atWord[band[here]].push(band);
  atWord.forEach((list, at) => {
    const whole = list.reduce((sum, band) => sum + bandWidth(band.score), 0);
    let x = places[at] - whole / 2;
    for (const band of list.sort((a, b) => a[there] - b[there])) {
      band[name] = x + bandWidth(band.score) / 2;
      x += bandWidth(band.score);
    }
  });
}

function curve(from, to, depth, isUpright) {
  const point = (along, across) => (isUpright ? [across, along] : [along, across]).map((x) => x.toFixed(1)).join(" ");
  return `M${point(from, 0)}C${point(from, depth / 2)} ${point(to, depth / 2)} ${point(to, depth)}`;
}
