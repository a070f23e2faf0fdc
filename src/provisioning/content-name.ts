import { createHash } from "node:crypto";
import { contentBody, type HarnessSpec } from "../wire/agentcore/control-settings.ts";
import { canonicalJson } from "../wire/responses/canonical-json.ts";

/**
 * The name of a harness by what it is: `<base>_<digest>`. The same content has the same name wherever it is deployed
 * from, and any change of content is another harness. The spec's own name is the base and no part of the content, and
 * neither are its tags.
 */
export function contentName(spec: HarnessSpec): string {
  return `${shortBase(spec.name)}_${contentDigest(spec)}`;
}

/** Eight hex digits of what the service is told; an empty environment and none at all are the same. */
export function contentDigest(spec: Omit<HarnessSpec, "name">): string {
  return hash(canonicalJson(contentBody(spec))).slice(0, DIGEST_LENGTH);
}

const LONGEST_NAME = 40;
const DIGEST_LENGTH = 8;
const LONGEST_BASE = LONGEST_NAME - DIGEST_LENGTH - 1;
/** Of a base that is too long, so much is kept, and a hash keeps it apart from others that start alike. */
const KEPT_OF_BASE = 24;
const BASE_HASH_LENGTH = LONGEST_BASE - KEPT_OF_BASE - 1;

/** A base in the letters and the length that a name leaves for it. */
export function shortBase(base: string): string {
  const letters = base.replaceAll(/[^a-zA-Z0-9_]/g, "_");
  const started = /^[a-zA-Z]/.test(letters) ? letters : `a${letters}`;
  if (started.length <= LONGEST_BASE) return started;
  return `${started.slice(0, KEPT_OF_BASE)}_${hash(base).slice(0, BASE_HASH_LENGTH)}`;
}

/** The digest in a name that was made from this base; null for any other name. */
export function digestIn(name: string, base: string): string | null {
  const start = `${shortBase(base)}_`;
  const rest = name.startsWith(start) ? name.slice(start.length) : "";
  return /^[0-9a-f]{8}$/.test(rest) ? rest : null;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
