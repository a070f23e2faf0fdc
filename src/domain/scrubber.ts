import { isDeeper } from "./is-deeper.ts";

/** Takes secrets out of whatever text there is in a value. */
export type Scrub = <Value>(value: Value) => Value;

/**
 * For what a server says, before any of it is cut: it may quote what it was sent. Whole secrets are found wherever they
 * stand, and those that the server itself cut at the beginning or the end of a text.
 */
export function scrubber(secrets: readonly string[]): Scrub {
  const known = [...new Set(secrets.flatMap(waysToWrite))]
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    // A secret may be the beginning of another one.
    .sort((one, other) => other.length - one.length);
  const inText = (text: string): string => {
    const whole = known.reduce((safe, secret) => safe.replaceAll(secret, REDACTED), text);
    return known.reduce((safe, secret) => withoutCut(safe, secret), whole);
  };
  const scrub = (value: unknown, depth: number): unknown => {
    if (typeof value === "string") return inText(value);
    if (typeof value !== "object" || value === null) return value;
    if (depth === DEEPEST) return TOO_DEEP;
    if (Array.isArray(value)) return value.map((member) => scrub(member, depth + 1));
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [inText(name), scrub(member, depth + 1)]),
    );
  };
  return (value) => {
    const isFine = known.length === 0 && !isDeeper(value, DEEPEST);
    return isFine ? value : (scrub(value, 0) as typeof value);
  };
}

/** What is nested deeper could neither be searched here, nor be written down further in. */
const DEEPEST = 200;
const TOO_DEEP = `[nested deeper than ${DEEPEST} levels, and left out]`;

const REDACTED = "[redacted]";

/** What is shorter may stand anywhere: without it nothing that the server says could be read. */
const SHORTEST_SECRET = 6;

/** As it is, as JSON and addresses have it, and line by line. */
function waysToWrite(secret: string): readonly string[] {
  const lines = secret.split(/\r?\n/).filter((line) => line.length >= SHORTEST_LINE);
  const quoted = JSON.stringify(secret).slice(1, -1);
  return [secret, quoted, encodeURIComponent(secret.toWellFormed()), ...lines];
}

/** Of a key in a file, say. Its last line can be a few characters that tell nothing. */
const SHORTEST_LINE = 16;

/** A piece of this many characters tells enough of a secret; a shorter one may be chance. */
const SHORTEST_CUT = 8;

/** Where a text begins with the end of a secret, or ends with its beginning. */
function withoutCut(text: string, secret: string): string {
  return withoutBeginning(withoutEnd(text, secret), secret);
}

function withoutEnd(text: string, secret: string): string {
  const head = secret.slice(0, SHORTEST_CUT);
  if (head.length < SHORTEST_CUT) return text;
  const end = text.length - (CUT_MARK.exec(text.slice(-MARK_LENGTH))?.[0].length ?? 0);
  let at = text.indexOf(head, Math.max(0, end - secret.length));
  while (at >= 0 && !secret.startsWith(text.slice(at, end))) at = text.indexOf(head, at + 1);
  return at < 0 || at + SHORTEST_CUT > end ? text : text.slice(0, at) + REDACTED + text.slice(end);
}

function withoutBeginning(text: string, secret: string): string {
  const tail = secret.slice(-SHORTEST_CUT);
  if (tail.length < SHORTEST_CUT) return text;
  const most = Math.min(text.length, secret.length);
  for (let at = text.slice(0, most).indexOf(tail); at >= 0; at = text.indexOf(tail, at + 1)) {
    const end = at + SHORTEST_CUT;
    if (end > most) return text;
    if (secret.endsWith(text.slice(0, end))) return REDACTED + text.slice(end);
  }
  return text;
}

/** What is put where a text was cut. */
const CUT_MARK = /(?:\s|…|\.{3})+$/;
const MARK_LENGTH = 16;
