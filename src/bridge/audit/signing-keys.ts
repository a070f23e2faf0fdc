import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Signature } from "../../domain/events/signature.ts";
import { SpanlineError } from "../../domain/errors.ts";
import { isObject, parseJson } from "../../data/json.ts";
import { isSameHmac, computeHmac } from "../../platform/hmac.ts";
import { randomString, randomToken } from "../../platform/random.ts";
import { readSavedFile, saveFile, saveFileOnce } from "../../platform/files/private-files.ts";

/** Keys that receipts are signed with. They lie in a folder of their own in the user's directory, not with the sessions. */
export interface SigningKeys {
  readonly keys: readonly KeyInfo[];
  /** With the newest key. */
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

/** The keys of a directory; the first one is made here. */
export async function openSigningKeys(directory: string, now: number): Promise<SigningKeys> {
  const file = await resolveKeysFile(directory);
  const existingKeys = await readKeys(file);
  if (existingKeys !== undefined) return createSigningKeys(existingKeys);
  await saveFileOnce(file, encodeKeys([createKey(now)]));
  return createSigningKeys((await readKeys(file)) ?? []);
}

/** Signs with a new key from now on. Receipts of the old ones can still be checked. */
export async function rotateSigningKey(directory: string, now: number): Promise<KeyInfo> {
  const file = await resolveKeysFile(directory);
  const key = createKey(now);
  await saveFile(file, encodeKeys([...((await readKeys(file)) ?? []), key]));
  return { id: key.id, createdAt: key.createdAt };
}

/** For whoever only checks: without keys, every signature is of an unknown one. */
export async function readSigningKeys(directory: string): Promise<SigningKeys> {
  const oldKeys = (await readKeys(join(directory, OLD_FILE_NAME))) ?? [];
  return createSigningKeys(mergeKeys(oldKeys, (await readKeys(join(directory, KEYS_PATH))) ?? []));
}

const OLD_FILE_NAME = "signing-keys.json";
const KEYS_PATH = join("keys", OLD_FILE_NAME);

/** Where the keys are. They lay beside the sessions once, and are moved: whoever copies those should not copy these. */
async function resolveKeysFile(directory: string): Promise<string> {
  const file = join(directory, KEYS_PATH);
  const old = join(directory, OLD_FILE_NAME);
  const oldKeys = await readKeys(old);
  if (oldKeys === undefined) return file;
  // Of two who move them at once, the first one's are everybody's, and they are the same.
  await saveFileOnce(file, encodeKeys(oldKeys));
  const currentKeys = (await readKeys(file)) ?? [];
  const all = mergeKeys(oldKeys, currentKeys);
  if (all.length > currentKeys.length) await saveFile(file, encodeKeys(all));
  await rm(old, { force: true });
  return file;
}

/** The newest is one of `known`. */
function mergeKeys(oldKeys: readonly Key[], currentKeys: readonly Key[]): readonly Key[] {
  return [...oldKeys.filter(({ id }) => !currentKeys.some((key) => key.id === id)), ...currentKeys];
}

function createSigningKeys(keys: readonly Key[]): SigningKeys {
  const byId = new Map(keys.map((key) => [key.id, key]));
  const newest = keys.at(-1);
  return {
    keys: keys.map(({ id, createdAt }) => ({ id, createdAt })),
    sign(content) {
      if (newest === undefined) throw new Error("There is no key to sign with");
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

/** A file that cannot be read is not replaced: it may hold the keys of a hundred logs. */
async function readKeys(file: string): Promise<readonly Key[] | undefined> {
  const text = await readSavedFile(file);
  if (text === undefined) return undefined;
  const parsed = parseJson(text);
  const list = parsed.ok && isObject(parsed.value) ? parsed.value["keys"] : undefined;
  if (Array.isArray(list) && list.length > 0 && list.every(isKey)) return list;
  const message = `${file} is no file of signing keys; move it away, and a new one is made`;
  throw new SpanlineError("store_damaged", message, { details: { path: file } });
}

function isKey(value: unknown): value is Key {
  if (!isObject(value)) return false;
  const { id, createdAt, secret } = value;
  return typeof id === "string" && typeof createdAt === "number" && typeof secret === "string";
}
