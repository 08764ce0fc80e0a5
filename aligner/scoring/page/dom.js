// Elements of the page. Text of the data goes into the page as text nodes alone, never as HTML.
"use strict";

const SVG = "http://www.w3.org/2000/svg";

const byId = (id) => document.getElementById(id);

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

// An HTML element; strings among the children become text nodes.
function html(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

// An SVG element.
function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

// A word of the text: it finds its own direction of writing, and shows as it is.
function word(text, attributes = {}) {
  return html("span", { dir: "auto", ...attributes }, text);
}

// How many of a thing there are: 1 link, 2 links.
function numberOf(n, thing) {
  return n === 1 ? `1 ${thing}` : `${n} ${thing}s`;
}

// The letter of a system, A or B, in its colour.
function tagOf(letter) {
  return html("span", { class: `tag ${letter.toLowerCase()}` }, letter);
}

// The width of a text in pixels, in the font of the page's words.
const measureText = (() => {
  const pen = document.createElement("canvas").getContext("2d");
  return (text, size) => {
    pen.font = `${size}px ${getComputedStyle(document.body).getPropertyValue("--serif")}`;
    return pen.measureText(text).width;
  };
})();

// Calls a function once before the next picture, however often it is asked for.
function oncePerFrame(action) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      action();
    });
  };
}

// Calls a function when nobody has asked for it for some milliseconds.
function whenQuiet(action, milliseconds) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, milliseconds);
  };
}

let noticeTimer = 0;

// A message that goes away by itself; an error stays until it is clicked.
function notice(text, isError = false) {
  const place = byId("notice");
  clearTimeout(noticeTimer);
  place.textContent = text;
  place.classList.toggle("error", isError);
  if (!isError) noticeTimer = setTimeout(() => (place.textContent = ""), 4000);
}

// Offers a text as a file to save.
function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  const anchor = html("a", { href: address, download: name });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// What the browser keeps for this page; some browsers keep nothing for pages from disk.
const kept = {
  read(key) {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  },
  // Whether the value is kept.
  write(key, value) {
    try {
      localStorage.setItem(key, value);
      return true;
    } catch {
      return false;
    }
  },
};
