import { isUtf8 } from "node:buffer";
import type { BigIntStats } from "node:fs";
import { pluralize } from "../../text/pluralize.ts";
import type { FileChange, FileDiff } from "../../domain/tools/tool-output.ts";
import { MAX_EDITOR_TEXT, type EditorFiles } from "./editor/editor-files.ts";
import type { Folder } from "./files/folder.ts";
import { openFile } from "./files/open-file.ts";
import { readWholeFile, computeSha256 } from "./files/read-whole-file.ts";
import { replaceFile } from "./files/replace-file.ts";
import { createRefusal } from "./tool-refusal.ts";
import type { LocatedPath, Workspace } from "./workspace.ts";

/** The content of a file before a change. */
export interface FileContent {
  readonly bytes: Buffer;
  readonly sha256: string;
}

interface FileOnDisk extends FileContent {
  readonly facts: BigIntStats;
}

/** A file before a change: on the disk, and as visible in the editor. Null if the file does not exist. */
export interface OriginalFile {
  readonly disk: FileOnDisk | null;
  readonly visible: FileContent | null;
}

interface FileContext {
  readonly located: Pick<LocatedPath, "path" | "hostPath">;
  readonly workspace: Workspace;
  readonly editor: EditorFiles;
}

/** Reads a file before a change: from the disk, and from the editor if the editor writes files. */
export async function readOriginal(
  folder: Folder,
  name: string,
  { located, workspace, editor }: FileContext,
): Promise<OriginalFile> {
  const { path, hostPath } = located;
  const disk = await readFromDisk(folder, name, { path, workspace });
  const isForEditor =
    disk === null || (disk.bytes.length <= MAX_EDITOR_TEXT && decodeText(disk.bytes) !== undefined);
  // An editor without write support would not receive the change, so its content is not the base of the change.
  if (!editor.writes || !isForEditor) return { disk, visible: disk };
  const { text } = await editor.read({ path, hostPath, folder, name }, disk !== null);
  if (text === undefined) return { disk, visible: disk };
  const bytes = Buffer.from(text);
  return { disk, visible: { bytes, sha256: computeSha256(bytes) } };
}

async function readFromDisk(
  folder: Folder,
  name: string,
  { path, workspace }: { readonly path: string; readonly workspace: Workspace },
): Promise<FileOnDisk | null> {
  const { fileBytes } = workspace.limits;
  const opened = await openFile(folder, name, workspace.places);
  if (opened === undefined) return null;
  try {
    const content = await readWholeFile(opened, fileBytes);
    if (content !== undefined) return { ...content, facts: opened.facts };
  } finally {
    await opened.handle.close();
  }
  throw createRefusal(
    "too_large",
    `${path} has more than ${fileBytes} bytes; larger files are not edited`,
  );
}

/** Decodes UTF-8 and keeps a byte order mark. Undefined if the bytes are not text. */
export function decodeText(bytes: Buffer): string | undefined {
  return isUtf8(bytes) && !bytes.includes(0) ? bytes.toString() : undefined;
}

/** Encodes text as UTF-8. Refuses unpaired surrogates, and texts beyond `fileBytes`. */
export function encodeText(text: string, { limits }: Workspace): Buffer {
  if (!text.isWellFormed())
    throw createRefusal(
      "not_text",
      "The text is not valid Unicode: it contains unpaired surrogates",
    );
  const bytes = Buffer.from(text);
  if (bytes.length <= limits.fileBytes) return bytes;
  const message = `The text has ${pluralize(bytes.length, "byte")}; the limit is ${limits.fileBytes}`;
  throw createRefusal("too_large", message);
}

export interface FileEdit {
  readonly path: string;
  readonly hostPath: string;
  readonly folder: Folder;
  readonly name: string;
  readonly original: OriginalFile;
  readonly bytes: Buffer;
}

export interface ChangeResult {
  readonly diffs: readonly FileDiff[];
  readonly undo: readonly FileChange[];
}

/**
 * Writes the file through the editor if possible, otherwise to the disk. Skips the write if the content is unchanged.
 */
export async function changeFile(
  change: FileEdit,
  { workspace, editor }: Pick<FileContext, "workspace" | "editor">,
): Promise<ChangeResult> {
  const { path, bytes } = change;
  const { disk, visible } = change.original;
  const sha256After = computeSha256(bytes);
  const isUnchanged = [disk, visible].every((content) => content?.sha256 === sha256After);
  if (!isUnchanged && !(await editor.write(change, bytes.toString()))) {
    await replaceFile({ ...change, original: disk, places: workspace.places });
  }
  const undo: FileChange = {
    path,
    existed: visible !== null,
    sha256Before: visible?.sha256 ?? null,
    sha256After,
    bytesBefore: visible?.bytes.length ?? 0,
    bytesAfter: bytes.length,
  };
  return { diffs: createDiff(change, workspace.limits.diffBytes), undo: [undo] };
}

/** Empty if a text exceeds the limit, or if the old content is not text. */
function createDiff({ path, original, bytes }: FileEdit, limit: number): readonly FileDiff[] {
  const { visible } = original;
  if (bytes.length > limit || (visible?.bytes.length ?? 0) > limit) return [];
  const oldText = visible === null ? null : decodeText(visible.bytes);
  return oldText === undefined ? [] : [{ path, oldText, newText: bytes.toString() }];
}
