// The server with the protocol library of VS Code's client, in Node.js: SLUICE=target/release/sluice node protocol.mjs
//
// One session as an editor has it, then texts that change at random: at each stop the server must say of the text what a new server says of it.
import assert from "node:assert";
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const { createProtocolConnection, StreamMessageReader, StreamMessageWriter } = createRequire(import.meta.url)("vscode-languageserver-protocol/node");
const sluice = process.env.SLUICE && path.resolve(process.env.SLUICE);
if (!sluice || spawnSync(sluice, ["lsp", "--help"]).status !== 0) {
  console.log("SKIPPED: SLUICE names no command that has `lsp`");
  process.exit(0);
}
const root = path.join(path.dirname(new URL(import.meta.url).pathname), "../../..");
const home = fs.mkdtempSync(path.join(os.tmpdir(), "sluice-protocol-"));

class Server {
  async start(settings = {}) {
    this.process = spawn(sluice, ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
    this.diagnostics = new Map();
    this.connection = createProtocolConnection(new StreamMessageReader(this.process.stdout), new StreamMessageWriter(this.process.stdin));
    this.connection.onNotification("textDocument/publishDiagnostics", (told) => this.diagnostics.set(told.uri, told));
    for (const name of ["client/registerCapability", "window/workDoneProgress/create", "workspace/inlayHint/refresh", "workspace/codeLens/refresh", "workspace/semanticTokens/refresh", "workspace/diagnostic/refresh"]) {
      this.connection.onRequest(name, () => null);
    }
    this.connection.onRequest("workspace/configuration", ({ items }) => items.map(() => settings));
    this.connection.listen();
    const { capabilities } = await this.ask("initialize", {
      processId: process.pid,
      rootUri: pathToFileURL(home).href,
      workspaceFolders: [{ uri: pathToFileURL(home).href, name: "home" }],
      initializationOptions: settings,
      capabilities: {
        general: { positionEncodings: ["utf-16"] },
        workspace: { configuration: true, inlayHint: { refreshSupport: true }, workspaceEdit: { documentChanges: true } },
        textDocument: {
          publishDiagnostics: { relatedInformation: true, versionSupport: true, codeDescriptionSupport: true },
          codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ["quickfix", "refactor"] } }, resolveSupport: { properties: ["edit"] }, dataSupport: true },
          documentSymbol: { hierarchicalDocumentSymbolSupport: true },
          hover: { contentFormat: ["markdown"] },
          completion: { completionItem: { snippetSupport: true } },
        },
      },
    });
    this.capabilities = capabilities;
    this.tell("initialized", {});
    return this;
  }

  ask(method, params) {
    return params === undefined ? this.connection.sendRequest(method) : this.connection.sendRequest(method, params);
  }

  tell(method, params) {
    return params === undefined ? this.connection.sendNotification(method) : this.connection.sendNotification(method, params);
  }

  open(name, text) {
    const uri = pathToFileURL(path.join(home, name)).href;
    fs.writeFileSync(path.join(home, name), text);
    this.tell("textDocument/didOpen", { textDocument: { uri, languageId: "sluice", version: 1, text } });
    return uri;
  }

  /** What the server has told of a text's version, once it has. */
  async told(uri, version, seconds = 20) {
    const end = Date.now() + seconds * 1000;
    for (;;) {
      const told = this.diagnostics.get(uri);
      if (told && (told.version === undefined || told.version === null || told.version >= version)) return told.diagnostics;
      if (Date.now() > end) throw new Error(`nothing was told of version ${version}`);
      await new Promise((go) => setTimeout(go, 10));
    }
  }

  /** Ends the server as the protocol says; it has five seconds. */
  async stop() {
    await this.ask("shutdown");
    const ended = new Promise((give) => this.process.once("exit", give));
    this.tell("exit");
    const late = new Promise((give) => setTimeout(give, 5000, "still runs"));
    const code = await Promise.race([ended, late]);
    if (code === "still runs") this.process.kill();
    assert.equal(code, 0, "what became of the process at `exit`");
  }
}

const whole = { start: { line: 0, character: 0 }, end: { line: 100000, character: 0 } };
const strip = (value) => JSON.parse(JSON.stringify(value ?? null));

async function session() {
  const server = await new Server().start();
  const text = fs.readFileSync(path.join(root, "examples/fm.str"), "utf8");
  const uri = server.open("fm.str", text);
  const textDocument = { uri };
  assert.deepEqual(await server.told(uri, 1), []);
  const lines = text.split("\n");
  const at = (piece) => {
    const line = lines.findIndex((one) => one.includes(piece));
    return { line, character: lines[line].indexOf(piece) + piece.length - 1 };
  };
  const place = { textDocument, position: at("add Demod") };
  const hints = await server.ask("textDocument/inlayHint", { textDocument, range: whole });
  assert.ok(hints.some((hint) => JSON.stringify(hint.label).includes("×")), "hints");
  assert.match(JSON.stringify(await server.ask("textDocument/hover", place)), /1→1 peek 2/);
  await until(async () => /II \d/.test(JSON.stringify(await server.ask("textDocument/inlayHint", { textDocument, range: whole }))), "the initiation interval");
  const symbols = await server.ask("textDocument/documentSymbol", { textDocument });
  assert.ok(symbols.some((one) => one.name.startsWith("FMReceiver")), "symbols");
  const definition = [await server.ask("textDocument/definition", place)].flat();
  assert.equal((definition[0].range || definition[0].targetSelectionRange).start.line, at("filter Demodulator").line);
  const edit = await server.ask("textDocument/rename", { ...place, newName: "Detect" });
  const edits = edit.documentChanges ? edit.documentChanges.flatMap((one) => one.edits) : Object.values(edit.changes).flat();
  assert.equal(edits.length, 2);
  assert.equal((await server.ask("textDocument/references", { ...place, context: { includeDeclaration: true } })).length, 2);
  const completion = await server.ask("textDocument/completion", place);
  assert.ok((completion.items || completion).some((one) => one.label.startsWith("Demodulator")), "completion");
  assert.ok((await server.ask("textDocument/semanticTokens/full", { textDocument })).data.length > 500);
  assert.ok((await server.ask("textDocument/foldingRange", { textDocument })).length > 10);
  assert.ok((await server.ask("textDocument/codeLens", { textDocument })).length >= 3);
  const formatted = await server.ask("textDocument/formatting", { textDocument, options: { tabSize: 4, insertSpaces: true } });
  assert.ok(!formatted || formatted.length === 0, "a formatted text stays as it is");
  for (const kind of ["graph", "schedule"]) {
    const picture = await until(() => server.ask(`sluice/${kind}`, { textDocument }).catch(() => null), `the ${kind}`);
    assert.match(picture.svg, /^<svg/);
    assert.ok(picture.nodes.some((node) => node.uri === uri && node.range.start.line === at("add Demod").line), kind);
    const mark = (id) => (kind === "graph" ? `id="${id}"` : `data-task="${id}"`);
    for (const node of picture.nodes) assert.ok(picture.svg.includes(mark(node.id)), `${kind} has ${node.id}`);
  }
  // A missing semicolon: told with its code, mended by its fix.
  const line = at("push(sum)").line;
  const character = lines[line].length;
  server.tell("textDocument/didChange", {
    textDocument: { uri, version: 2 },
    contentChanges: [{ range: { start: { line, character: character - 1 }, end: { line, character } }, text: "" }],
  });
  const told = await server.told(uri, 2);
  assert.equal(told[0].code, "E0009");
  const actions = await server.ask("textDocument/codeAction", { textDocument, range: told[0].range, context: { diagnostics: told } });
  assert.ok(actions.some((one) => /;/.test(one.title)), JSON.stringify(actions));
  // With a broken text the last good analysis still answers.
  assert.match(JSON.stringify(await server.ask("textDocument/hover", place)), /1→1 peek 2/);
  await server.stop();
  console.log("ok a session");
}

async function until(what, about) {
  const end = Date.now() + 30000;
  for (;;) {
    const found = await what();
    if (found) return found;
    if (Date.now() > end) throw new Error(`waited in vain for ${about}`);
    await new Promise((go) => setTimeout(go, 50));
  }
}

/** The same numbers each time. */
function random(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const PIECES = ["{", "}", "(", ")", ";", "\n", " ", "add ", "pop()", "é", "𝄞", "// ", "/*", "*/", '"', "int x;", "1", "", "", ""];

function position(text, offset) {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length - 1, character: before.at(-1).length };
}

/** What the server says of a text. Of a broken one colours may come from what was known before, so they are asked of a whole one only. */
async function said(server, uri, version, whole) {
  const textDocument = { uri };
  return strip({
    told: (await server.told(uri, version)).map(({ range, code, message }) => ({ range, code, message })),
    symbols: await server.ask("textDocument/documentSymbol", { textDocument }),
    folds: await server.ask("textDocument/foldingRange", { textDocument }),
    colours: whole && (await server.ask("textDocument/semanticTokens/full", { textDocument }))?.data,
  });
}

async function changes(seed) {
  const r = random(seed);
  const server = await new Server().start({ schedule: { automatic: false } });
  let text = fs.readFileSync(path.join(root, "examples/equalizer.str"), "utf8");
  const uri = server.open(`random${seed}.str`, text);
  let version = 1;
  const good = text;
  for (let step = 1; step <= 121; step++) {
    const contentChanges = [];
    if (step === 121) {
      contentChanges.push({ range: { start: position(text, 0), end: position(text, text.length) }, text: good });
      text = good;
    } else for (let i = 0; i <= r(3); i++) {
      let [start, end] = [r(text.length + 1), 0];
      end = Math.min(text.length, start + r(4));
      // Half a character cannot be meant.
      if (/[\udc00-\udfff]/.test(text[start] || "")) start -= 1;
      if (/[\udc00-\udfff]/.test(text[end] || "")) end += 1;
      const piece = PIECES[r(PIECES.length)];
      contentChanges.push({ range: { start: position(text, start), end: position(text, end) }, text: piece });
      text = text.slice(0, start) + piece + text.slice(end);
    }
    version += 1;
    server.tell("textDocument/didChange", { textDocument: { uri, version }, contentChanges });
    if (step % 40 === 0 || text === good) {
      const fresh = await new Server().start({ schedule: { automatic: false } });
      const copy = fresh.open(`random${seed}.str`, text);
      assert.equal(copy, uri);
      assert.deepEqual(await said(server, uri, version, text === good), await said(fresh, copy, 1, text === good), `seed ${seed}, step ${step}`);
      await fresh.stop();
    }
  }
  await server.stop();
}

try {
  await session();
  for (let seed = 1; seed <= 5; seed++) await changes(seed);
  console.log("ok changes at random");
} finally {
  fs.rmSync(home, { recursive: true, force: true });
}
process.exit(0);
