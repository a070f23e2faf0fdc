import { isObject } from "../../data/json.ts";
import type { Usage } from "../../domain/usage.ts";
import type { USAGE_COUNTS } from "./schema.ts";

export interface UsageReading {
  readonly usage: Usage;
  /** Fields that hold something else than a count. */
  readonly invalidFields: readonly string[];
}

/** Every number is optional on the wire, whatever the service's model says. */
export function readUsage(raw: unknown): UsageReading | undefined {
  if (!isObject(raw)) return undefined;
  const invalidFields: string[] = [];
  const count = (name: (typeof USAGE_COUNTS)[number]): number | undefined => {
    const value = raw[name];
    if (value === undefined || value === null) return undefined;
    if (typeof value === "number" && Number.isFinite(value) && value >= 0) return value;
    invalidFields.push(name);
    return undefined;
  };
  const inputTokens = count("inputTokens") ?? 0;
  const outputTokens = count("outputTokens") ?? 0;
  const cacheReadTokens = count("cacheReadInputTokens") ?? 0;
  const cacheWriteTokens = count("cacheWriteInputTokens") ?? 0;
  const sum = inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
  const totalTokens = count("totalTokens") ?? sum;
  return {
    usage: { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, totalTokens },
    invalidFields,
  };
}
