import { ApiError } from "../../http/api-error.ts";
import { requireRight } from "../../http/caller.ts";
import { eventStream } from "../../http/event-stream.ts";
import type { GuardedRoute } from "../../http/guarded-routes.ts";
import { jsonAnswer } from "../../http/json-answer.ts";
import { invalid } from "../../http/json-body.ts";
import { inputItemsOf, listPage, readPageWish } from "../../wire/responses/input-items.ts";
import { readNote } from "../../wire/responses/recorded-request.ts";
import type { StreamEvent } from "../../wire/responses/stream/stream-event.ts";
import { cancelResponse, pauseOf } from "./cancel-response.ts";
import { compactRoute } from "./compact-route.ts";
import { createResponseRoute, events, standingOf } from "./create-response.ts";
import { answerIn } from "./read-log.ts";
import { refusedBySession } from "./refusals.ts";
import { sharedText } from "./shared-text.ts";
import { storedResponse } from "./stored-response.ts";
import { streamTexts } from "./stream-texts.ts";
import type { Surface } from "./surface.ts";

/** Responses: made, found again, followed again, cancelled, forgotten. */
export function responseRoutes(surface: Surface): GuardedRoute[] {
  const { sessions } = surface;
  const sharedTextOf = sharedText();
  return [
    createResponseRoute(surface),
    compactRoute(surface),
    {
      method: "POST",
      path: "/responses/input_tokens",
      async handle() {
        throw tokensNotCounted();
      },
    },
    {
      method: "GET",
      path: "/responses/:id",
      async handle(request, { id = "" }, caller) {
        const asked = await storedResponse(surface, id, caller);
        const query = new URLSearchParams(request.query);
        if (query.get("stream") !== "true")
          return jsonAnswer(200, await standingOf(asked, surface, caller));
        const after = startingAfter(query);
        const outputs = await events(surface, asked, {
          caller,
          gone: request.gone,
          isDetached: true,
        });
        const textOf = (event: StreamEvent): string =>
          event.sequence_number > after ? sharedTextOf(event) : "";
        return eventStream(streamTexts(outputs, textOf), surface.streaming);
      },
    },
    {
      method: "GET",
      path: "/responses/:id/input_items",
      async handle(request, { id = "" }, caller) {
        const wish = readPageWish(new Map(new URLSearchParams(request.query)));
        const asked = await storedResponse(surface, id, caller);
        const { envelopes } = await answerIn(asked, sessions);
        return jsonAnswer(200, listPage(inputItemsOf(envelopes), wish));
      },
    },
    {
      method: "POST",
      path: "/responses/:id/cancel",
      async handle(_request, { id = "" }, caller) {
        requireRight(caller, "prompt", "Cancelling");
        const asked = await storedResponse(surface, id, caller);
        const isBackground = readNote(asked.note)?.isBackground === true;
        if (!isBackground && pauseOf(await answerIn(asked, sessions)) === undefined)
          throw notInBackground();
        await cancelResponse(surface, asked, caller);
        return jsonAnswer(200, await standingOf(asked, surface, caller));
      },
    },
    {
      method: "DELETE",
      path: "/responses/:id",
      async handle(_request, { id = "" }, caller) {
        const { sessionId, promptId } = await storedResponse(surface, id, caller);
        const from = { principal: caller };
        const reply = await sessions.command(sessionId, { type: "forget", promptId }, from);
        if (reply.status === "refused") throw refusedBySession(reply.failure);
        return jsonAnswer(200, { id, object: "response", deleted: true });
      },
    },
  ];
}

function startingAfter(query: URLSearchParams): number {
  const text = query.get("starting_after") ?? "-1";
  const after = Number(text);
  if (Number.isSafeInteger(after) && after >= -1) return after;
  throw invalid(`starting_after is "${text.slice(0, 40)}", wanted the number of an event`, {
    param: "starting_after",
    reason: "invalid_value",
  });
}

/** Only the agent's service knows the tokens of its instructions, its tools and its history, and only once it has run. */
function tokensNotCounted(): ApiError {
  const message = "Tokens are not counted before an agent runs: input_tokens is not supported";
  return new ApiError(400, "validation_failed", message, {
    reason: "not_supported",
    hint: "A response has the tokens that it took in its usage",
    headers: { "x-should-retry": "false" },
  });
}

function notInBackground(): ApiError {
  const message = "Only responses in the background are cancelled, and those with open calls";
  return new ApiError(400, "validation_failed", message, {
    param: "response_id",
    reason: "not_background",
    hint: "To cancel another one, hang up",
  });
}
