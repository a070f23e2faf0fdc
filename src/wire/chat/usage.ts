import { isObject } from "../../domain/json.ts";
import type { Fields } from "../converse/schema.ts";

/** Usage in the words of Converse. Tokens read from a cache are part of `prompt_tokens` here, and apart from them there. */
export function converseUsage(raw: Fields): object {
  const details = isObject(raw["prompt_tokens_details"]) ? raw["prompt_tokens_details"] : {};
  const cached = details["cached_tokens"] ?? raw["prompt_cache_hit_tokens"];
  const { prompt_tokens: prompt, completion_tokens, total_tokens } = raw;
  const apart =
    typeof prompt === "number" && typeof cached === "number"
      ? Math.max(0, prompt - cached)
      : prompt;
  return {
    inputTokens: apart,
    outputTokens: completion_tokens,
    cacheReadInputTokens: cached,
    totalTokens: total_tokens,
  };
}
