import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  type KeyObject,
} from "node:crypto";
import { isObject } from "../../../data/json.ts";
import { digestValue } from "../../../platform/digest.ts";
import type { PushRecords } from "./push-store.ts";

/** Signs messages of this server. Receivers verify them with the public key, so no secret is shared with them. */
export interface SigningKey {
  readonly keyId: string;
  /** Ed25519, in base64. */
  sign(text: string): string;
  /** The public key, as a JSON Web Key. */
  readonly publicKey: object;
}

const SCOPE = "a2a-signing-key";
const KEY = "ed25519";

/** Loads the key of this data directory when it is first used. Creates the key if there is none. */
export function createKeyLoader(
  records: Pick<PushRecords, "readRecord" | "putRecord">,
): () => Promise<SigningKey> {
  let loading: Promise<SigningKey> | undefined;
  return () => {
    loading ??= loadKey(records).catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

async function loadKey(
  records: Pick<PushRecords, "readRecord" | "putRecord">,
): Promise<SigningKey> {
  const stored = await records.readRecord(SCOPE, KEY);
  if (stored !== undefined) return readKey(stored.value);
  const { privateKey } = generateKeyPairSync("ed25519");
  const value = { pem: privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
  const outcome = await records.putRecord(SCOPE, KEY, { value, expectedVersion: null });
  // Another process of the same data directory was first.
  if (outcome.status === "conflict") return readKey(outcome.current?.value);
  return createKey(privateKey);
}

function readKey(value: unknown): SigningKey {
  const { pem } = isObject(value) ? value : {};
  if (typeof pem !== "string")
    throw new Error("The stored key for push notifications is not valid");
  return createKey(createPrivateKey(pem));
}

function createKey(privateKey: KeyObject): SigningKey {
  const { kty, crv, x } = createPublicKey(privateKey).export({ format: "jwk" });
  const keyId = digestValue({ kty, crv, x }).slice(0, 32);
  return {
    keyId,
    sign: (text) => sign(null, Buffer.from(text), privateKey).toString("base64"),
    publicKey: { kty, crv, x, kid: keyId, alg: "EdDSA", use: "sig" },
  };
}
