import { integer, nullable, number, object, optional } from "../../data/schema-reader.ts";
import type { TurnCaps } from "../../domain/agent-spec.ts";

const COUNT = integer({ min: 1 });

export const CAPS_SCHEMA = object({
  steps: optional(COUNT),
  seconds: optional(number({ above: 0 })),
  tokens: optional(nullable(COUNT)),
  toolCalls: optional(COUNT),
  parallelTools: optional(COUNT),
});

/** Returns the caps with defined overrides applied. Undefined overrides are ignored. */
export function mergeCaps(caps: TurnCaps, overrides: Partial<TurnCaps> = {}): TurnCaps {
  const defined = Object.entries(overrides).filter(([, value]) => value !== undefined);
  return { ...caps, ...Object.fromEntries(defined) };
}
