import { counted } from "../../domain/counted.ts";
import { toolOutput, type ToolOutput } from "../../domain/tool-output.ts";
import type { Tool } from "../tool.ts";
import { textArgument } from "./arguments.ts";
import { bytesOf, changeFile, fileBefore, type TextBefore } from "./change-file.ts";
import { sha256Of } from "./files/read-whole.ts";
import { refusal } from "./refusal.ts";
import { inItsFolder, locate } from "./workspace.ts";
import { workspaceTool, type ToolGround, type WorkspaceCall } from "./workspace-tool.ts";

export function writeFileTool(ground: ToolGround): Tool {
  return workspaceTool(
    {
      name: "write_file",
      description:
        "Writes a whole text file of the workspace, and the folders above it that are missing. Give expected_sha256, as " +
        "read_file told it, to write only over the text that you have read. To change a part of a file use edit_file.",
      properties: {
        path: { type: "string", description: "From the workspace, with /" },
        content: { type: "string", description: "All of the file" },
        expected_sha256: {
          type: "string",
          pattern: "^[0-9a-fA-F]{64}$",
          description: "Of the file that is to be replaced",
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
    ground,
  );
}

async function writeFile({
  input,
  workspace,
  context,
  editor,
}: WorkspaceCall): Promise<ToolOutput> {
  const given = { argument: "path", input: textArgument(input, "path") ?? "" };
  const bytes = bytesOf(textArgument(input, "content") ?? "", workspace);
  const expected = textArgument(input, "expected_sha256")?.toLowerCase();
  const located = await locate(workspace, given, context);
  const { path, hostPath } = located;
  const sha256 = sha256Of(bytes);
  return inItsFolder(
    workspace,
    located,
    async (folder, name) => {
      const before = await fileBefore(folder, name, { located, workspace, editor });
      const { seen } = before;
      checkExpected({ path, expected, before: seen, sha256 });
      context.signal.throwIfAborted();
      const changed = await changeFile(
        { path, hostPath, folder, name, before, bytes },
        { workspace, editor },
      );
      const did =
        seen === null ? "Made" : seen.sha256 === sha256 ? "Nothing to change in" : "Replaced";
      const text = `${did} ${path}: ${counted(bytes.length, "byte")}, sha256 ${sha256}`;
      const data = { path, bytes: bytes.length, sha256, existed: seen !== null };
      return toolOutput({ text, data, locations: [{ path }], ...changed });
    },
    // A folder is made for what is going to be in it, and a replaced file has one.
    { make: expected === undefined },
  );
}

interface Expectation {
  readonly path: string;
  readonly expected: string | undefined;
  readonly before: TextBefore | null;
  readonly sha256: string;
}

/** A file that has the new text already is fine: the same call was made before, and killed before it said so. */
export function checkExpected({ path, expected, before, sha256 }: Expectation): void {
  if (expected === undefined || before?.sha256 === expected || before?.sha256 === sha256) return;
  const found = before === null ? "it is not there any more" : `it has sha256 ${before.sha256} now`;
  throw refusal("changed", `${path} is not as it was read: ${found}; read it again`);
}
