import type { Envelope } from "../../../domain/events/envelope.ts";
import type { TurnPaused } from "../../../domain/events/turn-events.ts";
import { requireRight, type Caller } from "../../../http/access/caller.ts";
import { ApiError } from "../../../http/routing/api-error.ts";
import { createEventStream } from "../../../http/routing/event-stream.ts";
import type { GuardedRoute } from "../../../http/routing/guarded-routes.ts";
import { createInvalidRequestError } from "../../../http/routing/json-body.ts";
import { createJsonResponse } from "../../../http/routing/json-response.ts";
import { createListPage, readPageQuery } from "../../../wire/responses/items/input-items.ts";
import {
  encodeRequestItems,
  type RequestItem,
} from "../../../wire/responses/items/request-items.ts";
import { decodeNote } from "../../../wire/responses/recorded-request.ts";
import type { StreamEvent } from "../../../wire/responses/stream/response-stream-event.ts";
import type { SubmittedPrompt } from "../prompt/prompt-request.ts";
import { toRefusalError } from "../request-errors.ts";
import type { SurfaceContext } from "../surface-context.ts";
import { readEnvelopes } from "../../log/read-log.ts";
import { readLoggedResponse, type LoggedResponse } from "../turn/logged-response.ts";
import { findStoredResponse } from "../turn/stored-response.ts";
import { createCompactRoute } from "./compact-route.ts";
import { createPostResponseRoute, followResponse, readResponse } from "./post-response-route.ts";
import { readRequestedTrace } from "./request-headers.ts";
import { streamOutputs } from "./stream-outputs.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import { encodeSseEvent } from "../../../wire/responses/encode-sse-event.ts";

/** Routes for responses: create, read, stream again, list input items, cancel, delete. */
export function createResponseRoutes(surface: SurfaceContext): GuardedRoute[] {
  const { sessions } = surface;
  return [
    createPostResponseRoute(surface),
    createCompactRoute(surface),
    {
      method: "POST",
      path: "/responses/input_tokens",
      async handle() {
        throw createTokensNotCountedError();
      },
    },
    createGetResponseRoute(surface),
    {
      method: "GET",
      path: "/responses/:id/input_items",
      async handle(request, { id = "" }, caller) {
        const pageQuery = readPageQuery(new Map(new URLSearchParams(request.query)));
        const submitted = await findStoredResponse(surface, id, caller);
        const items = await readInputItems(submitted, sessions);
        return createJsonResponse(200, createListPage(items, pageQuery));
      },
    },
    {
      method: "POST",
      path: "/responses/:id/cancel",
      async handle(_request, { id = "" }, caller) {
        requireRight(caller, "prompt", "Cancelling");
        const submitted = await findStoredResponse(surface, id, caller);
        const isBackground = decodeNote(submitted.note)?.isBackground === true;
        if (!isBackground && readPause(await readLoggedResponse(submitted, sessions)) === undefined)
          throw createNotInBackgroundError();
        await cancelResponse(surface, submitted, caller);
        return createJsonResponse(200, await readResponse(submitted, surface, { caller }));
      },
    },
    {
      method: "DELETE",
      path: "/responses/:id",
      async handle(_request, { id = "" }, caller) {
        const { sessionId, promptId } = await findStoredResponse(surface, id, caller);
        const from = { principal: caller };
        const reply = await sessions.command(sessionId, { type: "hide-prompt", promptId }, from);
        if (reply.status === "refused") throw toRefusalError(reply.failure);
        return createJsonResponse(200, { id, object: "response", deleted: true });
      },
    },
  ];
}

/** Reads a response, or streams its events again: from the first event, or from the event after `starting_after`. */
function createGetResponseRoute(surface: SurfaceContext): GuardedRoute {
  const formatShared = createEventTextCache();
  return {
    method: "GET",
    path: "/responses/:id",
    async handle(request, { id = "" }, caller) {
      const submitted = await findStoredResponse(surface, id, caller);
      const query = new URLSearchParams(request.query);
      const trace = readRequestedTrace(request);
      const view = { caller, ...omitUndefined({ trace }) };
      if (query.get("stream") !== "true")
        return createJsonResponse(200, await readResponse(submitted, surface, view));
      const startAfter = readStartingAfter(query);
      const outputs = await followResponse(surface, submitted, {
        ...view,
        disconnectSignal: request.disconnectSignal,
        isDetached: true,
      });
      const formatFrom = (event: StreamEvent): string =>
        event.sequence_number > startAfter ? formatShared(event) : "";
      return createEventStream(streamOutputs(outputs, formatFrom), surface.streaming);
    },
  };
}

/** Reads the items of the request that created a response. */
async function readInputItems(
  submitted: SubmittedPrompt,
  sessions: SurfaceContext["sessions"],
): Promise<readonly RequestItem[]> {
  const { envelopes } = await readLoggedResponse(submitted, sessions);
  const { inputMessages = [], hasHistory = false } = decodeNote(submitted.note) ?? {};
  const history = hasHistory ? await findHistory(submitted, sessions) : undefined;
  return encodeRequestItems({ envelopes, inputMessages, ...omitUndefined({ history }) });
}

/** Finds the event that imported the earlier messages of the session's first request. It precedes the prompt. */
async function findHistory(
  submitted: SubmittedPrompt,
  sessions: SurfaceContext["sessions"],
): Promise<Envelope | undefined> {
  for await (const envelope of readEnvelopes(submitted, 1, sessions)) {
    if (envelope.event.type === "history.imported") return envelope;
    if (envelope.seq >= submitted.seq) break;
  }
  return undefined;
}

function readStartingAfter(query: URLSearchParams): number {
  const text = query.get("starting_after") ?? "-1";
  const sequenceNumber = Number(text);
  if (Number.isSafeInteger(sequenceNumber) && sequenceNumber >= -1) return sequenceNumber;
  throw createInvalidRequestError(
    `starting_after is "${text.slice(0, 40)}": expected the sequence number of an event`,
    {
      param: "starting_after",
      reason: "invalid_value",
    },
  );
}

/** Only the agent's service knows the tokens of its instructions, tools and history, and only after the run. */
function createTokensNotCountedError(): ApiError {
  const message = "Tokens are not counted before an agent runs: input_tokens is not supported";
  return new ApiError(400, "validation_failed", message, {
    reason: "not_supported",
    hint: "Read the token counts from the usage of a response",
    headers: { "x-should-retry": "false" },
  });
}

function createNotInBackgroundError(): ApiError {
  const message = "Only background responses and responses with open tool calls can be cancelled";
  return new ApiError(400, "validation_failed", message, {
    param: "response_id",
    reason: "not_background",
    hint: "To cancel another response, close its connection",
  });
}

/**
 * Cancels the turn of a response, or withdraws its prompt while queued. A finished response stays unchanged. If it
 * ended with open tool calls, the waiting turn is cancelled.
 */
async function cancelResponse(
  { sessions }: Pick<SurfaceContext, "sessions">,
  submitted: SubmittedPrompt,
  caller: Caller,
): Promise<void> {
  const { sessionId, promptId } = submitted;
  const from = { principal: caller };
  const reply = await sessions.command(sessionId, { type: "withdraw-prompt", promptId }, from);
  if (reply.status === "accepted") return;
  const answer = await readLoggedResponse(submitted, sessions);
  const pause = readPause(answer);
  const { pendingToolCallIds } = await sessions.status(sessionId);
  // If results arrived since, the turn belongs to a later response.
  const isWaiting = pause?.toolCallIds.some((id) => pendingToolCallIds.includes(id)) === true;
  const turnId = isWaiting ? pause?.turnId : answer.openTurnId;
  if (turnId !== undefined) await sessions.command(sessionId, { type: "cancel", turnId }, from);
}

/** The pause event of a response that ended with open tool calls. Undefined for other responses. */
function readPause({ end }: Pick<LoggedResponse, "end">): TurnPaused | undefined {
  return end?.type === "turn.paused" ? end : undefined;
}

/** Encodes response events and caches the last delta, so readers at the same position share one encoding. */
export function createEventTextCache(): (event: StreamEvent) => string {
  let last: { readonly event: DeltaEvent; readonly text: string } | undefined;
  return (event) => {
    if (!("delta" in event)) return encodeSseEvent(event);
    if (last !== undefined && isSameDelta(event, last.event)) return last.text;
    const text = encodeSseEvent(event);
    last = { event, text };
    return text;
  };
}

type DeltaEvent = Extract<StreamEvent, { readonly delta: string }>;

/**
 * An item id belongs to one response. The text is compared too: after retention dropped deltas, the same number may
 * carry another text.
 */
function isSameDelta(left: DeltaEvent, right: DeltaEvent): boolean {
  return (
    left.sequence_number === right.sequence_number &&
    left.item_id === right.item_id &&
    left.type === right.type &&
    left.delta === right.delta
  );
}
