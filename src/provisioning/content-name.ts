import { createHash } from "node:crypto";
import {
  encodeHarnessContent,
  type HarnessSpec,
} from "../wire/agentcore/control/harness-settings.ts";
import { toCanonicalJson } from "../data/canonical-json.ts";

/**
 * The name of a harness by what it is: `<base>_<digest>`. The same content has the same name wherever it is deployed
 * from, and any change of content is another harness. The spec's own name is the base and no part of the content, and
 * neither are its tags.
 */
export function createContentName(spec: HarnessSpec): string {
  return `${shortenBase(spec.name)}_${computeContentDigest(spec)}`;
}

/** Eight hex digits of what the service is told; an empty environment and none at all are the same. */
export function computeContentDigest(spec: Omit<HarnessSpec, "name">): string {
  return hashText(toCanonicalJson(encodeHarnessContent(spec))).slice(0, DIGEST_LENGTH);
}

const MAX_NAME_LENGTH = 40;
const DIGEST_LENGTH = 8;
const MAX_BASE_LENGTH = MAX_NAME_LENGTH - DIGEST_LENGTH - 1;
/** Of a base that is too long, so much is kept, and a hash keeps it apart from others that start alike. */
const KEPT_BASE_LENGTH = 24;
const BASE_HASH_LENGTH = MAX_BASE_LENGTH - KEPT_BASE_LENGTH - 1;

/** A base in the letters and the length that a name leaves for it. */
export function shortenBase(base: string): string {
  const letters = base.replaceAll(/[^a-zA-Z0-9_]/g, "_");
  const withLetter = /^[a-zA-Z]/.test(letters) ? letters : `a${letters}`;
  if (withLetter.length <= MAX_BASE_LENGTH) return withLetter;
  return `${withLetter.slice(0, KEPT_BASE_LENGTH)}_${hashText(base).slice(0, BASE_HASH_LENGTH)}`;
}

/** The digest in a name that was made from this base; null for any other name. */
export function parseContentDigest(name: string, base: string): string | null {
  const start = `${shortenBase(base)}_`;
  const suffix = name.startsWith(start) ? name.slice(start.length) : "";
  return /^[0-9a-f]{8}$/.test(suffix) ? suffix : null;
}

function hashText(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
