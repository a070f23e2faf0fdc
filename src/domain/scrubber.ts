import { isObject } from "./json.ts";

/** Takes secrets out of whatever text there is in a value. */
export type Scrub = <Value>(value: Value) => Value;

/** What is shorter is a word that may stand anywhere, and nobody's secret. */
const SHORTEST_SECRET = 8;
const DEEPEST = 32;

/**
 * For what a server says: it may quote a request, with what was secret in it. Values are looked at as they are, and not
 * as the text that they came in, where a secret can be written in many ways.
 */
export function scrubber(secrets: readonly string[]): Scrub {
  const known = secrets.filter((secret) => secret.length >= SHORTEST_SECRET);
  const inText = (text: string): string =>
    known.reduce((safe, secret) => safe.replaceAll(secret, "[redacted]"), text);

  function scrub(value: unknown, depth: number): unknown {
    if (typeof value === "string") return inText(value);
    if (depth >= DEEPEST) return value;
    if (Array.isArray(value)) return value.map((item) => scrub(item, depth + 1));
    if (!isObject(value)) return value;
    const members = Object.entries(value).map(([name, member]) => {
      return [inText(name), scrub(member, depth + 1)] as const;
    });
    return Object.fromEntries(members);
  }

  return (value) => (known.length === 0 ? value : (scrub(value, 0) as typeof value));
}
