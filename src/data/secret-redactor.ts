import { exceedsDepth } from "./json.ts";

/** Replaces secrets in all strings of a value, including names. */
export type RedactSecrets = <Value>(value: Value) => Value;

/**
 * Creates a redactor for server output, which may quote its request. Redact before truncating the output. Finds whole
 * secrets anywhere, and secrets truncated by the server at the beginning or the end of a string.
 */
export function createSecretRedactor(secrets: readonly string[]): RedactSecrets {
  const knownSecrets = [...new Set(secrets.flatMap(listEncodings))]
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    // Longest first, because a secret may be the beginning of another secret.
    .sort((first, second) => second.length - first.length);
  const inText = (text: string): string => {
    const whole = knownSecrets.reduce((safe, secret) => safe.replaceAll(secret, REDACTED), text);
    return knownSecrets.reduce((safe, secret) => redactCutSecret(safe, secret), whole);
  };
  const scrub = (value: unknown, depth: number): unknown => {
    if (typeof value === "string") return inText(value);
    if (typeof value !== "object" || value === null) return value;
    if (depth === MAX_DEPTH) return TOO_DEEP;
    if (Array.isArray(value)) return value.map((member) => scrub(member, depth + 1));
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [inText(name), scrub(member, depth + 1)]),
    );
  };
  return (value) => {
    const isFine = knownSecrets.length === 0 && !exceedsDepth(value, MAX_DEPTH);
    return isFine ? value : (scrub(value, 0) as typeof value);
  };
}

/** Deeper values are left out: they could not be searched here or encoded later. */
const MAX_DEPTH = 200;
const TOO_DEEP = `[nested deeper than ${MAX_DEPTH} levels, and left out]`;

const REDACTED = "[redacted]";

/** A shorter secret may occur by chance in any text; redacting it would make the output unreadable. */
const MIN_SECRET_LENGTH = 6;

/** The secret itself, its JSON and URL encodings, and its long lines. */
function listEncodings(secret: string): readonly string[] {
  const lines = secret.split(/\r?\n/).filter((line) => line.length >= MIN_LINE_LENGTH);
  const quoted = JSON.stringify(secret).slice(1, -1);
  return [secret, quoted, encodeURIComponent(secret.toWellFormed()), ...lines];
}

/**
 * The minimum length of a line, for example of a key file. The last line of a key can be a few insignificant
 * characters.
 */
const MIN_LINE_LENGTH = 16;

/** A fragment of this length reveals too much of a secret. A shorter fragment may be chance. */
const MIN_CUT_LENGTH = 8;

/** Redacts the end of a secret at the start of a text, and the beginning of a secret at the end of a text. */
function redactCutSecret(text: string, secret: string): string {
  return redactSecretStart(redactSecretEnd(text, secret), secret);
}

function redactSecretEnd(text: string, secret: string): string {
  const head = secret.slice(0, MIN_CUT_LENGTH);
  if (head.length < MIN_CUT_LENGTH) return text;
  const end = text.length - (CUT_MARK.exec(text.slice(-MARK_LENGTH))?.[0].length ?? 0);
  let at = text.indexOf(head, Math.max(0, end - secret.length));
  while (at >= 0 && !secret.startsWith(text.slice(at, end))) at = text.indexOf(head, at + 1);
  return at < 0 || at + MIN_CUT_LENGTH > end
    ? text
    : text.slice(0, at) + REDACTED + text.slice(end);
}

function redactSecretStart(text: string, secret: string): string {
  const tail = secret.slice(-MIN_CUT_LENGTH);
  if (tail.length < MIN_CUT_LENGTH) return text;
  const maxLength = Math.min(text.length, secret.length);
  for (let at = text.slice(0, maxLength).indexOf(tail); at >= 0; at = text.indexOf(tail, at + 1)) {
    const end = at + MIN_CUT_LENGTH;
    if (end > maxLength) return text;
    if (secret.endsWith(text.slice(0, end))) return REDACTED + text.slice(end);
  }
  return text;
}

/** Marks used by servers at the end of truncated text. */
const CUT_MARK = /(?:\s|…|\.{3})+$/;
const MARK_LENGTH = 16;
