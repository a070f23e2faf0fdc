import type { TurnCaps } from "../../domain/agent-spec.ts";
import { checkPositiveNumber, checkWholeNumber, readOptions } from "../option-reader.ts";

const CAP_NAMES: readonly (keyof TurnCaps)[] = [
  "steps",
  "seconds",
  "tokens",
  "toolCalls",
  "parallelTools",
];

/** Refuses caps that nobody knows, and those that cap nothing. */
export function checkCaps(value: unknown, path = "caps"): void {
  if (value === undefined) return;
  const caps = readOptions(value, path, CAP_NAMES);
  for (const name of CAP_NAMES) {
    const at = `${path}.${name}`;
    if (name === "seconds") checkPositiveNumber(caps[name], at);
    else if (name !== "tokens" || caps[name] !== null) checkWholeNumber(caps[name], at);
  }
}

/** Those that are given take the place of those that were there; what is undefined is not given. */
export function mergeCaps(caps: TurnCaps, overrides: Partial<TurnCaps> = {}): TurnCaps {
  const defined = Object.entries(overrides).filter(([, value]) => value !== undefined);
  return { ...caps, ...Object.fromEntries(defined) };
}
