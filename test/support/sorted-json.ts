import { isObject } from "../../src/data/json.ts";

/** Encodes a value as JSON with sorted keys at every depth. */
export function formatSortedJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    isObject(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
