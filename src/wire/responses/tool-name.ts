import { computeShortDigest } from "../../data/short-digest.ts";
import { toToolName } from "../../domain/model/tool-call-names.ts";

/** A tool's name as the API takes one: most are such. Another is made plain, with an end that tells it from others. */
export function toWireName(name: string): string {
  if (isWireName(name)) return name;
  return `${toToolName(name).slice(0, MAX_NAME_LENGTH - 14)}-${computeShortDigest(name)}`;
}

/** The tool among these that a name on the wire means; a name that means none of them stays as it is. */
export function findToolName(name: string, knownNames: Iterable<string>): string {
  for (const candidate of knownNames) if (toWireName(candidate) === name) return candidate;
  return name;
}

export function isWireName(name: string): boolean {
  return WIRE_NAME.test(name);
}

const MAX_NAME_LENGTH = 64;
const WIRE_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** What a tool is for. A caller need not say it, and agents want to be told something: then it is what its name says. */
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
