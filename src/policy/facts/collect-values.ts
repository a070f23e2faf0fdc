import { isObject, type JsonObject, type JsonValue } from "../../data/json.ts";

export interface InnerValue {
  readonly value: JsonValue;
  /** Whether the value is at any depth below a key which matches the requested name. */
  readonly hasMatchingName: boolean;
}

export interface InnerValues {
  readonly values: readonly InnerValue[];
  /** False if the arguments contain more than 100,000 values. */
  readonly isComplete: boolean;
}

const MAX_VALUES = 100_000;

/** Lists every value in the arguments, containers before their contents. Object keys are listed as strings too. */
export function collectValues(input: JsonObject, name: RegExp): InnerValues {
  const values: InnerValue[] = [{ value: input, hasMatchingName: false }];
  for (let at = 0; at < values.length; at++) {
    const { value = null, hasMatchingName = false } = values[at] ?? {};
    if (!isObject(value) && !Array.isArray(value)) continue;
    const inner = Object.entries(value);
    if (values.length + 2 * inner.length > MAX_VALUES) return { values, isComplete: false };
    for (const [key, item] of inner) {
      if (Array.isArray(value)) values.push({ value: item, hasMatchingName });
      else {
        values.push({ value: key, hasMatchingName: false });
        values.push({ value: item, hasMatchingName: hasMatchingName || name.test(key) });
      }
    }
  }
  return { values, isComplete: true };
}
