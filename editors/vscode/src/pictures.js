// Graph and schedule beside the text. The server draws (SVG) and says which place each node comes from; this shows it, leads from a node to
// its line, and lights the nodes of the line that the cursor is on.
"use strict";

const vscode = require("vscode");
const { nodesAt } = require("./places");

const TITLES = { graph: "Graph", schedule: "Schedule" };
/** Milliseconds after the last key, before the server is asked again. */
const PAUSE = 300;
/** And after an answer about an older text, twice as many after each further one: a schedule takes its time, a broken text its writer's. */
const AGAIN = 500;
const AGAIN_AT_MOST = 8000;

class Picture {
  constructor(kind, uri, panel, request) {
    Object.assign(this, { kind, uri, panel, request });
    this.nodes = [];
    this.asked = 0;
    this.ready = false;
    this.pending = undefined;
    this.timer = undefined;
    this.again = AGAIN;
    panel.webview.onDidReceiveMessage((message) => this.receive(message));
    panel.onDidChangeViewState(() => panel.visible && this.refresh());
  }

  receive(message) {
    if (message.type === "ready") {
      this.ready = true;
      if (this.pending) this.post(this.pending);
      return this.refresh();
    }
    if (message.type === "reveal") return this.reveal(message.id);
  }

  post(message) {
    if (message.type === "picture") this.pending = message;
    if (this.ready) this.panel.webview.postMessage(message);
  }

  /** Asks for the picture of the text as it is now. An answer that a later question has overtaken is dropped. */
  async refresh() {
    const asked = ++this.asked;
    try {
      const found = await this.request(`sluice/${this.kind}`, { textDocument: { uri: this.uri.toString() } });
      if (asked !== this.asked) return;
      if (!found || !found.svg || found.stale) this.askAgain();
      if (!found || !found.svg) return this.post({ type: "picture", svg: "", note: "There is no picture of this program yet." });
      this.nodes = found.nodes || [];
      if (found.title) this.panel.title = `${TITLES[this.kind]}: ${found.title}`;
      this.post({ type: "picture", svg: found.svg, stale: Boolean(found.stale), note: found.stale ? "The text has changed: this picture is older." : found.summary || "" });
      this.light();
    } catch (error) {
      if (asked !== this.asked) return;
      this.askAgain();
      this.post({ type: "picture", svg: "", note: error instanceof Error ? error.message : String(error) });
    }
  }

  soon() {
    this.again = AGAIN;
    this.later(PAUSE);
  }

  later(milliseconds) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.panel.visible && this.refresh(), milliseconds);
  }

  askAgain() {
    this.later(this.again);
    this.again = Math.min(2 * this.again, AGAIN_AT_MOST);
  }

  async reveal(id) {
    const node = this.nodes.find((one) => one.id === id);
    if (!node || !node.uri) return;
    const { start, end } = node.range;
    const selection = new vscode.Range(start.line, start.character, end.line, end.character);
    const beside = vscode.window.visibleTextEditors.find((editor) => editor.document.uri.toString() === node.uri);
    const column = beside ? beside.viewColumn : vscode.ViewColumn.One;
    const editor = await vscode.window.showTextDocument(vscode.Uri.parse(node.uri), { viewColumn: column, preserveFocus: false });
    editor.selection = new vscode.Selection(selection.start, selection.start);
    editor.revealRange(selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  /** Lights the nodes that the cursor stands on. */
  light(editor = vscode.window.activeTextEditor) {
    if (!editor || editor.document.languageId !== "sluice") return;
    const at = editor.selection.active;
    this.post({ type: "light", ids: nodesAt(this.nodes, editor.document.uri.toString(), at.line, at.character) });
  }
}

class Pictures {
  constructor(home, request) {
    this.home = home;
    this.request = request;
    /** By kind and text. */
    this.open_ = new Map();
    this.subscriptions = [
      vscode.workspace.onDidChangeTextDocument((event) => {
        if (event.document.languageId === "sluice") for (const one of this.open_.values()) one.soon();
      }),
      vscode.window.onDidChangeTextEditorSelection((event) => {
        for (const one of this.open_.values()) one.light(event.textEditor);
      }),
    ];
  }

  open(kind, uri) {
    const key = `${kind} ${uri}`;
    const there = this.open_.get(key);
    if (there) return there.panel.reveal(undefined, true);
    const media = vscode.Uri.joinPath(this.home, "media");
    const panel = vscode.window.createWebviewPanel(
      "sluice.picture",
      `${TITLES[kind]}: ${uri.path.split("/").pop()}`,
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { enableScripts: true, localResourceRoots: [media], retainContextWhenHidden: true },
    );
    panel.iconPath = vscode.Uri.joinPath(this.home, "icon.png");
    const picture = new Picture(kind, uri, panel, this.request);
    this.open_.set(key, picture);
    panel.onDidDispose(() => {
      clearTimeout(picture.timer);
      this.open_.delete(key);
    });
    panel.webview.html = page(panel.webview, media, kind);
  }

  /** All pictures anew: what the server knows has changed without the text. */
  refresh() {
    for (const one of this.open_.values()) one.soon();
  }

  dispose() {
    for (const one of [...this.open_.values()]) one.panel.dispose();
    for (const one of this.subscriptions) one.dispose();
  }
}

/** The page: nothing from elsewhere, no script but ours. SVG brings its own style, which no policy by nonce lets in. */
function page(webview, media, kind) {
  const nonce = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const at = (name) => webview.asWebviewUri(vscode.Uri.joinPath(media, name));
  const policy = `default-src 'none'; style-src ${webview.cspSource} 'unsafe-inline'; script-src 'nonce-${nonce}'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="UTF-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="stylesheet" href="${at("picture.css")}">
<title>${TITLES[kind]}</title>
</head>
<body>
<p id="note" role="status"></p>
<div id="picture" class="${kind}"></div>
<script nonce="${nonce}" src="${at("picture.js")}"></script>
</body>
</html>`;
}

module.exports = { Pictures };
