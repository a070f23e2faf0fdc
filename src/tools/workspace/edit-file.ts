import { counted } from "../../domain/counted.ts";
import type { JsonObject } from "../../domain/json.ts";
import { toolOutput, type ToolOutput } from "../../domain/tool-output.ts";
import type { Tool } from "../tool.ts";
import { flagArgument, textArgument } from "./arguments.ts";
import { bytesOf, changeFile, fileBefore, textOf } from "./change-file.ts";
import { sha256Of } from "./files/read-whole.ts";
import { refusal } from "./refusal.ts";
import { applyEdit, type Edit } from "./text/apply-edit.ts";
import { inItsFolder, locate } from "./workspace.ts";
import { workspaceTool, type ToolGround, type WorkspaceCall } from "./workspace-tool.ts";

export function editFileTool(ground: ToolGround): Tool {
  return workspaceTool(
    {
      name: "edit_file",
      description:
        "Replaces a piece of a text file of the workspace. old_text has to be in the file exactly, and once unless " +
        "replace_all is set. The ends of lines and the byte order mark stay as they are.",
      properties: {
        path: { type: "string", description: "From the workspace, with /" },
        old_text: { type: "string", description: "What is in the file, without line numbers" },
        new_text: { type: "string", description: "What is to be there instead" },
        replace_all: { type: "boolean", description: "Replace it wherever it is" },
      },
      required: ["path", "old_text", "new_text"],
      traits: {
        kind: "edit",
        sideEffect: "workspace_write",
        paths: ["path"],
        capabilities: ["workspace.read_text", "workspace.write_text"],
      },
      idempotent: false,
      run: editFile,
    },
    ground,
  );
}

export function editArguments(input: JsonObject): Edit {
  return {
    oldText: textArgument(input, "old_text") ?? "",
    newText: textArgument(input, "new_text") ?? "",
    replaceAll: flagArgument(input, "replace_all"),
  };
}

async function editFile({ input, workspace, context, editor }: WorkspaceCall): Promise<ToolOutput> {
  const given = { argument: "path", input: textArgument(input, "path") ?? "" };
  const located = await locate(workspace, given, context);
  const { path, hostPath } = located;
  return inItsFolder(workspace, located, async (folder, name) => {
    const before = await fileBefore(folder, name, { located, workspace, editor });
    if (before.seen === null) throw refusal("missing", `There is no file ${path}`);
    const text = textOf(before.seen.bytes);
    if (text === undefined) throw refusal("not_text", `${path} is no text in UTF-8`);
    const edited = applyEdit(text, editArguments(input));
    if (edited.problem !== undefined) {
      throw refusal(edited.problem, `${path} was not changed: ${edited.message}`);
    }
    const bytes = bytesOf(edited.text, workspace);
    context.signal.throwIfAborted();
    const changed = await changeFile(
      { path, hostPath, folder, name, before, bytes },
      { workspace, editor },
    );
    const { lines } = edited;
    const where = lines.length === 1 ? `line ${lines[0]}` : `${lines.length} places`;
    const sha256 = sha256Of(bytes);
    return toolOutput({
      text: `Changed ${path} at ${where}: ${counted(bytes.length, "byte")}, sha256 ${sha256}`,
      data: { path, lines: lines.slice(0, MOST_LINES), replaced: lines.length, sha256 },
      locations: lines.slice(0, MOST_LINES).map((line) => ({ path, line })),
      ...changed,
    });
  });
}

const MOST_LINES = 100;
