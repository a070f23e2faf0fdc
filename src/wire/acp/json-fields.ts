import { isObject, type JsonObject, type JsonValue } from "../../data/json.ts";

/** An object, or none. What is missing in what an agent says is not there, and no error. */
export function readObject(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** What bridges say beside ACP, which is in this place alone: the same words at the root are of old builds. */
export function readHarnMeta(value: JsonValue | undefined): JsonObject {
  return readObject(readObject(readObject(value)["_meta"])["harn"]);
}

export function readString(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function readNumber(value: JsonValue | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}

export function readBoolean(value: JsonValue | undefined): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

export function readObjects(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((item: JsonValue) => isObject(item)) : [];
}

export function readStrings(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item: JsonValue) => typeof item === "string") : [];
}

/** Only what is there: a field that is undefined is left out. */
export function omitUndefined<Fields extends { readonly [name: string]: unknown }>(
  fields: Fields,
): { readonly [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as {
    [Name in keyof Fields]?: Exclude<Fields[Name], undefined>;
  };
}
