import { isObject } from "../../data/json.ts";
import type { Fields } from "../converse/schema.ts";

/** Usage in the words of Converse. Tokens read from a cache are part of `prompt_tokens` here, and apart from them there. */
export function toConverseUsage(raw: Fields): object {
  const details = isObject(raw["prompt_tokens_details"]) ? raw["prompt_tokens_details"] : {};
  const cachedTokens = details["cached_tokens"] ?? raw["prompt_cache_hit_tokens"];
  const { prompt_tokens: promptTokens, completion_tokens, total_tokens } = raw;
  const uncachedTokens =
    typeof promptTokens === "number" && typeof cachedTokens === "number"
      ? Math.max(0, promptTokens - cachedTokens)
      : promptTokens;
  return {
    inputTokens: uncachedTokens,
    outputTokens: completion_tokens,
    cacheReadInputTokens: cachedTokens,
    totalTokens: total_tokens,
  };
}
