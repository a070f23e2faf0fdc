import { SpanlineError, type ErrorCode } from "../../../domain/errors.ts";

/** The field with the problem and a stable code, for programs. */
export interface RequestErrorDetails {
  readonly param: string | null;
  readonly code: string;
}

/** Creates the error of an invalid request, with the field and the code in its details. */
export function createRequestError(
  message: string,
  { param, code }: RequestErrorDetails,
): SpanlineError {
  return createError("invalid_message", message, { param, code });
}

/** Creates the error of a request for an unknown object. */
export function createNotFoundError(
  message: string,
  { param, code }: RequestErrorDetails,
): SpanlineError {
  return createError("not_found", message, { param, code });
}

/** Creates the error of an invalid field. `requirement` continues the sentence after the name of the field. */
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

/** Field names have no length limit, so long names are truncated. */
function truncateParam(param: string): string {
  return param.length <= MAX_PARAM_LENGTH ? param : `${param.slice(0, MAX_PARAM_LENGTH)}…`;
}

const MAX_PARAM_LENGTH = 200;
