import { SpanlineError, type ErrorCode } from "../../../domain/errors.ts";

/** What a caller's program can branch on, and the field that it is about. */
export interface RefusalFacts {
  readonly param: string | null;
  readonly code: string;
}

/** A request that is wrong. Whoever answers finds the field and the word for it in the details. */
export function refusal(message: string, { param, code }: RefusalFacts): SpanlineError {
  return refused("invalid_message", message, { param, code });
}

/** A request about something that is not there. */
export function missing(message: string, { param, code }: RefusalFacts): SpanlineError {
  return refused("not_found", message, { param, code });
}

/** A field that is not what it has to be; `wanted` goes on from the name of the field. */
export function wrongField(param: string, wanted: string, code = "invalid_value"): SpanlineError {
  return refusal(`"${shownParam(param)}" ${wanted}`, { param: shownParam(param), code });
}

function refused(code: ErrorCode, message: string, facts: RefusalFacts): SpanlineError {
  return new SpanlineError(code, message, { details: { ...facts } });
}

/** A name may be as long as the caller likes. */
function shownParam(param: string): string {
  return param.length <= LONGEST_PARAM ? param : `${param.slice(0, LONGEST_PARAM)}…`;
}

const LONGEST_PARAM = 200;
