import type { ResponseUsage } from "../responses/response-usage.ts";

export interface ChatUsage {
  /** All tokens read by the model, cached or not. */
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: ResponseUsage["input_tokens_details"];
  readonly completion_tokens_details: ResponseUsage["output_tokens_details"];
}

/** Converts the usage of a response to the field names of chat completions. */
export function encodeChatUsage(usage: ResponseUsage): ChatUsage {
  const { input_tokens, output_tokens } = usage;
  return {
    prompt_tokens: input_tokens,
    completion_tokens: output_tokens,
    total_tokens: input_tokens + output_tokens,
    prompt_tokens_details: usage.input_tokens_details,
    completion_tokens_details: usage.output_tokens_details,
  };
}
