import { SpanlineError, type ErrorCode } from "../../../domain/errors.ts";

/** What a caller's program can branch on, and the field that it is about. */
export interface RequestErrorDetails {
  readonly param: string | null;
  readonly code: string;
}

/** A request that is wrong. Whoever answers finds the field and the word for it in the details. */
export function createRequestError(
  message: string,
  { param, code }: RequestErrorDetails,
): SpanlineError {
  return createError("invalid_message", message, { param, code });
}

/** A request about something that is not there. */
export function createNotFoundError(
  message: string,
  { param, code }: RequestErrorDetails,
): SpanlineError {
  return createError("not_found", message, { param, code });
}

/** A field that is not what it has to be; `wanted` goes on from the name of the field. */
export function createFieldError(
  param: string,
  requirement: string,
  code = "invalid_value",
): SpanlineError {
  return createRequestError(`"${truncateParam(param)}" ${requirement}`, {
    param: truncateParam(param),
    code,
  });
}

function createError(code: ErrorCode, message: string, facts: RequestErrorDetails): SpanlineError {
  return new SpanlineError(code, message, { details: { ...facts } });
}

/** A name may be as long as the caller likes. */
function truncateParam(param: string): string {
  return param.length <= MAX_PARAM_LENGTH ? param : `${param.slice(0, MAX_PARAM_LENGTH)}…`;
}

const MAX_PARAM_LENGTH = 200;
