import type { TraceMode } from "../../../domain/trace-mode.ts";
import type { Caller } from "../../../http/access/caller.ts";
import { readHeader } from "../../../http/routing/read-header.ts";
import type { ServedResponse, ServedRequest } from "../../../http/server/http-types.ts";
import type { CreateRequest } from "../../../wire/responses/request/create-request.ts";
import { readTraceMode } from "../../../wire/responses/request/body-fields.ts";
import { formatResponseId } from "../../../wire/responses/response-ids.ts";
import type { SubmittedPrompt } from "../prompt/prompt-request.ts";
import type { ResponsesSettings } from "../../../domain/responses-settings.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

const SESSION_HEADER = "x-spanline-session";
const TRACE_HEADER = "x-spanline-trace";

/** The header that names a session, as whoever reads carriers takes it. */
export function readSessionHeader(
  request: Pick<ServedRequest, "headers">,
): { readonly name: string; readonly value: string } | undefined {
  const value = readHeader(request, SESSION_HEADER);
  return value === undefined ? undefined : { name: SESSION_HEADER, value };
}

/** By header, query or body of the request; else by the caller's key; else by the setting. */
export function resolveTrace(
  request: Pick<ServedRequest, "headers" | "query">,
  { trace }: Pick<CreateRequest, "trace">,
  defaults: { readonly caller: Caller; readonly settings: Pick<ResponsesSettings, "trace"> },
): TraceMode {
  return (
    readRequestedTrace(request) ?? trace ?? resolveDefaultTrace(defaults.caller, defaults.settings)
  );
}

/** The trace mode that the header or the query names; undefined for neither. */
export function readRequestedTrace(
  request: Pick<ServedRequest, "headers" | "query">,
): TraceMode | undefined {
  const header = readHeader(request, TRACE_HEADER);
  if (header !== undefined) return readTraceMode(header, TRACE_HEADER);
  const query = new URLSearchParams(request.query).get("trace");
  return query === null ? undefined : readTraceMode(query, "trace");
}

/** The trace mode of responses whose request names none. */
export function resolveDefaultTrace(
  caller: Caller,
  settings: Pick<ResponsesSettings, "trace">,
): TraceMode {
  return caller.trace ?? settings.trace;
}

/** What every answer to something asked says of it. `ignored` are fields that had no effect, by name. */
export function createResponseHeaders(
  { sessionId, isRepeated, history }: SubmittedPrompt,
  ignored: readonly string[],
): ServedResponse["headers"] {
  const names = ignored.filter((name) => /^[\w.-]+$/.test(name)).slice(0, MAX_IGNORED_NAMES);
  return {
    [SESSION_HEADER]: sessionId,
    ...(isRepeated && { "idempotent-replayed": "true" }),
    ...(names.length > 0 && { "x-spanline-ignored": names.join(", ") }),
    ...omitUndefined({ "x-spanline-history": history }),
  };
}

/** Where something is that failed before it could be answered: it can be looked at, and gone on from. */
export function createReferenceHeaders({
  sessionId,
  seq,
}: SubmittedPrompt): ServedResponse["headers"] {
  return {
    [SESSION_HEADER]: sessionId,
    "x-spanline-response": formatResponseId({ sessionId, seq }),
  };
}

const MAX_IGNORED_NAMES = 32;
