import { plainName } from "../../domain/call-names.ts";
import { shortDigest } from "./short-digest.ts";

/** A tool's name as the API takes one: most are such. Another is made plain, with an end that tells it from others. */
export function wireName(name: string): string {
  if (isWireName(name)) return name;
  return `${plainName(name).slice(0, LONGEST_NAME - 14)}-${shortDigest(name)}`;
}

/** The tool among these that a name on the wire means; a name that means none of them stays as it is. */
export function nameMeant(name: string, known: Iterable<string>): string {
  for (const candidate of known) if (wireName(candidate) === name) return candidate;
  return name;
}

export function isWireName(name: string): boolean {
  return WIRE_NAME.test(name);
}

const LONGEST_NAME = 64;
const WIRE_NAME = /^[A-Za-z0-9_-]{1,64}$/;
