import { TRACE_MODES, type TraceMode } from "../../../domain/trace-mode.ts";
import { readChoice } from "./body-fields.ts";

/** From a header, a query, a setting or a field of the body; `param` is its name. */
export function readTraceMode(value: unknown, param: string): TraceMode {
  return readChoice(value, param, TRACE_MODES);
}
