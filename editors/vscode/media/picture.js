// In the page of a picture: shows what it is sent, tells what is clicked.
"use strict";

const editor = acquireVsCodeApi();
const box = document.getElementById("picture");
const note = document.getElementById("note");
let lit = [];
let ids = [];

/** Elements of a node: of the graph by their id, of the chart by their task; branches that the graph leaves out by the note in their place. */
function elements(id) {
  const found = [...box.querySelectorAll(`[id="${CSS.escape(id)}"], [data-task="${CSS.escape(id.replace(/^t/, ""))}"]`)].filter(
    (element) => element.id === id || box.classList.contains("schedule"),
  );
  if (found.length > 0 || !/^n\d+$/.test(id)) return found;
  const number = Number(id.slice(1));
  const inside = (runs) =>
    runs.split(" ").some((run) => {
      const [first, last = first] = run.split("-").map(Number);
      return first <= number && number <= last;
    });
  return [...box.querySelectorAll("g[data-nodes]")].filter((element) => inside(element.dataset.nodes));
}

/** The node that an element shows. */
function nodeOf(target) {
  const element = target.closest("[data-task], g[id], g[data-nodes]");
  if (!element) return undefined;
  if (element.dataset.task !== undefined) return element.dataset.task;
  if (element.dataset.nodes) return `n${element.dataset.nodes.split(/[- ]/)[0]}`;
  return element.id;
}

function light() {
  for (const element of lit) element.classList.remove("lit");
  lit = ids.flatMap(elements);
  for (const element of lit) element.classList.add("lit");
  box.classList.toggle("some-lit", lit.length > 0);
}

window.addEventListener("message", ({ data }) => {
  if (data.type === "picture") {
    note.textContent = data.note || "";
    // Without a picture the last one stays: what is on the screen does not vanish at every key.
    if (data.svg) box.innerHTML = data.svg;
    box.classList.toggle("stale", Boolean(data.stale) || !data.svg);
    light();
  } else if (data.type === "light") {
    ids = data.ids;
    light();
    if (lit[0]) lit[0].scrollIntoView({ block: "nearest", inline: "nearest" });
  }
});

box.addEventListener("click", (event) => {
  const id = nodeOf(event.target);
  if (id !== undefined) editor.postMessage({ type: "reveal", id });
});

editor.postMessage({ type: "ready" });
