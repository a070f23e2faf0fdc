import type { Usage } from "../../domain/usage.ts";

export interface ChatUsage {
  /** Everything that the model read, cached or not. */
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number };
  readonly completion_tokens_details: { readonly reasoning_tokens: number };
}

export function chatUsage(usage: Usage): ChatUsage {
  const read = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  return {
    prompt_tokens: read,
    completion_tokens: usage.outputTokens,
    total_tokens: read + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cacheReadTokens },
    // No provider here counts reasoning apart from the rest of the output.
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}
