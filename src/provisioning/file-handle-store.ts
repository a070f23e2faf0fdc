import { access, constants, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { SpanlineError, formatThrown } from "../domain/errors.ts";
import { isObject, parseJson } from "../data/json.ts";
import { makeFolder, readSavedFile, saveFile } from "../platform/files/private-files.ts";
import { randomString } from "../platform/random.ts";
import type { HandleStore } from "./handle-store.ts";
import { parseHandle } from "./harness-handle.ts";

/** Unknown members are preserved. */
interface Contents {
  readonly handles: { readonly [key: string]: unknown };
  readonly tags: { readonly [tag: string]: unknown };
  readonly [member: string]: unknown;
}

const FORMAT_VERSION = 1;

/**
 * A store in a JSON file, readable only by its owner. Rejects if the file cannot be written, before any harness is
 * created which would not be recorded. An unreadable file is renamed, not overwritten. Changes of a process are
 * serialized, and each starts from the current file; concurrent changes by two processes are not protected against each
 * other.
 */
export async function openFileHandleStore(
  path: string,
  warn: (message: string) => void = () => {},
): Promise<HandleStore> {
  await checkWritable(path);
  let last: Promise<unknown> = Promise.resolve();

  /** Serializes operations: each starts from the result of the previous write. */
  function next<Value>(work: () => Promise<Value>): Promise<Value> {
    const result = last.then(work, work);
    last = result.catch(() => {});
    return result;
  }
  const read = (): Promise<Contents> => next(() => readContents(path, warn));
  const change = (step: (contents: Contents) => Contents): Promise<void> =>
    next(async () => {
      const contents = await readContents(path, warn);
      const changed = step(contents);
      if (changed === contents) return;
      await saveFile(path, `${JSON.stringify({ ...changed, version: FORMAT_VERSION }, null, 2)}\n`);
    });
  await read();

  return {
    getHandle: async (key) => parseHandle(readOwnMember((await read()).handles, key)),
    putHandle: (key, handle) =>
      change((all) => ({ ...all, handles: { ...all.handles, [key]: handle } })),
    deleteHandle: (key) =>
      change((all) =>
        Object.hasOwn(all.handles, key) ? { ...all, handles: omitMember(all.handles, key) } : all,
      ),
    async getTag(tag) {
      const digest = readOwnMember((await read()).tags, tag);
      return typeof digest === "string" ? digest : null;
    },
    putTag: (tag, digest) => change((all) => ({ ...all, tags: { ...all.tags, [tag]: digest } })),
    deleteTag: (tag) => change((all) => ({ ...all, tags: omitMember(all.tags, tag) })),
    async listTags(start) {
      const { tags } = await read();
      return new Map(
        Object.entries(tags).filter(
          (entry): entry is [string, string] =>
            entry[0].startsWith(start) && typeof entry[1] === "string",
        ),
      );
    },
  };
}

async function checkWritable(path: string): Promise<void> {
  try {
    await makeFolder(dirname(path));
    await access(dirname(path), constants.W_OK);
  } catch (cause) {
    throw createStoreError(path, `its folder cannot be written to (${formatThrown(cause)})`, cause);
  }
}

async function readContents(path: string, warn: (message: string) => void): Promise<Contents> {
  const text = await readSavedFile(path).catch((cause: unknown) => {
    throw createStoreError(path, formatThrown(cause), cause);
  });
  if (text === undefined) return { handles: {}, tags: {} };
  const parsed = parseJson(text);
  const contents = parsed.ok && isObject(parsed.value) ? parsed.value : null;
  if (contents !== null && Number(contents["version"]) > FORMAT_VERSION) {
    throw createStoreError(path, "a newer version of Spanline wrote it");
  }
  const { handles = {}, tags = {} } = contents ?? {};
  if (contents !== null && isObject(handles) && isObject(tags)) {
    return { ...contents, handles, tags };
  }
  const backupPath = `${path}.unreadable-${randomString(6)}`;
  await rename(path, backupPath);
  warn(
    `${path} is not a valid harness store; it was renamed to ${backupPath}, and an empty store is used`,
  );
  return { handles: {}, tags: {} };
}

function createStoreError(path: string, reason: string, cause?: unknown): SpanlineError {
  const message = `The harness store ${path} cannot be used: ${reason}`;
  return new SpanlineError("invalid_option", message, { details: { path: "store" }, cause });
}

function readOwnMember(members: Contents["handles"], key: string): unknown {
  return Object.hasOwn(members, key) ? members[key] : undefined;
}

function omitMember(members: Contents["handles"], key: string): Contents["handles"] {
  return Object.fromEntries(Object.entries(members).filter(([name]) => name !== key));
}
