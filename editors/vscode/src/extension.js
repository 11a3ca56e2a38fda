// The extension: starts `sluice lsp`, and does what a server cannot: run in a terminal, pictures beside the text.
"use strict";

const vscode = require("vscode");
const { LanguageClient, State, RevealOutputChannelOn } = require("vscode-languageclient/node");
const { Pictures } = require("./pictures");
const { Tasks, runFile } = require("./tasks");

/** @type {Client | undefined} */
let client;
/** @type {vscode.LogOutputChannel | undefined} */
let log;
/** @type {vscode.LanguageStatusItem | undefined} */
let status;

const settings = () => vscode.workspace.getConfiguration("sluice");

/** The text whose picture or schedule is meant: the one that a lens names, else the one in front. */
function documentOf(argument) {
  if (typeof argument === "string") return vscode.Uri.parse(argument);
  if (argument instanceof vscode.Uri) return argument;
  if (argument && typeof argument.uri === "string") return vscode.Uri.parse(argument.uri);
  const editor = vscode.window.activeTextEditor;
  return editor && editor.document.languageId === "sluice" ? editor.document.uri : undefined;
}

/** What the server is told of the settings, at its start and whenever they change. */
function options() {
  const all = settings();
  const names = ["hints", "lenses", "schedule", "maxFilters", "warnings"];
  return Object.fromEntries(names.map((name) => [name, all.get(name)]));
}

/** The client, quiet while it starts: what goes wrong then is said once, with a way to the setting. */
class Client extends LanguageClient {
  starting = true;

  error(message, data, notify) {
    super.error(message, data, this.starting ? false : notify);
  }
}

function makeClient() {
  const server = { command: settings().get("server.path") || "sluice", args: settings().get("server.arguments") };
  return new Client("sluice", "Sluice", { run: server, debug: server }, {
    documentSelector: [{ scheme: "file", language: "sluice" }, { scheme: "untitled", language: "sluice" }],
    synchronize: {
      configurationSection: "sluice",
      fileEvents: [
        vscode.workspace.createFileSystemWatcher("**/*.str"),
        vscode.workspace.createFileSystemWatcher("**/sluice.toml"),
      ],
    },
    initializationOptions: options(),
    outputChannel: log,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    markdown: { isTrusted: false, supportHtml: false },
    middleware: {
      // From the palette a command of the server comes without the text that it is for.
      executeCommand(command, args, next) {
        const uri = args.length === 0 ? documentOf(undefined) : undefined;
        return next(command, uri ? [uri.toString()] : args);
      },
    },
  });
}

async function start() {
  if (!vscode.workspace.isTrusted || client) return;
  const starting = makeClient();
  client = starting;
  starting.onDidChangeState(({ newState }) => {
    if (!status) return;
    status.busy = newState === State.Starting;
    status.severity = newState === State.Stopped ? vscode.LanguageStatusSeverity.Error : vscode.LanguageStatusSeverity.Information;
    status.detail = newState === State.Stopped ? "the language server does not run" : "language server";
  });
  try {
    await starting.start();
    starting.starting = false;
  } catch (error) {
    client = undefined;
    const path = settings().get("server.path");
    const answer = await vscode.window.showErrorMessage(
      `The language server cannot be started with “${path}”: ${error instanceof Error ? error.message : error}`,
      "Open the Setting",
      "Show the Log",
    );
    if (answer === "Open the Setting") await vscode.commands.executeCommand("workbench.action.openSettings", "sluice.server.path");
    if (answer === "Show the Log") log?.show();
  }
}

async function stop() {
  const running = client;
  client = undefined;
  // One that is still starting, or has died, cannot be stopped, and need not be.
  if (running) await running.stop(2000).catch(() => undefined).then(() => running.dispose().catch(() => undefined));
}

async function restart() {
  await stop();
  await start();
}

/** Asks the server; says so if it does not run. */
async function request(method, params) {
  if (!client || client.state !== State.Running) throw new Error("the language server does not run");
  return client.sendRequest(method, params);
}

/** Asks the server to run a command, for a text if there is one. */
async function execute(command, uri) {
  try {
    return await request("workspace/executeCommand", { command, arguments: uri ? [uri.toString()] : [] });
  } catch (error) {
    vscode.window.showErrorMessage(`Sluice: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}

/** The integer program, which may take its whole time limit. */
async function solve(uri, pictures) {
  const title = "Sluice: looking for the best schedule";
  const found = await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, () => execute("sluice.schedule", uri));
  if (typeof found === "string") vscode.window.showInformationMessage(`Sluice: ${found}`);
  pictures.refresh();
}

/** @param {vscode.ExtensionContext} context */
async function activate(context) {
  log = vscode.window.createOutputChannel("Sluice", { log: true });
  status = vscode.languages.createLanguageStatusItem("sluice.server", { language: "sluice" });
  status.name = "Sluice";
  status.text = "Sluice";
  status.command = { command: "sluice.log", title: "Show the log" };
  const pictures = new Pictures(context.extensionUri, request);
  const register = (name, does) => context.subscriptions.push(vscode.commands.registerCommand(name, does));
  const show = (kind) => (argument) => {
    const uri = documentOf(argument);
    return uri ? pictures.open(kind, uri) : vscode.window.showInformationMessage("Open a .str file first.");
  };
  const run = async (argument) => {
    const uri = documentOf(argument);
    if (!uri) return vscode.window.showInformationMessage("Open a .str file first.");
    return runFile(uri, settings());
  };
  register("sluice.runFile", run);
  register("sluice.graph", show("graph"));
  register("sluice.scheduleView", show("schedule"));
  register("sluice.restart", restart);
  register("sluice.log", () => log?.show());
  register("sluice.toggle", () => execute("sluice.toggleHints"));
  register("sluice.solve", (argument) => {
    const uri = documentOf(argument);
    return uri ? solve(uri, pictures) : vscode.window.showInformationMessage("Open a .str file first.");
  });
  // What the server's lenses ask of an editor.
  register("sluice.run", run);
  register("sluice.showGraph", show("graph"));
  register("sluice.showSchedule", show("schedule"));
  register("sluice.showInterval", show("schedule"));
  context.subscriptions.push(
    log,
    status,
    pictures,
    vscode.tasks.registerTaskProvider("sluice", new Tasks(settings)),
    vscode.workspace.onDidGrantWorkspaceTrust(start),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("sluice.server")) return restart();
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
