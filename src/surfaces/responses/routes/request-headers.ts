import type { TraceMode, ResponsesSettings } from "../../../domain/responses-settings.ts";
import type { Caller } from "../../../http/access/caller.ts";
import { readHeader } from "../../../http/routing/read-header.ts";
import type { ServedResponse, ServedRequest } from "../../../http/server/http-types.ts";
import type { CreateRequest } from "../../../wire/responses/request/create-request.ts";
import { readTraceMode } from "../../../wire/responses/request/body-fields.ts";
import { formatResponseId } from "../../../wire/responses/response-ids.ts";
import type { SubmittedPrompt } from "../prompt/prompt-request.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

const SESSION_HEADER = "x-spanline-session";
const TRACE_HEADER = "x-spanline-trace";

/** Reads the header with a session id, in the form `findCarriers` expects. */
export function readSessionHeader(
  request: Pick<ServedRequest, "headers">,
): { readonly name: string; readonly value: string } | undefined {
  const value = readHeader(request, SESSION_HEADER);
  return value === undefined ? undefined : { name: SESSION_HEADER, value };
}

/** Resolves the trace mode: header or query, then body, then the caller's key, then the setting. */
export function resolveTrace(
  request: Pick<ServedRequest, "headers" | "query">,
  { trace }: Pick<CreateRequest, "trace">,
  defaults: { readonly caller: Caller; readonly settings: Pick<ResponsesSettings, "trace"> },
): TraceMode {
  return (
    readRequestedTrace(request) ?? trace ?? resolveDefaultTrace(defaults.caller, defaults.settings)
  );
}

/** The trace mode from the header or the query. Undefined if neither is present. */
export function readRequestedTrace(
  request: Pick<ServedRequest, "headers" | "query">,
): TraceMode | undefined {
  const header = readHeader(request, TRACE_HEADER);
  if (header !== undefined) return readTraceMode(header, TRACE_HEADER);
  const query = new URLSearchParams(request.query).get("trace");
  return query === null ? undefined : readTraceMode(query, "trace");
}

/** The default trace mode of a response, used if its request does not set the trace mode. */
export function resolveDefaultTrace(
  caller: Caller,
  settings: Pick<ResponsesSettings, "trace">,
): TraceMode {
  return caller.trace ?? settings.trace;
}

/** Headers of every response to a submitted prompt. `ignored`: names of request fields without effect. */
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

/**
 * Headers with the session and the response of a prompt that failed early, so the caller can read or continue the
 * response.
 */
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
