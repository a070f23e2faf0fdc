import { isObject } from "../../src/data/json.ts";

/** The bytes of a value after its keys were sorted, at every depth. */
export function formatSortedJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    isObject(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
