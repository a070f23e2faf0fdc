import { pluralize } from "../../text/pluralize.ts";
import type { JsonObject } from "../../data/json.ts";
import { createToolOutput, type ToolOutput } from "../../domain/tools/tool-output.ts";
import type { Tool } from "../tool.ts";
import { readBooleanArgument, readStringArgument } from "./tool-arguments.ts";
import { encodeText, changeFile, readOriginal, decodeText } from "./change-file.ts";
import { computeSha256 } from "./files/read-whole-file.ts";
import { createRefusal } from "./tool-refusal.ts";
import { applyEdit, type Edit } from "./text/apply-edit.ts";
import { withParentFolder, locatePath } from "./workspace.ts";
import {
  createWorkspaceTool,
  type WorkspaceToolContext,
  type WorkspaceToolCall,
} from "./create-workspace-tool.ts";

/** Creates `edit_file`. Not idempotent: a second run would no longer find the old text. */
export function createEditFileTool(context: WorkspaceToolContext): Tool {
  return createWorkspaceTool(
    {
      name: "edit_file",
      description:
        "Replaces text in a file of the workspace. old_text must occur in the file exactly, and only once unless " +
        "replace_all is set. Line endings and the byte order mark are preserved.",
      properties: {
        path: { type: "string", description: "Relative to the workspace, with / as separator" },
        old_text: {
          type: "string",
          description: "The current text in the file, without line numbers",
        },
        new_text: { type: "string", description: "The replacement text" },
        replace_all: { type: "boolean", description: "Replace every occurrence" },
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
    context,
  );
}

export function readEditArguments(input: JsonObject): Edit {
  return {
    oldText: readStringArgument(input, "old_text") ?? "",
    newText: readStringArgument(input, "new_text") ?? "",
    replaceAll: readBooleanArgument(input, "replace_all"),
  };
}

async function editFile({
  input,
  workspace,
  context,
  editor,
}: WorkspaceToolCall): Promise<ToolOutput> {
  const pathInput = { argument: "path", input: readStringArgument(input, "path") ?? "" };
  const located = await locatePath(workspace, pathInput, context);
  const { path, hostPath } = located;
  return withParentFolder(workspace, located, async (folder, name) => {
    const original = await readOriginal(folder, name, { located, workspace, editor });
    if (original.visible === null) throw createRefusal("missing", `File not found: ${path}`);
    const text = decodeText(original.visible.bytes);
    if (text === undefined) throw createRefusal("not_text", `${path} is not UTF-8 text`);
    const edited = applyEdit(text, readEditArguments(input));
    if (edited.problem !== undefined) {
      throw createRefusal(edited.problem, `${path} was not changed: ${edited.message}`);
    }
    const bytes = encodeText(edited.text, workspace);
    context.signal.throwIfAborted();
    const changed = await changeFile(
      { path, hostPath, folder, name, original, bytes },
      { workspace, editor },
    );
    const { lines } = edited;
    const where = lines.length === 1 ? `line ${lines[0]}` : `${lines.length} places`;
    const sha256 = computeSha256(bytes);
    return createToolOutput({
      text: `Changed ${path} at ${where}: ${pluralize(bytes.length, "byte")}, sha256 ${sha256}`,
      data: { path, lines: lines.slice(0, MAX_LINES), replaced: lines.length, sha256 },
      locations: lines.slice(0, MAX_LINES).map((line) => ({ path, line })),
      ...changed,
    });
  });
}

const MAX_LINES = 100;
