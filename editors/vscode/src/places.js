// Which nodes of a picture belong to a place in a text.
"use strict";

/** Does a range hold a place? Both ends count: a cursor stands between characters. */
function holds(range, line, character) {
  const { start, end } = range;
  const after = line > start.line || (line === start.line && character >= start.character);
  const before = line < end.line || (line === end.line && character <= end.character);
  return after && before;
}

const size = ({ start, end }) => (end.line - start.line) * 1e6 + (end.character - start.character);

/** The ranges of a text that a node stands for: where it is added, and the head of its declaration. */
function ranges(node, uri) {
  return [node, node.declaration].filter((place) => place && place.uri === uri && place.range).map((place) => place.range);
}

/** The nodes of the smallest ranges around a place: the filter, not the pipeline that it stands in. */
function nodesAt(nodes, uri, line, character) {
  const around = nodes.flatMap((node) =>
    ranges(node, uri).filter((range) => holds(range, line, character)).map((range) => ({ id: node.id, size: size(range) })),
  );
  const least = Math.min(...around.map((one) => one.size));
  return [...new Set(around.filter((one) => one.size === least).map((one) => one.id))];
}

module.exports = { holds, nodesAt };
