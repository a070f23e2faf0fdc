import { SpanlineError, formatThrown } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../data/json.ts";
import type { ToolContext } from "../../tool.ts";
import type { Folder } from "../files/folder.ts";
import { readStats } from "../files/file-identity.ts";
import { createRefusal } from "../tool-refusal.ts";
import type { EditorGate } from "./editor-gate.ts";

/** The files of an editor, for one call. They are reached by paths that were found fit on the disk, and are looked at again. */
export interface EditorFiles {
  /** Whether it writes: then what it has is what is changed. */
  readonly writes: boolean;
  /**
   * What the editor has of a file, saved or not. Many say of one that is not there either that something went wrong:
   * where the disk has none, that is none.
   */
  read(file: EditorFile, isOnDisk: boolean): Promise<EditorText>;
  /** False where nothing was written, and the disk is there for it. Rejects where nobody knows, or the editor says no. */
  write(file: EditorFile, text: string): Promise<boolean>;
}

export interface EditorFile {
  /** For messages. */
  readonly path: string;
  readonly hostPath: string;
  /** Held open: what the path leads to has to be in it, before and after. */
  readonly folder: Folder;
  readonly name: string;
}

/** The disk alone. */
export const NO_EDITOR: EditorFiles = {
  writes: false,
  read: async () => ({}),
  write: async () => false,
};

/** No text where the editor does not know the file, or is not asked; `note` says why, where that matters. */
export interface EditorText {
  readonly text?: string;
  readonly note?: string;
}

/** Characters. A longer text goes over no editor's connection: it is read and written on the disk. */
export const MAX_EDITOR_TEXT = 1024 * 1024;

type EditorCall = Pick<ToolContext, "editor" | "host">;

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
          `The editor did not give ${path}: ${formatThrown(error)}`,
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
  "a command is running, so this is the file on the disk, without what may be unsaved in the editor";

/** Before the tool's own time is up, so that there is something to be told. */
const READ_TIMEOUT_MS = 30_000;
const WRITE_TIMEOUT_MS = 45_000;

/** Whether it is the editor that says so: then it did not happen. */
function isEditorRefusal(error: unknown): boolean {
  return error instanceof SpanlineError && error.code === "host_failed";
}

function formatWriteFailure(path: string, error: unknown): string {
  const errorText = formatThrown(error);
  if (isEditorRefusal(error)) return `The editor did not write ${path}: ${errorText}`;
  return `Whether the editor wrote ${path} is not known (${errorText}); read it before you go on`;
}

async function checkNotReplaced({ path, folder, name }: EditorFile): Promise<void> {
  await folder.check();
  const facts = await readStats(folder.resolve(name));
  if (facts?.isSymbolicLink() === true)
    throw createRefusal("moved", `${path} was replaced by a link`);
}
