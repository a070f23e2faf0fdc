import { toToolName } from "../../domain/model/tool-call-names.ts";
import { computeShortDigest } from "../../data/short-digest.ts";

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
