import type { TurnCaps } from "../domain/agent-event.ts";
import { checkAmount, checkCount, optionsAt } from "./check-options.ts";

const CAPS: readonly (keyof TurnCaps)[] = [
  "steps",
  "seconds",
  "tokens",
  "toolCalls",
  "parallelTools",
];

/** Refuses caps that nobody knows, and those that cap nothing. */
export function checkCaps(value: unknown, path = "caps"): void {
  if (value === undefined) return;
  const caps = optionsAt(value, path, CAPS);
  for (const name of CAPS) {
    const at = `${path}.${name}`;
    if (name === "seconds") checkAmount(caps[name], at);
    else if (name !== "tokens" || caps[name] !== null) checkCount(caps[name], at);
  }
}

/** Those that are given take the place of those that were there; what is undefined is not given. */
export function withCaps(caps: TurnCaps, given: Partial<TurnCaps> = {}): TurnCaps {
  const defined = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...caps, ...Object.fromEntries(defined) };
}
