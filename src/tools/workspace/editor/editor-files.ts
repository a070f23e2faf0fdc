import { SpanlineError, formatThrown } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../data/json.ts";
import type { ToolContext } from "../../tool.ts";
import type { Folder } from "../files/folder.ts";
import { readStats } from "../files/file-identity.ts";
import { createRefusal } from "../tool-refusal.ts";
import type { EditorGate } from "./editor-gate.ts";

/**
 * File access through the editor, for one tool call. The paths were resolved on the disk, and are checked again around
 * each access.
 */
export interface EditorFiles {
  /** Whether the editor writes files. If so, the editor's content is the base of a change. */
  readonly writes: boolean;
  /**
   * The editor's content of a file, including unsaved changes. Many editors report an error for a missing file; if the
   * file is not on the disk either, the error counts as a missing file.
   */
  read(file: EditorFile, isOnDisk: boolean): Promise<EditorText>;
  /**
   * Returns false if the editor wrote nothing and the disk should be used. Rejects if the editor refuses, or if the
   * outcome is unknown.
   */
  write(file: EditorFile, text: string): Promise<boolean>;
}

export interface EditorFile {
  /** For messages. */
  readonly path: string;
  readonly hostPath: string;
  /** The open parent folder. The path must lead into it before and after the access. */
  readonly folder: Folder;
  readonly name: string;
}

/** Disk access only. */
export const NO_EDITOR: EditorFiles = {
  writes: false,
  read: async () => ({}),
  write: async () => false,
};

/** `text` is absent if the editor does not know the file or was not asked; `note` explains an important reason. */
export interface EditorText {
  readonly text?: string;
  readonly note?: string;
}

/** Characters. Longer texts are not sent to an editor, but read and written on the disk. */
export const MAX_EDITOR_TEXT = 1024 * 1024;

type EditorCall = Pick<ToolContext, "editor" | "host">;

/** Creates the editor access of a tool call. While a command runs, reads and writes fall back to the disk. */
export function createEditorFiles(
  { editor, host }: Partial<EditorCall>,
  gate: EditorGate,
  { readMs = READ_TIMEOUT_MS }: { readonly readMs?: number } = {},
): EditorFiles {
  const requestEditor = (
    kind: string,
    payload: JsonObject,
    milliseconds: number,
  ): Promise<JsonObject> => {
    if (editor === undefined || host === undefined) return Promise.resolve({});
    return host(editor.clientId, kind, payload, milliseconds);
  };

  async function read(file: EditorFile, isOnDisk: boolean): Promise<EditorText> {
    const { path, hostPath } = file;
    await checkNotReplaced(file);
    const { text } = await requestEditor("read-file", { path: hostPath }, readMs).catch(
      (error: unknown) => {
        if (!isOnDisk && isEditorRefusal(error)) return EMPTY_REPLY;
        throw createRefusal(
          "failed",
          `The editor did not return ${path}: ${formatThrown(error)}`,
          error,
        );
      },
    );
    await checkNotReplaced(file);
    return typeof text === "string" ? { text } : {};
  }

  async function write(file: EditorFile, text: string): Promise<true | undefined> {
    const { path, hostPath } = file;
    await checkNotReplaced(file);
    const payload = { path: hostPath, content: text };
    const { written } = await requestEditor("write-file", payload, WRITE_TIMEOUT_MS).catch(
      (error: unknown) => {
        throw createRefusal("failed", formatWriteFailure(path, error), error);
      },
    );
    await checkNotReplaced(file);
    return written === true ? true : undefined;
  }

  return {
    writes: editor?.writesFiles === true,
    async read(file, isOnDisk) {
      if (editor?.readsFiles !== true) return {};
      return (
        (await gate.runEditorAccess(() => read(file, isOnDisk))) ?? { note: COMMAND_RUNNING_NOTE }
      );
    },
    async write(file, text) {
      if (editor?.writesFiles !== true || text.length > MAX_EDITOR_TEXT) return false;
      return (await gate.runEditorAccess(() => write(file, text))) ?? false;
    },
  };
}

const EMPTY_REPLY: JsonObject = {};

const COMMAND_RUNNING_NOTE =
  "a command is running, so this is the file on the disk, without unsaved changes in the editor";

/** Shorter than the tool's own timeout, so that the model gets a specific message. */
const READ_TIMEOUT_MS = 30_000;
const WRITE_TIMEOUT_MS = 45_000;

/** Whether the editor itself refused: then the operation did not happen. */
function isEditorRefusal(error: unknown): boolean {
  return error instanceof SpanlineError && error.code === "host_failed";
}

function formatWriteFailure(path: string, error: unknown): string {
  const errorText = formatThrown(error);
  if (isEditorRefusal(error)) return `The editor did not write ${path}: ${errorText}`;
  return `Whether the editor wrote ${path} is unknown (${errorText}); read the file before you continue`;
}

/** Refuses a file whose folder has moved, or which is a link: the editor would follow the link. */
async function checkNotReplaced({ path, folder, name }: EditorFile): Promise<void> {
  await folder.check();
  const facts = await readStats(folder.resolve(name));
  if (facts?.isSymbolicLink() === true)
    throw createRefusal("moved", `${path} was replaced by a link`);
}
