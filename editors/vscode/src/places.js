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

/** The nodes of the smallest ranges around a place: the filter, not the pipeline that it stands in. */
function nodesAt(nodes, uri, line, character) {
  const around = nodes.filter((node) => node.uri === uri && node.range && holds(node.range, line, character));
  const least = Math.min(...around.map((node) => size(node.range)));
  return around.filter((node) => size(node.range) === least).map((node) => node.id);
}

module.exports = { holds, nodesAt };
