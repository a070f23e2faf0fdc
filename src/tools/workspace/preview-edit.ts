import { isAbsolute, relative, resolve } from "node:path";
import { SpanlineError } from "../../domain/errors.ts";
import type { JsonObject } from "../../data/json.ts";
import type { FileDiff } from "../../domain/tools/tool-output.ts";
import { readStringArgument } from "./tool-arguments.ts";
import { encodeText, readOriginal, decodeText, type FileContent } from "./change-file.ts";
import { readEditArguments } from "./edit-file-tool.ts";
import { NO_EDITOR, type EditorFiles } from "./editor/editor-files.ts";
import { computeSha256 } from "./files/read-whole-file.ts";
import { DEFAULT_WORKSPACE_LIMITS } from "./workspace-limits.ts";
import type { WorkspacePaths } from "./paths/examine-paths.ts";
import { isRefusal, createRefusal } from "./tool-refusal.ts";
import { applyEdit } from "./text/apply-edit.ts";
import {
  withParentFolder,
  locatePath,
  openWorkspace,
  type LocatedPath,
  type Workspace,
} from "./workspace.ts";
import { checkExpected } from "./write-file-tool.ts";

/** The effect of a tool call on files, shown in the approval request. */
export interface EditPreview {
  /** The complete texts before and after. */
  readonly diffs: readonly FileDiff[];
  readonly evidence: readonly PreimageEvidence[];
}

/** The file behind a preview, or the reason for a missing preview. */
export type PreimageEvidence =
  | {
      readonly path: string;
      /** The tool name. */
      readonly source: string;
      /** Null if the file does not exist yet. */
      readonly preimageSha256: string | null;
      readonly byteCount: number;
      readonly reason?: undefined;
    }
  | {
      readonly path: string;
      readonly source: string;
      readonly reason: NoPreviewReason;
      readonly message: string;
    };

export type NoPreviewReason =
  | "outside"
  | "protected"
  | "invalid"
  /** The path contains a link: the preview would show one name while another file is changed. */
  | "symlink"
  | "unreadable"
  | "not_utf8"
  | "too_large"
  /** The call would be refused: the text or the file was not found. */
  | "does_not_apply";

/** Empty for tools which edit no files. Never throws, and changes nothing. */
export async function previewEdit(
  { name: tool, input }: { readonly name: string; readonly input: JsonObject },
  workspacePaths: WorkspacePaths,
  editor: EditorFiles = NO_EDITOR,
): Promise<EditPreview> {
  if (tool !== "write_file" && tool !== "edit_file") return { diffs: [], evidence: [] };
  const path = readStringArgument(input, "path") ?? "";
  try {
    const limits = { ...DEFAULT_WORKSPACE_LIMITS, fileBytes: MAX_BYTES };
    const workspace = await openWorkspace({ ...workspacePaths, limits });
    const located = await locatePath(workspace, { argument: "path", input: path });
    checkNoLink(path, located, { workspace, given: workspacePaths.root });
    const original = await readOriginalContent(located, workspace, editor);
    const resultText =
      tool === "write_file"
        ? applyWrite(input, original, located)
        : applyEditPreview(input, original);
    const newText = encodeText(resultText, workspace).toString();
    const oldText = original === null ? null : decodeContent(original);
    const preimageSha256 = original?.sha256 ?? null;
    const byteCount = original?.bytes.length ?? 0;
    return {
      diffs: [{ path: located.path, oldText, newText }],
      evidence: [{ path: located.path, source: tool, preimageSha256, byteCount }],
    };
  } catch (error) {
    return { diffs: [], evidence: [{ path, source: tool, ...describeReason(error) }] };
  }
}

const MAX_BYTES = 1024 * 1024;

class LinkError extends Error {}

/** Links are followed when a path is used, so the displayed name would differ from the changed file. */
function checkNoLink(
  input: string,
  { hostPath }: LocatedPath,
  { workspace, given: inputPath }: { readonly workspace: Workspace; readonly given: string },
): void {
  const isWritten = [workspace.root, inputPath].some((root) => {
    const written = isAbsolute(input)
      ? relative(root, input)
      : relative(root, resolve(root, input));
    return resolve(workspace.root, written) === hostPath;
  });
  if (!isWritten) throw new LinkError("The path goes through a link");
}

async function readOriginalContent(
  located: LocatedPath,
  workspace: Workspace,
  editor: EditorFiles,
): Promise<FileContent | null> {
  try {
    const { visible } = await withParentFolder(workspace, located, (folder, name) =>
      readOriginal(folder, name, { located, workspace, editor }),
    );
    return visible;
  } catch (error) {
    // Missing parent folders are created together with the file.
    if (isRefusal(error, "missing")) return null;
    throw error;
  }
}

function applyWrite(
  input: JsonObject,
  original: FileContent | null,
  { path }: LocatedPath,
): string {
  const content = readStringArgument(input, "content") ?? "";
  const expected = readStringArgument(input, "expected_sha256")?.toLowerCase();
  checkExpected({ path, expected, original, sha256: computeSha256(Buffer.from(content)) });
  return content;
}

function applyEditPreview(input: JsonObject, original: FileContent | null): string {
  if (original === null) throw createRefusal("missing", "File not found");
  const result = applyEdit(decodeContent(original), readEditArguments(input));
  if (result.problem !== undefined) throw createRefusal(result.problem, result.message);
  return result.text;
}

function decodeContent({ bytes }: FileContent): string {
  const text = decodeText(bytes);
  if (text === undefined) throw createRefusal("not_text", "The file is not UTF-8 text");
  return text;
}

function describeReason(error: unknown): {
  readonly reason: NoPreviewReason;
  readonly message: string;
} {
  if (error instanceof LinkError) return { reason: "symlink", message: error.message };
  if (!(error instanceof SpanlineError)) {
    return { reason: "unreadable", message: "The file cannot be read" };
  }
  return {
    reason: REASONS.get(String(error.details["reason"])) ?? "unreadable",
    message: error.message,
  };
}

const REASONS: ReadonlyMap<string, NoPreviewReason> = new Map([
  ["outside", "outside"],
  ["protected", "protected"],
  ["invalid", "invalid"],
  ["moved", "symlink"],
  ["not_text", "not_utf8"],
  ["too_large", "too_large"],
  ["missing", "does_not_apply"],
  ["changed", "does_not_apply"],
  ["no_match", "does_not_apply"],
  ["unclear", "does_not_apply"],
]);
