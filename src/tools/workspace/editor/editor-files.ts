import { SpanlineError, thrownMessage } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../domain/json.ts";
import type { ToolContext } from "../../tool.ts";
import type { Folder } from "../files/folder.ts";
import { lookAt } from "../files/identity.ts";
import { refusal } from "../refusal.ts";
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
export const MOST_EDITOR_TEXT = 1024 * 1024;

type EditorCall = Pick<ToolContext, "editor" | "host">;

export function editorFiles(
  { editor, host }: Partial<EditorCall>,
  gate: EditorGate,
  { readMs = READ_MS }: { readonly readMs?: number } = {},
): EditorFiles {
  const ask = (kind: string, payload: JsonObject, milliseconds: number): Promise<JsonObject> => {
    if (editor === undefined || host === undefined) return Promise.resolve({});
    return host(editor.clientId, kind, payload, milliseconds);
  };

  async function read(file: EditorFile, isOnDisk: boolean): Promise<EditorText> {
    const { path, hostPath } = file;
    await checkPlace(file);
    const { text } = await ask("read-file", { path: hostPath }, readMs).catch((error: unknown) => {
      if (!isOnDisk && isRefused(error)) return NOTHING;
      throw refusal("failed", `The editor did not give ${path}: ${thrownMessage(error)}`, error);
    });
    await checkPlace(file);
    return typeof text === "string" ? { text } : {};
  }

  async function write(file: EditorFile, text: string): Promise<true | undefined> {
    const { path, hostPath } = file;
    await checkPlace(file);
    const payload = { path: hostPath, content: text };
    const { written } = await ask("write-file", payload, WRITE_MS).catch((error: unknown) => {
      throw refusal("failed", notWritten(path, error), error);
    });
    await checkPlace(file);
    return written === true ? true : undefined;
  }

  return {
    writes: editor?.writesFiles === true,
    async read(file, isOnDisk) {
      if (editor?.readsFiles !== true) return {};
      return (await gate.pass(() => read(file, isOnDisk))) ?? { note: BUSY };
    },
    async write(file, text) {
      if (editor?.writesFiles !== true || text.length > MOST_EDITOR_TEXT) return false;
      return (await gate.pass(() => write(file, text))) ?? false;
    },
  };
}

const NOTHING: JsonObject = {};

const BUSY =
  "a command is running, so this is the file on the disk, without what may be unsaved in the editor";

/** Before the tool's own time is up, so that there is something to be told. */
const READ_MS = 30_000;
const WRITE_MS = 45_000;

/** Whether it is the editor that says so: then it did not happen. */
function isRefused(error: unknown): boolean {
  return error instanceof SpanlineError && error.code === "host_failed";
}

function notWritten(path: string, error: unknown): string {
  const said = thrownMessage(error);
  if (isRefused(error)) return `The editor did not write ${path}: ${said}`;
  return `Whether the editor wrote ${path} is not known (${said}); read it before you go on`;
}

async function checkPlace({ path, folder, name }: EditorFile): Promise<void> {
  await folder.check();
  const facts = await lookAt(folder.at(name));
  if (facts?.isSymbolicLink() === true) throw refusal("moved", `${path} was replaced by a link`);
}
