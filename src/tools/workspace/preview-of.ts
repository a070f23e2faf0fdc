import { isAbsolute, relative, resolve } from "node:path";
import { SpanlineError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { FileDiff } from "../../domain/tool-output.ts";
import { textArgument } from "./arguments.ts";
import { bytesOf, fileBefore, textOf, type TextBefore } from "./change-file.ts";
import { editArguments } from "./edit-file.ts";
import { NO_EDITOR, type EditorFiles } from "./editor/editor-files.ts";
import { sha256Of } from "./files/read-whole.ts";
import { DEFAULT_LIMITS } from "./limits.ts";
import type { Surroundings } from "./paths/examine-paths.ts";
import { isRefusal, refusal } from "./refusal.ts";
import { applyEdit } from "./text/apply-edit.ts";
import { inItsFolder, locate, openWorkspace, type Located, type Workspace } from "./workspace.ts";
import { checkExpected } from "./write-file.ts";

/** What a call is going to do to files, for somebody who is asked whether it may. */
export interface EditPreview {
  /** The whole texts before and after. */
  readonly diffs: readonly FileDiff[];
  readonly evidence: readonly PreimageEvidence[];
}

/** The file that a preview was made from, or why there is none. */
export type PreimageEvidence =
  | {
      readonly path: string;
      /** The tool that is asked for. */
      readonly source: string;
      /** Null where there is no file yet. */
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
  /** The path goes through a link: what is shown under one name would be done to another. */
  | "symlink"
  | "unreadable"
  | "not_utf8"
  | "too_large"
  /** The call would be refused: there is no such text, or no such file. */
  | "does_not_apply";

/** Empty for a tool that edits no files. Nothing is changed, and nothing is thrown. */
export async function previewOf(
  { name: tool, input }: { readonly name: string; readonly input: JsonObject },
  surroundings: Surroundings,
  editor: EditorFiles = NO_EDITOR,
): Promise<EditPreview> {
  if (tool !== "write_file" && tool !== "edit_file") return { diffs: [], evidence: [] };
  const path = textArgument(input, "path") ?? "";
  try {
    const limits = { ...DEFAULT_LIMITS, fileBytes: MOST_BYTES };
    const workspace = await openWorkspace({ ...surroundings, limits });
    const located = await locate(workspace, { argument: "path", input: path });
    checkNoLink(path, located, { workspace, given: surroundings.root });
    const before = await beforeOf(located, workspace, editor);
    const after = tool === "write_file" ? written(input, before, located) : edited(input, before);
    const newText = bytesOf(after, workspace).toString();
    const oldText = before === null ? null : textIn(before);
    const preimageSha256 = before?.sha256 ?? null;
    const byteCount = before?.bytes.length ?? 0;
    return {
      diffs: [{ path: located.path, oldText, newText }],
      evidence: [{ path: located.path, source: tool, preimageSha256, byteCount }],
    };
  } catch (error) {
    return { diffs: [], evidence: [{ path, source: tool, ...reasonOf(error) }] };
  }
}

const MOST_BYTES = 1024 * 1024;

class LinkError extends Error {}

/** Links are followed when the path is used, so that the names it is written with are not those that it has. */
function checkNoLink(
  input: string,
  { hostPath }: Located,
  { workspace, given }: { readonly workspace: Workspace; readonly given: string },
): void {
  const isWritten = [workspace.root, given].some((root) => {
    const written = isAbsolute(input)
      ? relative(root, input)
      : relative(root, resolve(root, input));
    return resolve(workspace.root, written) === hostPath;
  });
  if (!isWritten) throw new LinkError("The path goes through a link");
}

async function beforeOf(
  located: Located,
  workspace: Workspace,
  editor: EditorFiles,
): Promise<TextBefore | null> {
  try {
    const { seen } = await inItsFolder(workspace, located, (folder, name) =>
      fileBefore(folder, name, { located, workspace, editor }),
    );
    return seen;
  } catch (error) {
    // The folders above a new file are made with it.
    if (isRefusal(error, "missing")) return null;
    throw error;
  }
}

function written(input: JsonObject, before: TextBefore | null, { path }: Located): string {
  const content = textArgument(input, "content") ?? "";
  const expected = textArgument(input, "expected_sha256")?.toLowerCase();
  checkExpected({ path, expected, before, sha256: sha256Of(Buffer.from(content)) });
  return content;
}

function edited(input: JsonObject, before: TextBefore | null): string {
  if (before === null) throw refusal("missing", "There is no such file");
  const made = applyEdit(textIn(before), editArguments(input));
  if (made.problem !== undefined) throw refusal(made.problem, made.message);
  return made.text;
}

function textIn({ bytes }: TextBefore): string {
  const text = textOf(bytes);
  if (text === undefined) throw refusal("not_text", "The file is no text in UTF-8");
  return text;
}

function reasonOf(error: unknown): { readonly reason: NoPreviewReason; readonly message: string } {
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
