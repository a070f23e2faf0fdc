import { parseJson } from "../../../../data/json.ts";
import { containsCredentialForm, isCredentialName } from "./mask-credentials.ts";

/**
 * Returns the longest start of streamed arguments without any part of a credential.
 *
 * A delta may end anywhere inside a credential, and a cut credential has no known form. The start therefore ends before
 * the value of a name such as `password`, before a string with a credential, and inside an open string after its last
 * whole word. Text that is not JSON is omitted.
 */
export function readSafeStart(text: string): string {
  const objects: OpenObject[] = [];
  let lastKey: string | undefined;
  let at = 0;

  /** Ends before an unnamed `value`, because a later `name` in the same object may mark it as a credential. */
  function end(position: number): string {
    const unnamed = objects.flatMap(({ hasName, valueAt = position }) =>
      hasName ? [] : [valueAt],
    );
    return text.slice(0, Math.min(position, ...unnamed));
  }

  while (at < text.length) {
    const character = text.charAt(at);
    if (character === "{") objects.push({ hasName: false, isNameSecret: false });
    else if (objects.length === 0 && !SPACE.test(character)) break;
    if (character !== '"') {
      if (!JSON_CHARACTERS.test(character)) break;
      if (character === "}") objects.pop();
      at += 1;
      continue;
    }
    const close = findStringEnd(text, at);
    if (close === undefined) return end(at + 1 + measureWholeWords(text.slice(at + 1)));
    const decoded = decodeString(text.slice(at, close));
    const object = objects.at(-1);
    if (decoded === undefined || object === undefined) break;
    const colon = KEY_END.exec(text.slice(close, close + MAX_SPACE));
    if (colon !== null) {
      lastKey = decoded;
      const isValue = decoded === "value";
      if (isCredentialName(decoded) || (isValue && object.isNameSecret))
        return end(close + colon[0].length);
      if (isValue) object.valueAt ??= at;
    } else {
      if (containsCredentialForm(decoded)) break;
      if (lastKey !== undefined && NAMING_KEYS.has(lastKey)) {
        const isSecret = isCredentialName(decoded);
        if (isSecret && object.valueAt !== undefined) break;
        object.isNameSecret ||= isSecret;
        object.hasName ||= !isSecret;
      }
    }
    at = close;
  }
  return end(at);
}

interface OpenObject {
  /** True if a `name`, `key` or `header` shows that `value` is not a credential. */
  hasName: boolean;
  isNameSecret: boolean;
  /** The position of the key `value`. Undefined if the object has no such key yet. */
  valueAt?: number;
}

const NAMING_KEYS: ReadonlySet<string> = new Set(["name", "key", "header"]);
const JSON_CHARACTERS = /[\s{}[\],:\d+\-.eEtrufalsn]/;
const KEY_END = /^\s*:/;
const MAX_SPACE = 100;

/**
 * Returns the index after the closing quote of the string that opens at `start`. Undefined if the string is still open.
 */
function findStringEnd(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === "\\") at += 1;
    else if (character === '"') return at + 1;
  }
  return undefined;
}

function decodeString(literal: string): string | undefined {
  const parsed = parseJson(literal);
  return parsed.ok && typeof parsed.value === "string" ? parsed.value : undefined;
}

/**
 * Returns the number of characters of an open string up to its last space, or 0 if these characters contain a
 * credential.
 */
function measureWholeWords(content: string): number {
  let length = 0;
  for (let at = 0; at < content.length; at += 1) {
    const isEscape = content.charAt(at) === "\\";
    if (isEscape) at += 1;
    if ((isEscape ? ESCAPED_SPACE : SPACE).test(content.charAt(at))) length = at + 1;
  }
  const words = decodeString(`"${content.slice(0, length)}"`);
  if (words === undefined || containsCredentialForm(words)) return 0;
  const keyBlock = words.lastIndexOf("-----BEGIN");
  // A private key contains spaces, and its form is recognized only at its end.
  return keyBlock >= 0 && !KEY_BLOCK_END.test(words.slice(keyBlock)) ? 0 : length;
}

const SPACE = /\s/;
const ESCAPED_SPACE = /[nrt]/;
const KEY_BLOCK_END = /-----END [A-Z ]{0,60}-----/;

/** Returns unparsable arguments for an update, or a placeholder if they may contain a credential. */
export function maskUnreadableArguments(text: string): string {
  const hasSecretName = Array.from(text.matchAll(NAMES)).some(([, name = ""]) =>
    isCredentialName(name),
  );
  if (!hasSecretName && !containsCredentialForm(text)) return text;
  return `[${text.length} characters that are not valid arguments and may contain a credential]`;
}

const NAMES = /([\w-]{1,100})["']?\s{0,4}[:=]/g;
