// The TextMate grammar against the compiler's own lexer: SLUICE_TOKENS names a file of JSON lines {name, text, tokens: [[start, end, class]]},
// places in UTF-16 units, which tests/tests/editors.rs writes of every program of the repository.
import assert from "node:assert";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const textmate = require("vscode-textmate");
const oniguruma = require("vscode-oniguruma");
const here = path.dirname(new URL(import.meta.url).pathname);

async function grammar() {
  const wasm = fs.readFileSync(path.join(path.dirname(require.resolve("vscode-oniguruma")), "onig.wasm"));
  await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
  const file = path.join(here, "../syntaxes/sluice.tmLanguage.json");
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => textmate.parseRawGrammar(fs.readFileSync(file, "utf8"), file),
  });
  return registry.loadGrammar("source.sluice");
}

/** For each unit of a text the scopes it has, as one string. */
function scopes(rules, text) {
  const out = new Array(text.length).fill("");
  let stack = textmate.INITIAL;
  let start = 0;
  for (const line of text.split("\n")) {
    const result = rules.tokenizeLine(line, stack);
    stack = result.ruleStack;
    for (const token of result.tokens) {
      const names = token.scopes.slice(1).join(" ");
      for (let i = token.startIndex; i < Math.min(token.endIndex, line.length); i++) out[start + i] = names;
    }
    start += line.length + 1;
  }
  return out;
}

const KEYWORD = /^(keyword\.(control|other)|storage\.|constant\.language|support\.function\.channel)/;
const WANTED = {
  keyword: (scope) => KEYWORD.test(scope),
  identifier: (scope) => !/\b(keyword|storage|string|comment|constant|invalid)\./.test(scope),
  integer: (scope) => /^constant\.numeric\.integer/.test(scope),
  real: (scope) => /^constant\.numeric\.float/.test(scope),
  imaginary: (scope) => /^constant\.numeric\.imaginary/.test(scope),
  string: (scope) => /^string\.quoted\.double/.test(scope),
  character: (scope) => /^string\.quoted\.single/.test(scope),
  comment: (scope) => /^comment\./.test(scope),
  sign: (scope) => /^(keyword\.operator|punctuation)\./.test(scope),
};

test("every token of every program has the scope of its class", { skip: !process.env.SLUICE_TOKENS && "no tokens given" }, async () => {
  const rules = await grammar();
  let count = 0;
  for (const line of fs.readFileSync(process.env.SLUICE_TOKENS, "utf8").split("\n")) {
    if (!line) continue;
    const { name, text, tokens } = JSON.parse(line);
    const found = scopes(rules, text);
    for (const [start, end, kind] of tokens) {
      for (let i = start; i < end; i++) {
        // The line ends inside comments and strings belong to no line.
        if (text[i] === "\n") continue;
        assert.ok(WANTED[kind](found[i]), `${name}: ${JSON.stringify(text.slice(start, end))} at ${start} is ${kind}, but “${found[i]}”`);
        count += 1;
      }
    }
  }
  assert.ok(count > 100000, `${count} characters`);
});
