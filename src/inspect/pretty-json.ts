import { jsonText } from "../domain/json.ts";

/** Indentation can make a deep value five hundred times as long, beyond what a string can hold. */
const LONGEST_INDENTED = 100_000;

/** JSON with indentation; on one line when it is too long for that. */
export function prettyJson(value: unknown): string {
  const compact = jsonText(value);
  return compact.length > LONGEST_INDENTED ? compact : JSON.stringify(value, null, 2);
}
