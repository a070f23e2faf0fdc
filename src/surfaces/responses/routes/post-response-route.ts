import type { TraceMode } from "../../../domain/responses-settings.ts";
import type { Caller } from "../../../http/access/caller.ts";
import { createEventStream } from "../../../http/routing/event-stream.ts";
import type { GuardedRoute } from "../../../http/routing/guarded-routes.ts";
import { createJsonResponse } from "../../../http/routing/json-response.ts";
import { readJsonBody } from "../../../http/routing/json-body.ts";
import type { ServedResponse } from "../../../http/server/http-types.ts";
import { readCreateRequest } from "../../../wire/responses/request/read-create-request.ts";
import {
  decodeNote,
  createUnrecordedRequest,
  type RecordedRequest,
} from "../../../wire/responses/recorded-request.ts";
import type { ResponseObject } from "../../../wire/responses/response-object.ts";
import { encodeSseEvent } from "../../../wire/responses/encode-sse-event.ts";
import type { StreamEvent } from "../../../wire/responses/stream/response-stream-event.ts";
import {
  foldResponse,
  createResponseStream,
} from "../../../wire/responses/stream/response-stream.ts";
import type { SubmittedPrompt } from "../prompt/prompt-request.ts";
import { submitPrompt } from "../prompt/submit-prompt.ts";
import { withTurnLimit } from "./turn-limit.ts";
import { followTurn } from "../turn/follow-turn.ts";
import { readLoggedResponse } from "../turn/logged-response.ts";
import { resolveDefaultTrace, createResponseHeaders, resolveTrace } from "./request-headers.ts";
import { createResponsePromptRequest } from "../prompt/response-prompt-request.ts";
import { streamOutputs } from "./stream-outputs.ts";
import type { SurfaceContext } from "../surface-context.ts";
import { createRequestContext } from "../prompt/request-context.ts";

/** `POST /responses`: a whole response, a stream, or a response in the background. */
export function createPostResponseRoute(surface: SurfaceContext): GuardedRoute {
  return {
    method: "POST",
    path: "/responses",
    async handle(request, _labels, caller) {
      return withTurnLimit(surface, caller, async (endTurn) => {
        const body = readJsonBody(request);
        const createRequest = readCreateRequest(body);
        const context = createRequestContext(
          request,
          { body, parsed: createRequest, caller },
          surface,
        );
        const trace = resolveTrace(request, createRequest, { caller, settings: surface.settings });
        const submitted = await submitPrompt(
          createResponsePromptRequest({ ...context, trace }),
          surface,
        );
        const headers = createResponseHeaders(submitted, createRequest.ignored);
        if (createRequest.background && !createRequest.stream) {
          void followInBackground(surface, submitted, caller).finally(endTurn);
          return createJsonResponse(
            200,
            await readResponse(submitted, surface, { caller }),
            headers,
          );
        }
        const { disconnectSignal } = request;
        const outputs = await followResponse(surface, submitted, {
          caller,
          disconnectSignal,
          isDetached: createRequest.background,
          isBuffered: !createRequest.stream,
        });
        if (!createRequest.stream) {
          const response = await readLastResponse(outputs);
          endTurn();
          return createJsonResponse(200, response, {
            ...headers,
            ...createFailedHeaders(response),
          });
        }
        return createEventStream(streamOutputs(outputs, encodeSseEvent, endTurn), {
          ...surface.streaming,
          headers,
        });
      });
    },
  };
}

/** The reader of a response and the form of its tool calls. */
export interface ResponseView {
  readonly caller: Caller;
  /** How tool calls are shown. Default: the trace mode of the response's request. */
  readonly trace?: TraceMode;
}

interface ResponseReader extends ResponseView {
  readonly disconnectSignal: AbortSignal;
  readonly isDetached: boolean;
  readonly isBuffered?: boolean;
}

/** Follows a submitted prompt and returns the events of its response stream. */
export function followResponse(
  surface: SurfaceContext,
  submitted: SubmittedPrompt,
  reader: ResponseReader,
): Promise<AsyncIterableIterator<readonly StreamEvent[]>> {
  const recorded = resolveRecordedRequest(submitted, surface, reader);
  return followTurn(submitted, createResponseStream(recorded), { ...surface, ...reader });
}

/** Follows a background turn to its end, so its outcome is observed and its turn counted, although no caller waits. */
async function followInBackground(
  surface: SurfaceContext,
  submitted: SubmittedPrompt,
  caller: Caller,
): Promise<void> {
  if (submitted.isRepeated) return;
  const { signal: disconnectSignal } = new AbortController();
  try {
    await readLastResponse(
      await followResponse(surface, submitted, { caller, disconnectSignal, isDetached: true }),
    );
  } catch (error) {
    surface.report(error);
  }
}

async function readLastResponse(
  outputs: AsyncIterable<readonly StreamEvent[]>,
): Promise<ResponseObject> {
  let last: ResponseObject | undefined;
  for await (const batch of outputs) {
    for (const event of batch) if ("response" in event) last = event.response;
  }
  if (last === undefined) throw new Error("The response has no events");
  return last;
}

/** Reads a response in its current state. */
export async function readResponse(
  submitted: SubmittedPrompt,
  surface: Pick<SurfaceContext, "sessions" | "settings">,
  view: ResponseView,
): Promise<ResponseObject> {
  const recorded = resolveRecordedRequest(submitted, surface, view);
  const response = foldResponse(
    (await readLoggedResponse(submitted, surface.sessions)).envelopes,
    recorded,
  );
  if (response === null) throw new Error("The response has no events");
  return response;
}

function resolveRecordedRequest(
  { note, agent }: SubmittedPrompt,
  { settings }: Pick<SurfaceContext, "settings">,
  { caller, trace }: ResponseView,
): RecordedRequest {
  const recorded =
    decodeNote(note) ?? createUnrecordedRequest(agent, resolveDefaultTrace(caller, settings));
  return trace === undefined ? recorded : { ...recorded, trace };
}

/** No retry: the agent's effects before the failure stay. */
function createFailedHeaders({ status }: ResponseObject): ServedResponse["headers"] {
  return status === "failed" ? { "x-should-retry": "false" } : {};
}
