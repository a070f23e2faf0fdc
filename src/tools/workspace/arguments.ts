import type { JsonObject } from "../../domain/json.ts";

/** Arguments that the schema of their tool has let through. */

export function textArgument(input: JsonObject, name: string): string | undefined {
  const value = own(input, name);
  return typeof value === "string" ? value : undefined;
}

export function numberArgument(input: JsonObject, name: string): number | undefined {
  const value = own(input, name);
  return typeof value === "number" ? value : undefined;
}

export function flagArgument(input: JsonObject, name: string): boolean {
  return own(input, name) === true;
}

export function listArgument(input: JsonObject, name: string): readonly string[] | undefined {
  const value = own(input, name);
  return Array.isArray(value) ? value.map(String) : undefined;
}

function own(input: JsonObject, name: string): unknown {
  return Object.hasOwn(input, name) ? input[name] : undefined;
}
