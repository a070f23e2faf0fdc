import { eventStream, eventText } from "../../http/event-stream.ts";
import type { GuardedRoute } from "../../http/guarded-routes.ts";
import { jsonAnswer } from "../../http/json-answer.ts";
import { jsonBodyOf } from "../../http/json-body.ts";
import { isChatError, type ChatOutput } from "../../wire/chat-server/chat-chunk.ts";
import { readChatNote } from "../../wire/chat-server/chat-note.ts";
import { readChatRequest } from "../../wire/chat-server/chat-request.ts";
import { chunkEncoder } from "../../wire/chat-server/chunk-encoder.ts";
import { completionOf } from "../../wire/chat-server/completion.ts";
import { callIdOf } from "../../wire/responses/ids.ts";
import { askSession } from "./ask-session.ts";
import { chatAsk } from "./chat-ask.ts";
import { countedTurn } from "./counted-turn.ts";
import { followTurn } from "./follow-turn.ts";
import { headersOf, traceOf } from "./request-headers.ts";
import { streamTexts } from "./stream-texts.ts";
import type { Surface } from "./surface.ts";
import { wishOf } from "./wish.ts";

/** `POST /chat/completions`: whole, or as a stream. */
export function chatRoutes(surface: Surface): GuardedRoute[] {
  return [
    {
      method: "POST",
      path: "/chat/completions",
      handle(request, _labels, caller) {
        return countedTurn(surface, caller, async (end) => {
          const body = jsonBodyOf(request);
          const wanted = readChatRequest(body);
          const wish = wishOf(request, { body, wanted, caller }, surface);
          const trace = traceOf(request, { trace: null }, { caller, settings: surface.settings });
          const asked = await askSession(chatAsk({ ...wish, trace }), surface);
          const { sessionId, agent, note } = asked;
          const encoder = chunkEncoder({
            ...readChatNote(note, agent),
            sessionId,
            includeUsage: wanted.includeUsage || !wanted.stream,
            outerCallId: (toolCallId) => callIdOf(sessionId, toolCallId),
          });
          const reader = { caller, gone: request.gone, isDetached: false };
          const outputs = await followTurn(asked, encoder, { ...surface, ...reader });
          const headers = headersOf(asked, wanted.ignored);
          if (wanted.stream) {
            return eventStream(streamTexts(outputs, chunkText, end), {
              ...surface.streaming,
              headers,
            });
          }
          const all: ChatOutput[] = [];
          for await (const batch of outputs) all.push(...batch);
          end();
          const completion = completionOf(all);
          if (!isChatError(completion)) return jsonAnswer(200, completion, headers);
          const status = BROKEN.get(completion.error.code) ?? 502;
          // What the agent did before it failed is done.
          return jsonAnswer(status, completion, { ...headers, "x-should-retry": "false" });
        });
      },
    },
  ];
}

function chunkText(output: ChatOutput): string {
  return eventText(undefined, JSON.stringify(output));
}

/** How a turn is answered for that broke off after its agent had begun to speak. */
const BROKEN: ReadonlyMap<string, number> = new Map([
  ["cancelled", 409],
  ["first_event_timeout", 504],
  ["idle_timeout", 504],
  ["deadline_exceeded", 504],
]);
