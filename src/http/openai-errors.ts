import type { ApiError, ErrorForm } from "./api-error.ts";
import { jsonAnswer } from "./json-answer.ts";

/** Errors as OpenAI's clients read them. */
export const openAiErrors: ErrorForm = (error) =>
  jsonAnswer(error.status, { error: openAiError(error) }, error.headers);

export function openAiError({ status, code, message, hint, param, reason }: ApiError) {
  return {
    message: hint === undefined ? message : `${message}. ${hint}`,
    type: typeOf(status),
    param: param ?? null,
    code: reason ?? code,
  };
}

function typeOf(status: number): string {
  if (status === 404) return "not_found";
  if (status === 429) return "too_many_requests";
  return status >= 500 ? "server_error" : "invalid_request_error";
}
