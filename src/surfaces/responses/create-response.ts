import type { Caller } from "../../http/caller.ts";
import { eventStream } from "../../http/event-stream.ts";
import type { GuardedRoute } from "../../http/guarded-routes.ts";
import { jsonAnswer } from "../../http/json-answer.ts";
import { jsonBodyOf } from "../../http/json-body.ts";
import type { ServedAnswer } from "../../http/served.ts";
import { readCreateRequest } from "../../wire/responses/request/read-create-request.ts";
import {
  readNote,
  unrecordedRequest,
  type RecordedRequest,
} from "../../wire/responses/recorded-request.ts";
import type { ResponseObject } from "../../wire/responses/response-object.ts";
import { sseText } from "../../wire/responses/sse-text.ts";
import type { StreamEvent } from "../../wire/responses/stream/stream-event.ts";
import { responseFrom, responseStream } from "../../wire/responses/stream/response-stream.ts";
import type { Asked } from "./ask.ts";
import { askSession } from "./ask-session.ts";
import { countedTurn } from "./counted-turn.ts";
import { followTurn } from "./follow-turn.ts";
import { answerIn } from "./read-log.ts";
import { defaultTrace, headersOf, traceOf } from "./request-headers.ts";
import { responseAsk } from "./response-ask.ts";
import { streamTexts } from "./stream-texts.ts";
import type { Surface } from "./surface.ts";
import { wishOf } from "./wish.ts";

/** `POST /responses`: whole, as a stream, or in the background. */
export function createResponseRoute(surface: Surface): GuardedRoute {
  return {
    method: "POST",
    path: "/responses",
    async handle(request, _labels, caller) {
      return countedTurn(surface, caller, async (end) => {
        const body = jsonBodyOf(request);
        const wanted = readCreateRequest(body);
        const wish = wishOf(request, { body, wanted, caller }, surface);
        const trace = traceOf(request, wanted, { caller, settings: surface.settings });
        const asked = await askSession(responseAsk({ ...wish, trace }), surface);
        const headers = headersOf(asked, wanted.ignored);
        if (wanted.background && !wanted.stream) {
          void followed(surface, asked, caller).finally(end);
          return jsonAnswer(200, await standingOf(asked, surface, caller), headers);
        }
        const { gone } = request;
        const outputs = await events(surface, asked, {
          caller,
          gone,
          isDetached: wanted.background,
          isWhole: !wanted.stream,
        });
        if (!wanted.stream) {
          const response = await lastResponse(outputs);
          end();
          return jsonAnswer(200, response, { ...headers, ...failedHeaders(response) });
        }
        return eventStream(streamTexts(outputs, sseText, end), { ...surface.streaming, headers });
      });
    },
  };
}

interface Reader {
  readonly caller: Caller;
  readonly gone: AbortSignal;
  readonly isDetached: boolean;
  readonly isWhole?: boolean;
}

/** The events of the stream that what was asked comes to. */
export function events(
  surface: Surface,
  asked: Asked,
  reader: Reader,
): Promise<AsyncIterableIterator<readonly StreamEvent[]>> {
  const recorded = recordedFor(asked, surface, reader.caller);
  return followTurn(asked, responseStream(recorded), { ...surface, ...reader });
}

/** A turn in the background is one that runs, though nobody waits for it. */
async function followed(surface: Surface, asked: Asked, caller: Caller): Promise<void> {
  if (asked.isRepeated) return;
  const { signal: gone } = new AbortController();
  try {
    await lastResponse(await events(surface, asked, { caller, gone, isDetached: true }));
  } catch (error) {
    surface.report(error);
  }
}

async function lastResponse(
  outputs: AsyncIterable<readonly StreamEvent[]>,
): Promise<ResponseObject> {
  let last: ResponseObject | undefined;
  for await (const batch of outputs) {
    for (const event of batch) if ("response" in event) last = event.response;
  }
  if (last === undefined) throw new Error("A response has no events");
  return last;
}

/** As far as it has come. */
export async function standingOf(
  asked: Asked,
  surface: Pick<Surface, "sessions" | "settings">,
  caller: Caller,
): Promise<ResponseObject> {
  const recorded = recordedFor(asked, surface, caller);
  const response = responseFrom((await answerIn(asked, surface.sessions)).envelopes, recorded);
  if (response === null) throw new Error("A response has no events");
  return response;
}

function recordedFor(
  { note, agent }: Asked,
  { settings }: Pick<Surface, "settings">,
  caller: Caller,
): RecordedRequest {
  return readNote(note) ?? unrecordedRequest(agent, defaultTrace(caller, settings));
}

/** What the agent did before it failed is done. */
function failedHeaders({ status }: ResponseObject): ServedAnswer["headers"] {
  return status === "failed" ? { "x-should-retry": "false" } : {};
}
