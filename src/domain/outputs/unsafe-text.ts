import { isObject, type JsonValue } from "../../data/json.ts";
import { ArtifactProblem } from "./artifact-problem.ts";
import { ARTIFACT_LIMITS } from "./artifact.ts";

/**
 * Markup and links which a renderer of a host could run. Spanline shows all text as text; hosts may render charts and
 * diagrams with programs which do not.
 */
const UNSAFE_TEXTS = [
  "<script",
  "</script",
  "<svg",
  "</svg",
  "<iframe",
  "<foreignobject",
  "javascript:",
  "vbscript:",
  "data:text/html",
  "data:image/svg",
] as const;

const EVENT_HANDLER =
  /\bon(?:load|error|click|toggle|begin|focus|blur|key[a-z]*|mouse[a-z]*|pointer[a-z]*|animation[a-z]*)\s*=/;
/** Characters which browsers ignore within a link: `java\nscript:` is a script. */
const IGNORED_IN_LINKS = /[\p{Cc}\p{Cf}\p{Z}]/gu;

/** Throws if a text is too long, or has active content. */
export function refuseUnsafeText(path: string, text: string): void {
  const { text: limit } = ARTIFACT_LIMITS;
  if (text.length > limit || new TextEncoder().encode(text).length > limit)
    throw new ArtifactProblem(`${path} has more than ${limit} bytes`);
  const lower = text.toLowerCase();
  const compact = lower.replaceAll(IGNORED_IN_LINKS, "");
  const marker = UNSAFE_TEXTS.find((unsafe) => lower.includes(unsafe) || compact.includes(unsafe));
  const found = marker ?? EVENT_HANDLER.exec(lower)?.[0];
  if (found !== undefined)
    throw new ArtifactProblem(`${path} has active content (${found}), which is not allowed`);
}

/** Checks every string and every key of a value. */
export function refuseUnsafeTexts(path: string, value: JsonValue): void {
  if (typeof value === "string") return refuseUnsafeText(path, value);
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) refuseUnsafeTexts(`${path}[${at}]`, item);
    return;
  }
  if (!isObject(value)) return;
  for (const [key, item] of Object.entries(value)) {
    const inner = `${path}.${key.slice(0, 60)}`;
    refuseUnsafeText(inner, key);
    refuseUnsafeTexts(inner, item);
  }
}

/** Keys under which renderers fetch or open an address. */
const ADDRESS_KEYS: ReadonlySet<string> = new Set(["href", "src", "url", "xlink:href"]);

/** Throws if a value would make a renderer fetch data or open a page. */
export function refuseAddresses(path: string, value: JsonValue): void {
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) refuseAddresses(`${path}[${at}]`, item);
    return;
  }
  if (!isObject(value)) return;
  for (const [key, item] of Object.entries(value)) {
    const inner = `${path}.${key.slice(0, 60)}`;
    if (ADDRESS_KEYS.has(key.toLowerCase()) && item !== null)
      throw new ArtifactProblem(
        `${inner} is an external reference, which is not allowed: include the data in the spec`,
      );
    refuseAddresses(inner, item);
  }
}
