import { toJsonText } from "../data/json.ts";

/** Indentation can make a deep value five hundred times as long, beyond what a string can hold. */
const MAX_INDENTED_CHARACTERS = 100_000;

/** JSON with indentation; on one line when it is too long for that. */
export function formatPrettyJson(value: unknown): string {
  const compact = toJsonText(value);
  return compact.length > MAX_INDENTED_CHARACTERS ? compact : JSON.stringify(value, null, 2);
}
