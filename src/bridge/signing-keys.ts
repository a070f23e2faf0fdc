import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Signature } from "../domain/agent-event.ts";
import { SpanlineError } from "../domain/errors.ts";
import { isObject, parseJson } from "../domain/json.ts";
import { isSameMac, macOf } from "../platform/mac.ts";
import { randomText, randomToken } from "../platform/random.ts";
import { readSavedFile, saveFile, saveFirst } from "../platform/saved-file.ts";

/** Keys that receipts are signed with. They lie in a folder of their own in the user's directory, not with the sessions. */
export interface SigningKeys {
  readonly keys: readonly KeyFacts[];
  /** With the newest key. */
  readonly sign: (content: unknown) => Signature;
  readonly check: (content: unknown, signature: Signature) => SignatureCheck;
}

export interface KeyFacts {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

export type SignatureCheck = "valid" | "forged" | "unknown-key";

interface Key extends KeyFacts {
  readonly secret: string;
}

/** The keys of a directory; the first one is made here. */
export async function openSigningKeys(directory: string, now: number): Promise<SigningKeys> {
  const file = await keysFile(directory);
  const known = await readKeys(file);
  if (known !== undefined) return signingKeys(known);
  await saveFirst(file, textOf([newKey(now)]));
  return signingKeys((await readKeys(file)) ?? []);
}

/** Signs with a new key from now on. Receipts of the old ones can still be checked. */
export async function rotateSigningKey(directory: string, now: number): Promise<KeyFacts> {
  const file = await keysFile(directory);
  const key = newKey(now);
  await saveFile(file, textOf([...((await readKeys(file)) ?? []), key]));
  return { id: key.id, createdAt: key.createdAt };
}

/** For whoever only checks: without keys, every signature is of an unknown one. */
export async function readSigningKeys(directory: string): Promise<SigningKeys> {
  const left = (await readKeys(join(directory, OLD))) ?? [];
  return signingKeys(joined(left, (await readKeys(join(directory, PLACE))) ?? []));
}

const OLD = "signing-keys.json";
const PLACE = join("keys", OLD);

/** Where the keys are. They lay beside the sessions once, and are moved: whoever copies those should not copy these. */
async function keysFile(directory: string): Promise<string> {
  const file = join(directory, PLACE);
  const old = join(directory, OLD);
  const left = await readKeys(old);
  if (left === undefined) return file;
  // Of two who move them at once, the first one's are everybody's, and they are the same.
  await saveFirst(file, textOf(left));
  const known = (await readKeys(file)) ?? [];
  const all = joined(left, known);
  if (all.length > known.length) await saveFile(file, textOf(all));
  await rm(old, { force: true });
  return file;
}

/** The newest is one of `known`. */
function joined(left: readonly Key[], known: readonly Key[]): readonly Key[] {
  return [...left.filter(({ id }) => !known.some((one) => one.id === id)), ...known];
}

function signingKeys(keys: readonly Key[]): SigningKeys {
  const byId = new Map(keys.map((key) => [key.id, key]));
  const newest = keys.at(-1);
  return {
    keys: keys.map(({ id, createdAt }) => ({ id, createdAt })),
    sign(content) {
      if (newest === undefined) throw new Error("There is no key to sign with");
      return { keyId: newest.id, mac: macOf(newest.secret, content) };
    },
    check(content, { keyId, mac }) {
      const key = byId.get(keyId);
      if (key === undefined) return "unknown-key";
      return isSameMac(mac, macOf(key.secret, content)) ? "valid" : "forged";
    },
  };
}

function newKey(now: number): Key {
  return { id: `key_${randomText(12)}`, createdAt: now, secret: randomToken() };
}

function textOf(keys: readonly Key[]): string {
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
