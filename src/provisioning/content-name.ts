import { createHash } from "node:crypto";
import {
  encodeHarnessContent,
  type HarnessSpec,
} from "../wire/agentcore/control/harness-settings.ts";
import { toCanonicalJson } from "../data/canonical-json.ts";

/**
 * The name of a harness by its content: `<base>_<digest>`. The same content has the same name on every machine, and any
 * change of the content gives another harness. The spec's own name is the base, not part of the content; tags are not
 * part of the content either.
 */
export function createContentName(spec: HarnessSpec): string {
  return `${shortenBase(spec.name)}_${computeContentDigest(spec)}`;
}

/** Eight hex digits of the content sent to the service. An empty environment equals an absent one. */
export function computeContentDigest(spec: Omit<HarnessSpec, "name">): string {
  return hashText(toCanonicalJson(encodeHarnessContent(spec))).slice(0, DIGEST_LENGTH);
}

const MAX_NAME_LENGTH = 40;
const DIGEST_LENGTH = 8;
const MAX_BASE_LENGTH = MAX_NAME_LENGTH - DIGEST_LENGTH - 1;
/** Characters kept of a base which is too long; a hash keeps it distinct from bases with the same start. */
const KEPT_BASE_LENGTH = 24;
const BASE_HASH_LENGTH = MAX_BASE_LENGTH - KEPT_BASE_LENGTH - 1;

/** Converts a base to the characters and the length available in a name. */
export function shortenBase(base: string): string {
  const letters = base.replaceAll(/[^a-zA-Z0-9_]/g, "_");
  const withLetter = /^[a-zA-Z]/.test(letters) ? letters : `a${letters}`;
  if (withLetter.length <= MAX_BASE_LENGTH) return withLetter;
  return `${withLetter.slice(0, KEPT_BASE_LENGTH)}_${hashText(base).slice(0, BASE_HASH_LENGTH)}`;
}

/** Parses the digest from a name with this base. Null for any other name. */
export function parseContentDigest(name: string, base: string): string | null {
  const start = `${shortenBase(base)}_`;
  const suffix = name.startsWith(start) ? name.slice(start.length) : "";
  return /^[0-9a-f]{8}$/.test(suffix) ? suffix : null;
}

function hashText(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
