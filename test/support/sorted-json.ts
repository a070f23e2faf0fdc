import { isObject } from "../../src/domain/json.ts";

/** JSON text with the keys of every object in order: the same for the same value, however it was made. */
export function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    isObject(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([left], [right]) => (left < right ? -1 : 1)))
      : inner,
  );
}
