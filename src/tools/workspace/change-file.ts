import { isUtf8 } from "node:buffer";
import type { BigIntStats } from "node:fs";
import { counted } from "../../domain/counted.ts";
import type { FileChange, FileDiff } from "../../domain/tool-output.ts";
import type { Folder } from "./files/folder.ts";
import { openFile } from "./files/open-file.ts";
import { readWhole, sha256Of } from "./files/read-whole.ts";
import { replaceFile } from "./files/replace-file.ts";
import { refusal } from "./refusal.ts";
import type { Workspace } from "./workspace.ts";

/** A file as it is before a change. */
export interface FileBefore {
  readonly bytes: Buffer;
  readonly sha256: string;
  readonly facts: BigIntStats;
}

/** Null where there is none. */
export async function fileBefore(
  folder: Folder,
  name: string,
  { path, workspace }: { readonly path: string; readonly workspace: Workspace },
): Promise<FileBefore | null> {
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
  readonly folder: Folder;
  readonly name: string;
  readonly before: FileBefore | null;
  readonly bytes: Buffer;
}

export interface Changed {
  readonly diffs: readonly FileDiff[];
  readonly undo: readonly FileChange[];
}

/** Writes a file, unless it has that content already. */
export async function changeFile(change: Change, workspace: Workspace): Promise<Changed> {
  const { path, before, bytes } = change;
  const sha256After = sha256Of(bytes);
  if (before?.sha256 !== sha256After) await replaceFile({ ...change, places: workspace.places });
  const undo: FileChange = {
    path,
    existed: before !== null,
    sha256Before: before?.sha256 ?? null,
    sha256After,
    bytesBefore: before?.bytes.length ?? 0,
    bytesAfter: bytes.length,
  };
  return { diffs: diffOf(change, workspace.limits.diffBytes), undo: [undo] };
}

/** None where either text is too long to be shown, or the old one is none. */
function diffOf({ path, before, bytes }: Change, limit: number): readonly FileDiff[] {
  if (bytes.length > limit || (before?.bytes.length ?? 0) > limit) return [];
  const oldText = before === null ? null : textOf(before.bytes);
  return oldText === undefined ? [] : [{ path, oldText, newText: bytes.toString() }];
}
