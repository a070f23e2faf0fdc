import { isUtf8 } from "node:buffer";
import type { BigIntStats } from "node:fs";
import { counted } from "../../domain/counted.ts";
import type { FileChange, FileDiff } from "../../domain/tool-output.ts";
import { MOST_EDITOR_TEXT, type EditorFiles } from "./editor/editor-files.ts";
import type { Folder } from "./files/folder.ts";
import { openFile } from "./files/open-file.ts";
import { readWhole, sha256Of } from "./files/read-whole.ts";
import { replaceFile } from "./files/replace-file.ts";
import { refusal } from "./refusal.ts";
import type { Located, Workspace } from "./workspace.ts";

/** The text that a change begins with. */
export interface TextBefore {
  readonly bytes: Buffer;
  readonly sha256: string;
}

interface FileOnDisk extends TextBefore {
  readonly facts: BigIntStats;
}

/** A file before a change: on the disk, and as people have it before them. Null where there is none. */
export interface FileBefore {
  readonly disk: FileOnDisk | null;
  readonly seen: TextBefore | null;
}

interface FilePlace {
  readonly located: Pick<Located, "path" | "hostPath">;
  readonly workspace: Workspace;
  readonly editor: EditorFiles;
}

export async function fileBefore(
  folder: Folder,
  name: string,
  { located, workspace, editor }: FilePlace,
): Promise<FileBefore> {
  const { path, hostPath } = located;
  const disk = await fileOnDisk(folder, name, { path, workspace });
  const isForEditor =
    disk === null || (disk.bytes.length <= MOST_EDITOR_TEXT && textOf(disk.bytes) !== undefined);
  // One that does not write would not have what is written.
  if (!editor.writes || !isForEditor) return { disk, seen: disk };
  const { text } = await editor.read({ path, hostPath, folder, name }, disk !== null);
  if (text === undefined) return { disk, seen: disk };
  const bytes = Buffer.from(text);
  return { disk, seen: { bytes, sha256: sha256Of(bytes) } };
}

async function fileOnDisk(
  folder: Folder,
  name: string,
  { path, workspace }: { readonly path: string; readonly workspace: Workspace },
): Promise<FileOnDisk | null> {
  const { fileBytes } = workspace.limits;
  const opened = await openFile(folder, name, workspace.places);
  if (opened === undefined) return null;
  try {
    const whole = await readWhole(opened, fileBytes);
    if (whole !== undefined) return { ...whole, facts: opened.facts };
  } finally {
    await opened.handle.close();
  }
  throw refusal("too_large", `${path} has more than ${fileBytes} bytes; it is not changed here`);
}

/** Undefined where the bytes are no text. The mark that some files begin with stays in it. */
export function textOf(bytes: Buffer): string | undefined {
  return isUtf8(bytes) && !bytes.includes(0) ? bytes.toString() : undefined;
}

export function bytesOf(text: string, { limits }: Workspace): Buffer {
  if (!text.isWellFormed()) throw refusal("not_text", "The text has half characters in it");
  const bytes = Buffer.from(text);
  if (bytes.length <= limits.fileBytes) return bytes;
  const message = `The text has ${counted(bytes.length, "byte")}; at most ${limits.fileBytes} are written`;
  throw refusal("too_large", message);
}

export interface Change {
  readonly path: string;
  readonly hostPath: string;
  readonly folder: Folder;
  readonly name: string;
  readonly before: FileBefore;
  readonly bytes: Buffer;
}

export interface Changed {
  readonly diffs: readonly FileDiff[];
  readonly undo: readonly FileChange[];
}

/** Writes a file, unless it has that content already: by the editor, where there is one for it. */
export async function changeFile(
  change: Change,
  { workspace, editor }: Pick<FilePlace, "workspace" | "editor">,
): Promise<Changed> {
  const { path, bytes } = change;
  const { disk, seen } = change.before;
  const sha256After = sha256Of(bytes);
  const isThere = [disk, seen].every((one) => one?.sha256 === sha256After);
  if (!isThere && !(await editor.write(change, bytes.toString()))) {
    await replaceFile({ ...change, before: disk, places: workspace.places });
  }
  const undo: FileChange = {
    path,
    existed: seen !== null,
    sha256Before: seen?.sha256 ?? null,
    sha256After,
    bytesBefore: seen?.bytes.length ?? 0,
    bytesAfter: bytes.length,
  };
  return { diffs: diffOf(change, workspace.limits.diffBytes), undo: [undo] };
}

/** None where either text is too long to be shown, or the old one is none. */
function diffOf({ path, before, bytes }: Change, limit: number): readonly FileDiff[] {
  const { seen } = before;
  if (bytes.length > limit || (seen?.bytes.length ?? 0) > limit) return [];
  const oldText = seen === null ? null : textOf(seen.bytes);
  return oldText === undefined ? [] : [{ path, oldText, newText: bytes.toString() }];
}
