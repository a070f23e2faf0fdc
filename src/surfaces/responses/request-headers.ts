import { headerOf } from "../../http/header.ts";
import type { ServedAnswer, ServedRequest } from "../../http/served.ts";
import type { CreateRequest } from "../../wire/responses/request/create-request.ts";
import { readTraceMode, type TraceMode } from "../../wire/responses/request/trace-mode.ts";
import { responseId } from "../../wire/responses/ids.ts";
import type { Asked } from "./ask.ts";

const SESSION_HEADER = "x-spanline-session";
const TRACE_HEADER = "x-spanline-trace";

/** The header that names a session, as whoever reads carriers takes it. */
export function sessionHeaderOf(
  request: Pick<ServedRequest, "headers">,
): { readonly name: string; readonly value: string } | undefined {
  const value = headerOf(request, SESSION_HEADER);
  return value === undefined ? undefined : { name: SESSION_HEADER, value };
}

/** By header, by query or by what the body says; else as it was set. */
export function traceOf(
  request: Pick<ServedRequest, "headers" | "query">,
  { trace }: Pick<CreateRequest, "trace">,
  otherwise: TraceMode,
): TraceMode {
  const header = headerOf(request, TRACE_HEADER);
  if (header !== undefined) return readTraceMode(header, TRACE_HEADER);
  const query = new URLSearchParams(request.query).get("trace");
  if (query !== null) return readTraceMode(query, "trace");
  return trace ?? otherwise;
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
