import { addUsage, type Usage } from "../../domain/usage.ts";
import type { UsageStep } from "../../domain/provider/turn-builder.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface ResponseUsage {
  /** All tokens read by the model, cached or not: the specification counts cached tokens as input. */
  readonly input_tokens: number;
  readonly input_tokens_details: { readonly cached_tokens: number };
  readonly output_tokens: number;
  readonly output_tokens_details: { readonly reasoning_tokens: number };
  readonly total_tokens: number;
  /** Every model call of the turn with the counts of the provider. A Spanline extension. */
  readonly steps: readonly ResponseUsageStep[];
}

export interface ResponseUsageStep {
  readonly input_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
  readonly latency_ms?: number;
}

/** Usage of a response without a model call, or without reported counts. */
export const NO_USAGE: ResponseUsage = {
  input_tokens: 0,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 0,
  steps: [],
};

/** Encodes usage. `total` is the sum reported for the turn; if null, the steps are summed. */
export function encodeResponseUsage(
  total: Usage | null,
  steps: readonly UsageStep[],
): ResponseUsage | null {
  const sum = total ?? sumUsage(steps);
  if (sum === null) return null;
  return {
    input_tokens: sum.inputTokens + sum.cacheReadTokens + sum.cacheWriteTokens,
    input_tokens_details: { cached_tokens: sum.cacheReadTokens },
    output_tokens: sum.outputTokens,
    // No supported provider counts reasoning tokens separately.
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: sum.totalTokens,
    steps: steps.map(encodeUsageStep),
  };
}

function sumUsage(steps: readonly UsageStep[]): Usage | null {
  let sum: Usage | null = null;
  for (const { usage } of steps) sum = sum === null ? usage : addUsage(sum, usage);
  return sum;
}

function encodeUsageStep({ usage, latencyMs }: UsageStep): ResponseUsageStep {
  return {
    input_tokens: usage.inputTokens,
    cache_read_tokens: usage.cacheReadTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    output_tokens: usage.outputTokens,
    total_tokens: usage.totalTokens,
    ...omitUndefined({ latency_ms: latencyMs }),
  };
}
