import { toJsonText } from "../data/json.ts";

/** Indentation can make a deeply nested value 500 times longer, beyond the maximum length of a string. */
const MAX_INDENTED_CHARACTERS = 100_000;

/** Indented JSON; compact if longer than 100,000 characters. */
export function formatPrettyJson(value: unknown): string {
  const compact = toJsonText(value);
  return compact.length > MAX_INDENTED_CHARACTERS ? compact : JSON.stringify(value, null, 2);
}
