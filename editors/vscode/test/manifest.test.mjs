// What package.json promises is there.
import assert from "node:assert";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";

const home = path.join(path.dirname(new URL(import.meta.url).pathname), "..");
const manifest = JSON.parse(fs.readFileSync(path.join(home, "package.json"), "utf8"));
const source = fs.readdirSync(path.join(home, "src")).map((name) => fs.readFileSync(path.join(home, "src", name), "utf8")).join("\n");

test("every command is registered, and every one of the menus exists", () => {
  const commands = manifest.contributes.commands.map((one) => one.command);
  for (const command of commands) assert.ok(source.includes(`register("${command}"`), command);
  for (const entries of Object.values(manifest.contributes.menus)) {
    for (const entry of entries) assert.ok(commands.includes(entry.command), entry.command);
  }
});

test("every setting is read, here or by the server", () => {
  const read = ["server.path", "server.arguments", "run.arguments", "trace.server"];
  const sections = ["hints.", "schedule.", "lenses", "maxFilters", "warnings"];
  for (const key of Object.keys(manifest.contributes.configuration.properties)) {
    const name = key.replace(/^sluice\./, "");
    assert.ok(read.includes(name) || sections.some((section) => name.startsWith(section)), key);
  }
  for (const name of read.slice(0, 3)) assert.ok(source.includes(`"${name}"`), name);
});

test("files and exact versions", () => {
  const { contributes } = manifest;
  const files = [manifest.icon, contributes.languages[0].configuration, contributes.grammars[0].path, contributes.snippets[0].path];
  for (const file of files) assert.ok(fs.existsSync(path.join(home, file)), file);
  for (const [name, version] of Object.entries(manifest.devDependencies)) assert.match(version, /^\d+\.\d+\.\d+$/, name);
  const { increaseIndentPattern, decreaseIndentPattern } = JSON.parse(
    fs.readFileSync(path.join(home, contributes.languages[0].configuration), "utf8"),
  ).indentationRules;
  const [increase, decrease] = [new RegExp(increaseIndentPattern), new RegExp(decreaseIndentPattern)];
  for (const line of ["void->int filter F {", "    work push 1 { // text", "case 1:", "default:", "add splitjoin {", "f("]) assert.match(line, increase);
  for (const line of ["push(1);", "// work {", "add F(1);", "init { n = 0; }", "x = a ? b : c;"]) assert.doesNotMatch(line, increase);
  for (const line of ["}", "    };", "  case 2:", "default:"]) assert.match(line, decrease);
  for (const line of ["push(1);", "add F;", "split duplicate;"]) assert.doesNotMatch(line, decrease);
});
