import { isObject, type JsonObject, type JsonValue } from "../domain/json.ts";

export interface InnerValue {
  readonly value: JsonValue;
  /** Whether it stands under one of the names that were asked for, however deep. */
  readonly isNamed: boolean;
}

export interface InnerValues {
  readonly values: readonly InnerValue[];
  /** False where there are more than anybody looks at. */
  readonly isWhole: boolean;
}

const MOST_VALUES = 100_000;

/** Everything in a call's arguments, objects and lists before what is in them, the names in objects as texts too. */
export function valuesIn(input: JsonObject, name: RegExp): InnerValues {
  const values: InnerValue[] = [{ value: input, isNamed: false }];
  for (let at = 0; at < values.length; at++) {
    const { value = null, isNamed = false } = values[at] ?? {};
    if (!isObject(value) && !Array.isArray(value)) continue;
    const inner = Object.entries(value);
    if (values.length + 2 * inner.length > MOST_VALUES) return { values, isWhole: false };
    for (const [key, one] of inner) {
      if (Array.isArray(value)) values.push({ value: one, isNamed });
      else {
        values.push({ value: key, isNamed: false });
        values.push({ value: one, isNamed: isNamed || name.test(key) });
      }
    }
  }
  return { values, isWhole: true };
}
