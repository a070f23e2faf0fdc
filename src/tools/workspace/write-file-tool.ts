import { pluralize } from "../../text/pluralize.ts";
import { createToolOutput, type ToolOutput } from "../../domain/tools/tool-output.ts";
import type { Tool } from "../tool.ts";
import { readStringArgument } from "./tool-arguments.ts";
import { encodeText, changeFile, readOriginal, type FileContent } from "./change-file.ts";
import { computeSha256 } from "./files/read-whole-file.ts";
import { createRefusal } from "./tool-refusal.ts";
import { withParentFolder, locatePath } from "./workspace.ts";
import {
  createWorkspaceTool,
  type WorkspaceToolContext,
  type WorkspaceToolCall,
} from "./create-workspace-tool.ts";

export function createWriteFileTool(context: WorkspaceToolContext): Tool {
  return createWorkspaceTool(
    {
      name: "write_file",
      description:
        "Writes a complete text file of the workspace and creates missing parent folders. Pass expected_sha256, as " +
        "returned by read_file, to overwrite only the version you have read. To change part of a file, use edit_file.",
      properties: {
        path: { type: "string", description: "Relative to the workspace, with / as separator" },
        content: { type: "string", description: "The complete content of the file" },
        expected_sha256: {
          type: "string",
          pattern: "^[0-9a-fA-F]{64}$",
          description: "Of the file to be replaced",
        },
      },
      required: ["path", "content"],
      traits: {
        kind: "edit",
        sideEffect: "workspace_write",
        paths: ["path"],
        capabilities: ["workspace.write_text"],
      },
      idempotent: false,
      run: writeFile,
    },
    context,
  );
}

async function writeFile({
  input,
  workspace,
  context,
  editor,
}: WorkspaceToolCall): Promise<ToolOutput> {
  const pathInput = { argument: "path", input: readStringArgument(input, "path") ?? "" };
  const bytes = encodeText(readStringArgument(input, "content") ?? "", workspace);
  const expected = readStringArgument(input, "expected_sha256")?.toLowerCase();
  const located = await locatePath(workspace, pathInput, context);
  const { path, hostPath } = located;
  const sha256 = computeSha256(bytes);
  return withParentFolder(
    workspace,
    located,
    async (folder, name) => {
      const original = await readOriginal(folder, name, { located, workspace, editor });
      const { visible } = original;
      checkExpected({ path, expected, original: visible, sha256 });
      context.signal.throwIfAborted();
      const changed = await changeFile(
        { path, hostPath, folder, name, original, bytes },
        { workspace, editor },
      );
      const did =
        visible === null ? "Made" : visible.sha256 === sha256 ? "Nothing to change in" : "Replaced";
      const text = `${did} ${path}: ${pluralize(bytes.length, "byte")}, sha256 ${sha256}`;
      const data = { path, bytes: bytes.length, sha256, existed: visible !== null };
      return createToolOutput({ text, data, locations: [{ path }], ...changed });
    },
    // Parent folders are created only for a new file: a file to be replaced already has its folder.
    { make: expected === undefined },
  );
}

interface Expectation {
  readonly path: string;
  readonly expected: string | undefined;
  readonly original: FileContent | null;
  readonly sha256: string;
}

/** A file with the new content already is accepted: an earlier attempt of the same call was killed after the write. */
export function checkExpected({ path, expected, original, sha256 }: Expectation): void {
  if (expected === undefined || original?.sha256 === expected || original?.sha256 === sha256)
    return;
  const actual = original === null ? "it no longer exists" : `it has sha256 ${original.sha256} now`;
  throw createRefusal("changed", `${path} has changed since it was read: ${actual}; read it again`);
}
