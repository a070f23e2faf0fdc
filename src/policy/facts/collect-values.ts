import { isObject, type JsonObject, type JsonValue } from "../../data/json.ts";

export interface InnerValue {
  readonly value: JsonValue;
  /** Whether it stands under one of the names that were asked for, however deep. */
  readonly hasMatchingName: boolean;
}

export interface InnerValues {
  readonly values: readonly InnerValue[];
  /** False where there are more than anybody looks at. */
  readonly isComplete: boolean;
}

const MAX_VALUES = 100_000;

/** Everything in a call's arguments, objects and lists before what is in them, the names in objects as texts too. */
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
