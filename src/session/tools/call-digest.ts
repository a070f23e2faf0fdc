import type { JsonObject } from "../../domain/json.ts";
import { digestOf } from "../../platform/digest.ts";

/** The same for calls of one tool with the same arguments. */
export function callDigest(name: string, input: JsonObject): string {
  return digestOf([name, input]);
}
