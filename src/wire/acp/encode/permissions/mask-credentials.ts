import { isSecretName } from "../../../../text/is-secret-name.ts";
import { isObject, toJsonText, type JsonObject, type JsonValue } from "../../../../data/json.ts";

/** Arguments with a mask in place of every credential. */
export interface MaskedArguments {
  readonly args: JsonObject;
  /** Masks the same credentials in a text about the arguments, such as a diff. */
  readonly maskText: (text: string) => string;
  /** Masks the same credentials in all strings of a value. */
  readonly maskTexts: (value: object) => object;
  /** Replaces each mask with its credential, anywhere in the arguments. */
  readonly unmask: (args: JsonObject) => JsonObject;
  /**
   * Returns the first mask in edited arguments that stands for none of these credentials. Undefined if there is none.
   */
  readonly findUnknownMask: (args: JsonObject) => string | undefined;
}

/**
 * Masks the credentials in arguments. A credential is the value of a name such as `password` or `Authorization`, or
 * text of a known form, such as a JWT. The same arguments always get the same masks, so a response can be decoded
 * without stored state.
 */
export function maskCredentials(args: JsonObject): MaskedArguments {
  const label = createUnusedLabel(args);
  const masks = new Map<string, string>();
  const maskOf = (credential: string): string => {
    const known = masks.get(credential);
    if (known !== undefined) return known;
    const mask = `[${label} ${masks.size + 1}]`;
    masks.set(credential, mask);
    return mask;
  };
  const masked = mapObject(args, (text, isCredential) =>
    isCredential ? maskOf(text) : maskPatterns(text, maskOf),
  );
  const longMasks = [...masks]
    .filter(([{ length }]) => length >= MIN_UNIQUE_LENGTH)
    .slice(0, MAX_UNIQUE_CREDENTIALS);
  longMasks.sort(([one], [other]) => other.length - one.length);
  const maskText = (text: string): string =>
    longMasks.reduce((rest, [credential, mask]) => rest.replaceAll(credential, () => mask), text);
  const maskTexts = (value: object): object =>
    longMasks.length === 0 ? value : mapTexts(value, maskText);
  const credentials = new Map(Array.from(masks, ([credential, mask]) => [mask, credential]));
  const maskPattern = new RegExp(`\\[${label} \\d+\\]`, "g");
  const unmask = (edited: JsonObject): JsonObject => {
    if (masks.size === 0) return edited;
    const restore = (text: string): string =>
      text.replaceAll(maskPattern, (mask) => credentials.get(mask) ?? mask);
    return mapObject(edited, restore);
  };
  const findUnknownMask = (edited: JsonObject): string | undefined =>
    Array.from(toJsonText(edited).matchAll(maskPattern), ([mask]) => mask).find(
      (mask) => !credentials.has(mask),
    );
  const functions = { maskText, maskTexts, unmask, findUnknownMask };
  if (longMasks.length === 0) return { args: masked, ...functions };
  const everywhere = mapObject(masked, maskText);
  // A credential such as "credential" is part of the masks themselves; replacing it everywhere could not be undone.
  const isExact = toJsonText(unmask(everywhere)) === toJsonText(args);
  return { args: isExact ? everywhere : masked, ...functions };
}

/** A shorter credential, such as the password "a", may be part of any word, so it is masked only under its name. */
const MIN_UNIQUE_LENGTH = 8;
/** Each credential costs a pass over the text. */
const MAX_UNIQUE_CREDENTIALS = 50;

/** Creates a label which the arguments do not contain, so no original text is mistaken for a mask. */
function createUnusedLabel(args: JsonObject): string {
  const text = toJsonText(args);
  let label = "masked credential";
  while (text.includes(`[${label} `)) label = `${label}'`;
  return label;
}

type TextMapper = (text: string, isCredential: boolean) => string;

function mapObject(object: JsonObject, change: TextMapper): JsonObject {
  const named = [object["name"], object["key"], object["header"]].find(
    (name) => typeof name === "string",
  );
  const isPair = typeof named === "string" && isCredentialName(named);
  const entries = Object.entries(object).map(([name, value]): [string, JsonValue] => {
    const isCredential = isCredentialName(name) || (isPair && name === "value");
    return [name, mapValue(value, change, isCredential)];
  });
  // Not an object literal: a key `__proto__` is data.
  return Object.fromEntries(entries);
}

function mapValue(value: JsonValue, change: TextMapper, isCredential: boolean): JsonValue {
  if (typeof value === "string") return value === "" ? value : change(value, isCredential);
  if (Array.isArray(value))
    return value.map((item: JsonValue) => mapValue(item, change, isCredential));
  return isObject(value) ? mapObject(value, change) : value;
}

function mapTexts(value: object, change: (text: string) => string): object {
  const entries = Object.entries(value).map(([name, item]: [string, unknown]) => [
    name,
    typeof item === "string"
      ? change(item)
      : typeof item === "object" && item !== null
        ? mapTexts(item, change)
        : item,
  ]);
  return Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries);
}

/** `sortKey` and `key` are identifiers, `apiKey` is a credential. */
export function isCredentialName(name: string): boolean {
  return isSecretName(name) && !PLAIN_KEY.test(name);
}

const PLAIN_KEY =
  /^(?!.*(?:api|access|account|auth|encryption|private|secret|service|signing|ssh)).*keys?$/i;

/** Returns true if the text contains a credential of a known form. */
export function containsCredentialForm(text: string): boolean {
  return maskPatterns(text, () => "") !== text;
}

function maskPatterns(text: string, mask: (credential: string) => string): string {
  if (text.length < MIN_UNIQUE_LENGTH) return text;
  let masked = text;
  for (const form of CREDENTIAL_PATTERNS) {
    masked = masked.replaceAll(form, (whole: string, before: string, credential: string) =>
      isLikelyCredential(credential) ? `${before}${mask(credential)}` : whole,
    );
  }
  return masked;
}

/** A credential has digits and letters; `token: undefined` in source code is not a credential. */
function isLikelyCredential(credential: string): boolean {
  return /\d/.test(credential) && /[a-z]/i.test(credential);
}

/**
 * The first group is kept, the second group is the credential. Every repetition is bounded or ends at a character which
 * it excludes, so matching takes linear time.
 */
const CREDENTIAL_PATTERNS: readonly RegExp[] = [
  /()(-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]+-----END [A-Z ]{0,40}PRIVATE KEY-----)/g,
  /()\b((?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,200})/g,
  /()\b((?:gh[opusr]_|github_pat_|glpat-|xox[abeprs]-|npm_)[A-Za-z0-9_-]{10,255})/g,
  /()\b((?:AKIA|ASIA)[0-9A-Z]{16})\b/g,
  /()\b(AIza[A-Za-z0-9_-]{30,60})/g,
  /()\b(eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{4,1000})/g,
  /(\b(?:bearer|basic)\s{1,4})([A-Za-z0-9._~+/-]{8,4000}={0,2})/gi,
  /(:\/\/[^\s/@:]{1,100}:)([^\s/@]{6,200})(?=@)/g,
  /((?:passw(?:or)?d|passphrase|secret|token|api[-_]?key|access[-_]?key)["']?\s{0,4}[=:]\s{0,4}["']?)([A-Za-z0-9._~+/-]{12,4000}={0,2})/gi,
];
