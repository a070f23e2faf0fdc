import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Signature } from "../../domain/events/signature.ts";
import { SpanlineError } from "../../domain/errors.ts";
import { isObject, parseJson } from "../../data/json.ts";
import { isSameHmac, computeHmac } from "../../platform/hmac.ts";
import { randomString, randomToken } from "../../platform/random.ts";
import { readSavedFile, saveFile, saveFileOnce } from "../../platform/files/private-files.ts";

/** The keys for signing receipts, stored in a separate folder of the user's directory, not with the sessions. */
export interface SigningKeys {
  readonly keys: readonly KeyInfo[];
  /** Signs with the newest key. */
  readonly sign: (content: unknown) => Signature;
  readonly check: (content: unknown, signature: Signature) => SignatureCheck;
}

export interface KeyInfo {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

export type SignatureCheck = "valid" | "forged" | "unknown-key";

interface Key extends KeyInfo {
  readonly secret: string;
}

/** Reads the keys of a directory. Creates the first key if there is none. */
export async function openSigningKeys(directory: string, now: number): Promise<SigningKeys> {
  const file = await resolveKeysFile(directory);
  const existingKeys = await readKeys(file);
  if (existingKeys !== undefined) return createSigningKeys(existingKeys);
  await saveFileOnce(file, encodeKeys([createKey(now)]));
  return createSigningKeys((await readKeys(file)) ?? []);
}

/** Creates a new key for later signatures. Receipts signed with old keys can still be verified. */
export async function rotateSigningKey(directory: string, now: number): Promise<KeyInfo> {
  const file = await resolveKeysFile(directory);
  const key = createKey(now);
  await saveFile(file, encodeKeys([...((await readKeys(file)) ?? []), key]));
  return { id: key.id, createdAt: key.createdAt };
}

/** Reads the keys for verification only. Without keys, every signature has an unknown key. */
export async function readSigningKeys(directory: string): Promise<SigningKeys> {
  const oldKeys = (await readKeys(join(directory, OLD_FILE_NAME))) ?? [];
  return createSigningKeys(mergeKeys(oldKeys, (await readKeys(join(directory, KEYS_PATH))) ?? []));
}

const OLD_FILE_NAME = "signing-keys.json";
const KEYS_PATH = join("keys", OLD_FILE_NAME);

/**
 * Returns the file with the keys. Older versions stored the keys next to the sessions; such a file is moved, so a copy
 * of the sessions does not include the keys.
 */
async function resolveKeysFile(directory: string): Promise<string> {
  const file = join(directory, KEYS_PATH);
  const old = join(directory, OLD_FILE_NAME);
  const oldKeys = await readKeys(old);
  if (oldKeys === undefined) return file;
  // If two processes move the file at once, the first one wins; the content is the same.
  await saveFileOnce(file, encodeKeys(oldKeys));
  const currentKeys = (await readKeys(file)) ?? [];
  const all = mergeKeys(oldKeys, currentKeys);
  if (all.length > currentKeys.length) await saveFile(file, encodeKeys(all));
  await rm(old, { force: true });
  return file;
}

/** Current keys come last, so the newest key is a current key. */
function mergeKeys(oldKeys: readonly Key[], currentKeys: readonly Key[]): readonly Key[] {
  return [...oldKeys.filter(({ id }) => !currentKeys.some((key) => key.id === id)), ...currentKeys];
}

function createSigningKeys(keys: readonly Key[]): SigningKeys {
  const byId = new Map(keys.map((key) => [key.id, key]));
  const newest = keys.at(-1);
  return {
    keys: keys.map(({ id, createdAt }) => ({ id, createdAt })),
    sign(content) {
      if (newest === undefined) throw new Error("No signing key exists");
      return { keyId: newest.id, mac: computeHmac(newest.secret, content) };
    },
    check(content, { keyId, mac }) {
      const key = byId.get(keyId);
      if (key === undefined) return "unknown-key";
      return isSameHmac(mac, computeHmac(key.secret, content)) ? "valid" : "forged";
    },
  };
}

function createKey(now: number): Key {
  return { id: `key_${randomString(12)}`, createdAt: now, secret: randomToken() };
}

function encodeKeys(keys: readonly Key[]): string {
  return `${JSON.stringify({ keys }, null, 2)}\n`;
}

/** Throws `store_damaged` for an unreadable file instead of replacing it: the file may hold the keys of many logs. */
async function readKeys(file: string): Promise<readonly Key[] | undefined> {
  const text = await readSavedFile(file);
  if (text === undefined) return undefined;
  const parsed = parseJson(text);
  const list = parsed.ok && isObject(parsed.value) ? parsed.value["keys"] : undefined;
  if (Array.isArray(list) && list.length > 0 && list.every(isKey)) return list;
  const message = `${file} is not a valid file of signing keys. Fix: move it away; a new file is created`;
  throw new SpanlineError("store_damaged", message, { details: { path: file } });
}

function isKey(value: unknown): value is Key {
  if (!isObject(value)) return false;
  const { id, createdAt, secret } = value;
  return typeof id === "string" && typeof createdAt === "number" && typeof secret === "string";
}
