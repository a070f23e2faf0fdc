import { toCanonicalJson } from "../../../data/canonical-json.ts";
import { hasInexactInteger, isObject, parseJson, type JsonObject } from "../../../data/json.ts";

/** Characters. The limit of a request body is far above. */
const MAX_EDITED_LENGTH = 2_000_000;

export type EditedArguments =
  | { readonly ok: true; readonly input: JsonObject; readonly isChanged: boolean }
  | { readonly ok: false; readonly problem: string };

/** Formats arguments for the editor. */
export function formatArguments(input: JsonObject | null): string {
  return JSON.stringify(input ?? {}, null, 2);
}

/** Reads the arguments which a person has edited as JSON. */
export function readEditedArguments(text: string, original: JsonObject | null): EditedArguments {
  if (text.length > MAX_EDITED_LENGTH)
    return { ok: false, problem: `The arguments are longer than ${MAX_EDITED_LENGTH} characters` };
  const parsed = parseJson(text);
  if (!parsed.ok) return { ok: false, problem: `Not valid JSON${locate(text, parsed.reason)}` };
  if (!isJsonObject(parsed.value))
    return { ok: false, problem: "The arguments are not valid: expected a JSON object" };
  if (hasInexactInteger(text))
    return {
      ok: false,
      problem: "A number has too many digits to stay exact. Fix: write it as a string",
    };
  const isChanged = toCanonicalJson(parsed.value) !== toCanonicalJson(original ?? {});
  return { ok: true, input: parsed.value, isChanged };
}

function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value);
}

/** Adds the line and column, if the parser reports a position. */
function locate(text: string, reason: string): string {
  const position = Number(/position (\d+)/.exec(reason)?.[1] ?? Number.NaN);
  if (Number.isNaN(position))
    return /end of JSON input/i.test(reason) ? ": the text ends too early" : describeToken(reason);
  const before = text.slice(0, position).split("\n");
  const column = (before.at(-1)?.length ?? 0) + 1;
  return ` at line ${before.length}, column ${column}`;
}

/** Without the copy of the text which some parsers add. */
function describeToken(reason: string): string {
  const [, token] = /^Unexpected token '?(.)/su.exec(reason) ?? [];
  return token === undefined ? "" : `: "${token}" is not expected`;
}
