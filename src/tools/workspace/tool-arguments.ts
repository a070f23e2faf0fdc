import type { JsonObject } from "../../data/json.ts";

/** Readers for arguments which have already passed the tool's schema. */

export function readStringArgument(input: JsonObject, name: string): string | undefined {
  const value = readOwnProperty(input, name);
  return typeof value === "string" ? value : undefined;
}

export function readNumberArgument(input: JsonObject, name: string): number | undefined {
  const value = readOwnProperty(input, name);
  return typeof value === "number" ? value : undefined;
}

export function readBooleanArgument(input: JsonObject, name: string): boolean {
  return readOwnProperty(input, name) === true;
}

export function readListArgument(input: JsonObject, name: string): readonly string[] | undefined {
  const value = readOwnProperty(input, name);
  return Array.isArray(value) ? value.map(String) : undefined;
}

function readOwnProperty(input: JsonObject, name: string): unknown {
  return Object.hasOwn(input, name) ? input[name] : undefined;
}
