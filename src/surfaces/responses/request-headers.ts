import type { TraceMode } from "../../domain/trace-mode.ts";
import type { Caller } from "../../http/caller.ts";
import { headerOf } from "../../http/header.ts";
import type { ServedAnswer, ServedRequest } from "../../http/served.ts";
import type { CreateRequest } from "../../wire/responses/request/create-request.ts";
import { readTraceMode } from "../../wire/responses/request/trace-mode.ts";
import { responseId } from "../../wire/responses/ids.ts";
import type { Asked } from "./ask.ts";
import type { ResponsesSettings } from "./responses-options.ts";

const SESSION_HEADER = "x-spanline-session";
const TRACE_HEADER = "x-spanline-trace";

/** The header that names a session, as whoever reads carriers takes it. */
export function sessionHeaderOf(
  request: Pick<ServedRequest, "headers">,
): { readonly name: string; readonly value: string } | undefined {
  const value = headerOf(request, SESSION_HEADER);
  return value === undefined ? undefined : { name: SESSION_HEADER, value };
}

/** By header, query or body of the request; else by the caller's key; else by the setting. */
export function traceOf(
  request: Pick<ServedRequest, "headers" | "query">,
  { trace }: Pick<CreateRequest, "trace">,
  otherwise: { readonly caller: Caller; readonly settings: Pick<ResponsesSettings, "trace"> },
): TraceMode {
  const header = headerOf(request, TRACE_HEADER);
  if (header !== undefined) return readTraceMode(header, TRACE_HEADER);
  const query = new URLSearchParams(request.query).get("trace");
  if (query !== null) return readTraceMode(query, "trace");
  return trace ?? defaultTrace(otherwise.caller, otherwise.settings);
}

/** The trace mode of responses whose request names none. */
export function defaultTrace(
  caller: Caller,
  settings: Pick<ResponsesSettings, "trace">,
): TraceMode {
  return caller.trace ?? settings.trace;
}

/** What every answer to something asked says of it. `ignored` are fields that had no effect, by name. */
export function headersOf(
  { sessionId, isRepeated, history }: Asked,
  ignored: readonly string[],
): ServedAnswer["headers"] {
  const names = ignored.filter((name) => /^[\w.-]+$/.test(name)).slice(0, MOST_NAMED);
  return {
    [SESSION_HEADER]: sessionId,
    ...(isRepeated && { "idempotent-replayed": "true" }),
    ...(names.length > 0 && { "x-spanline-ignored": names.join(", ") }),
    ...(history !== undefined && { "x-spanline-history": history }),
  };
}

/** Where something is that failed before it could be answered: it can be looked at, and gone on from. */
export function placeHeaders({ sessionId, seq }: Asked): ServedAnswer["headers"] {
  return {
    [SESSION_HEADER]: sessionId,
    "x-spanline-response": responseId({ sessionId, seq }),
  };
}

const MOST_NAMED = 32;
