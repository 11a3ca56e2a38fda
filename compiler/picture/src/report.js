"use strict";
// One table of what belongs together: node of the graph, task of the chart, line of the source.
const rows = new Map();
const byTask = new Map();
const byLine = new Map();
const push = (map, key, row) => { if (key) { map.has(key) ? map.get(key).push(row) : map.set(key, [row]); } };
function leftOut(note) {
  const ids = [];
  for (const run of note.dataset.nodes.split(" ")) {
    const [first, last] = run.split("-").map(Number);
    for (let i = first; i <= last; i++) { ids.push("n" + i); }
  }
  return ids;
}
// Branches that the graph leaves out have a note in their place.
const notes = new Map();
for (const note of document.querySelectorAll("#graph g[data-nodes]")) {
  for (const id of leftOut(note)) { notes.set(id, note); }
}
for (const tr of document.querySelectorAll("#nodes tbody tr")) {
  const id = tr.dataset.node;
  const row = { tr, node: document.getElementById(id) || notes.get(id), task: tr.dataset.task, line: tr.dataset.line };
  rows.set(tr.dataset.node, row);
  push(byTask, row.task, row);
  push(byLine, row.line, row);
}
const bars = new Map();
for (const bar of document.querySelectorAll("#gantt rect[data-task]")) { push(bars, bar.dataset.task, bar); }

let held = false;
let lit = [];
const light = (element) => { if (element) { element.classList.add("on"); lit.push(element); } };
const clear = () => { for (const e of lit) { e.classList.remove("on"); } lit = []; };

function show(found, scroll) {
  clear();
  if (found.length === 0) { return; }
  const gantt = document.getElementById("gantt");
  for (const row of found) {
    light(row.tr);
    light(row.node);
    if (row.line) { light(document.getElementById(row.line)); }
    for (const bar of bars.get(row.task) || []) { light(bar); light(gantt); }
  }
  const first = found[0];
  const more = found.length > 1 ? " and " + (found.length - 1) + " more" : "";
  document.getElementById("shown").textContent = first.tr.cells[0].textContent + more;
  if (!scroll) { return; }
  for (const e of [first.tr, first.node, first.line && document.getElementById(first.line)]) {
    if (e && !e.contains(scroll)) { reveal(e); }
  }
}

// Scrolls the box around an element, not the page.
function reveal(element) {
  const box = element.closest(".scroll");
  if (!box) { return; }
  const a = element.getBoundingClientRect();
  const b = box.getBoundingClientRect();
  box.scrollTop += a.top - b.top - (b.height - a.height) / 2;
  box.scrollLeft += a.left - b.left - (b.width - a.width) / 2;
}

function at(target) {
  const bar = target.closest("#gantt rect[data-task]");
  if (bar) { return byTask.get(bar.dataset.task) || []; }
  const tr = target.closest("#nodes tbody tr");
  if (tr) { return [rows.get(tr.dataset.node)]; }
  const node = target.closest("#graph g[id]");
  if (node && rows.has(node.id)) { return [rows.get(node.id)]; }
  const note = target.closest("#graph g[data-nodes]");
  if (note) { return leftOut(note).map((id) => rows.get(id)).filter(Boolean); }
  const line = target.closest("#source .line");
  if (line) { return byLine.get(line.id) || []; }
  return [];
}

document.addEventListener("mouseover", (event) => { if (!held) { show(at(event.target), null); } });
// The place in the address says what is held, so that a link can point at a filter.
function hold(found, from) {
  held = found.length > 0;
  show(found, from);
  history.replaceState(null, "", held ? "#" + found[0].tr.dataset.node : location.pathname + location.search);
}

document.addEventListener("click", (event) => { hold(at(event.target), event.target); });
document.addEventListener("keydown", (event) => { if (event.key === "Escape") { hold([], null); } });
const wanted = rows.get(location.hash.slice(1));
if (wanted) { hold([wanted], document.head); }
