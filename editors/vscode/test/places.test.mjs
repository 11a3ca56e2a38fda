import assert from "node:assert";
import test from "node:test";
import { createRequire } from "node:module";

const { holds, nodesAt } = createRequire(import.meta.url)("../src/places.js");
const range = (a, b, c, d) => ({ start: { line: a, character: b }, end: { line: c, character: d } });

test("a place belongs to the smallest range around it", () => {
  const nodes = [
    { id: "n0", uri: "file:///a.str", range: range(0, 0, 20, 1) },
    { id: "n1", uri: "file:///a.str", range: range(3, 4, 3, 20) },
    { id: "n2", uri: "file:///a.str", range: range(3, 4, 3, 20) },
    { id: "n3", uri: "file:///b.str", range: range(3, 4, 3, 20) },
  ];
  assert.deepEqual(nodesAt(nodes, "file:///a.str", 3, 10), ["n1", "n2"]);
  assert.deepEqual(nodesAt(nodes, "file:///a.str", 4, 0), ["n0"]);
  assert.deepEqual(nodesAt(nodes, "file:///a.str", 30, 0), []);
  assert.deepEqual(nodesAt(nodes, "file:///c.str", 3, 10), []);
});

test("the head of a declaration belongs to all that it made", () => {
  const declaration = { uri: "file:///lib.str", range: range(7, 0, 7, 30) };
  const nodes = [
    { id: "n1", uri: "file:///a.str", range: range(3, 4, 3, 20), declaration },
    { id: "n2", uri: "file:///a.str", range: range(4, 4, 4, 20), declaration },
    { id: "n3", declaration: null },
  ];
  assert.deepEqual(nodesAt(nodes, "file:///lib.str", 7, 3), ["n1", "n2"]);
  assert.deepEqual(nodesAt(nodes, "file:///a.str", 4, 5), ["n2"]);
});

test("both ends of a range belong to it", () => {
  assert.ok(holds(range(1, 2, 1, 5), 1, 2));
  assert.ok(holds(range(1, 2, 1, 5), 1, 5));
  assert.ok(!holds(range(1, 2, 1, 5), 1, 6));
  assert.ok(!holds(range(1, 2, 3, 5), 0, 9));
});
