import { computeShortDigest } from "../../data/short-digest.ts";
import { toToolName } from "../../domain/model/tool-call-names.ts";

/**
 * Returns a tool name valid for the API. Most names are unchanged; any other name is simplified and gets a digest as
 * suffix, to stay unique.
 */
export function toWireName(name: string): string {
  if (isWireName(name)) return name;
  return `${toToolName(name).slice(0, MAX_NAME_LENGTH - 14)}-${computeShortDigest(name)}`;
}

/** Finds the tool with the given wire name. Returns the name unchanged if none matches. */
export function findToolName(name: string, knownNames: Iterable<string>): string {
  for (const candidate of knownNames) if (toWireName(candidate) === name) return candidate;
  return name;
}

export function isWireName(name: string): boolean {
  return WIRE_NAME.test(name);
}

const MAX_NAME_LENGTH = 64;
const WIRE_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Returns the description of a tool. Agents require a description, so a missing description is derived from the name.
 */
export function describeTool(name: string, description: string | null | undefined): string {
  if (description !== undefined && description !== null && description.trim() !== "")
    return description;
  const words = name
    .replace(/([a-z\d])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, "$1$3 $2")
    .split(/[\s_-]+/)
    .filter((word) => word !== "")
    .map((word) => (/^[A-Z]+$/.test(word) ? word : word.toLowerCase()));
  const text = words.join(" ");
  return text === "" ? name : text.charAt(0).toUpperCase() + text.slice(1);
}
