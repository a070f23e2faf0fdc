import { createEventStream, formatEvent } from "../../../http/routing/event-stream.ts";
import type { GuardedRoute } from "../../../http/routing/guarded-routes.ts";
import { createJsonResponse } from "../../../http/routing/json-response.ts";
import { readJsonBody } from "../../../http/routing/json-body.ts";
import { isChatError, type ChatOutput } from "../../../wire/chat-server/chat-chunk.ts";
import { readChatNote } from "../../../wire/chat-server/chat-note.ts";
import { readChatRequest } from "../../../wire/chat-server/chat-request.ts";
import { createChunkEncoder } from "../../../wire/chat-server/chunk-encoder.ts";
import { collectCompletion } from "../../../wire/chat-server/chat-completion.ts";
import { formatCallId } from "../../../wire/responses/response-ids.ts";
import { submitPrompt } from "../prompt/submit-prompt.ts";
import { createChatPromptRequest } from "../prompt/chat-prompt-request.ts";
import { withTurnLimit } from "./turn-limit.ts";
import { followTurn } from "../turn/follow-turn.ts";
import { createResponseHeaders, resolveTrace } from "./request-headers.ts";
import { streamOutputs } from "./stream-outputs.ts";
import type { SurfaceContext } from "../surface-context.ts";
import { createRequestContext } from "../prompt/request-context.ts";

/** `POST /chat/completions`: a whole completion, or a stream. */
export function createChatRoutes(surface: SurfaceContext): GuardedRoute[] {
  return [
    {
      method: "POST",
      path: "/chat/completions",
      handle(request, _labels, caller) {
        return withTurnLimit(surface, caller, async (endTurn) => {
          const body = readJsonBody(request);
          const chatRequest = readChatRequest(body);
          const context = createRequestContext(
            request,
            { body, parsed: chatRequest, caller },
            surface,
          );
          const trace = resolveTrace(
            request,
            { trace: null },
            { caller, settings: surface.settings },
          );
          const submitted = await submitPrompt(
            createChatPromptRequest({ ...context, trace }),
            surface,
          );
          const { sessionId, agent, note } = submitted;
          const encoder = createChunkEncoder({
            ...readChatNote(note, agent),
            sessionId,
            includeUsage: chatRequest.includeUsage || !chatRequest.stream,
            formatCallId: (toolCallId) => formatCallId(sessionId, toolCallId),
          });
          const reader = { caller, disconnectSignal: request.disconnectSignal, isDetached: false };
          const outputs = await followTurn(submitted, encoder, { ...surface, ...reader });
          const headers = createResponseHeaders(submitted, chatRequest.ignored);
          if (chatRequest.stream) {
            return createEventStream(streamOutputs(outputs, formatChunk, endTurn), {
              ...surface.streaming,
              headers,
            });
          }
          const all: ChatOutput[] = [];
          for await (const batch of outputs) all.push(...batch);
          endTurn();
          const completion = collectCompletion(all);
          if (!isChatError(completion)) return createJsonResponse(200, completion, headers);
          const status = FAILURE_STATUSES.get(completion.error.code) ?? 502;
          // No retry: the agent's effects before the failure stay.
          return createJsonResponse(status, completion, { ...headers, "x-should-retry": "false" });
        });
      },
    },
  ];
}

function formatChunk(output: ChatOutput): string {
  return formatEvent(undefined, JSON.stringify(output));
}

/** HTTP statuses for a turn that failed after the agent's first output. Default: 502. */
const FAILURE_STATUSES: ReadonlyMap<string, number> = new Map([
  ["cancelled", 409],
  ["first_event_timeout", 504],
  ["idle_timeout", 504],
  ["deadline_exceeded", 504],
]);
