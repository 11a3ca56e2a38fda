// Tasks: `sluice check` and its kin, with the pattern that finds their messages, and a program run from the editor.
"use strict";

const vscode = require("vscode");

function task(definition, scope, name, settings) {
  const command = settings.get("server.path") || "sluice";
  const execution = new vscode.ProcessExecution(command, [definition.command, ...(definition.arguments || [])], {
    cwd: typeof scope === "object" ? scope.uri.fsPath : undefined,
    // Colours would stand between the pattern and the messages.
    env: { NO_COLOR: "1" },
  });
  const made = new vscode.Task(definition, scope, name, "sluice", execution, ["$sluice"]);
  if (definition.command === "check" || definition.command === "build") made.group = vscode.TaskGroup.Build;
  if (definition.command === "test") made.group = vscode.TaskGroup.Test;
  made.presentationOptions = { clear: true, reveal: vscode.TaskRevealKind.Always };
  return made;
}

class Tasks {
  constructor(settings) {
    this.settings = settings;
  }

  /** For each folder with a manifest its project; for the file in front a check. */
  async provideTasks() {
    const found = [];
    for (const folder of vscode.workspace.workspaceFolders || []) {
      const manifests = await vscode.workspace.findFiles(new vscode.RelativePattern(folder, "sluice.toml"), null, 1);
      if (manifests.length === 0) continue;
      for (const command of ["check", "test", "build"]) {
        found.push(task({ type: "sluice", command }, folder, command, this.settings()));
      }
    }
    const editor = vscode.window.activeTextEditor;
    if (editor && editor.document.languageId === "sluice" && editor.document.uri.scheme === "file") {
      const scope = vscode.workspace.getWorkspaceFolder(editor.document.uri) || vscode.TaskScope.Workspace;
      const file = editor.document.uri.fsPath;
      found.push(task({ type: "sluice", command: "check", arguments: [file] }, scope, "check this file", this.settings()));
    }
    return found;
  }

  resolveTask(given) {
    if (!given.definition.command) return undefined;
    return task(given.definition, given.scope || vscode.TaskScope.Workspace, given.name, this.settings());
  }
}

/** Runs a program in the terminal of a task. */
async function runFile(uri, settings) {
  const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri.toString());
  if (document && (document.isDirty || document.isUntitled) && !(await document.save())) return;
  const definition = { type: "sluice", command: "run", arguments: [uri.fsPath, ...settings.get("run.arguments")] };
  const scope = vscode.workspace.getWorkspaceFolder(uri) || vscode.TaskScope.Workspace;
  return vscode.tasks.executeTask(task(definition, scope, `run ${uri.path.split("/").pop()}`, settings));
}

module.exports = { Tasks, runFile };
