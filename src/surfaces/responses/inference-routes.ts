import type { GuardedRoute } from "../../http/guarded-routes.ts";
import { jsonAnswer } from "../../http/json-answer.ts";
import { jsonBodyOf } from "../../http/json-body.ts";
import type { AigoOutput } from "../../wire/aigo/aigo-output.ts";
import { inferenceEncoder, readInferenceNote } from "../../wire/aigo/inference-output.ts";
import { refuseCredentials } from "../../wire/aigo/refuse-credentials.ts";
import { readChatRequest } from "../../wire/chat-server/chat-request.ts";
import { askSession } from "./ask-session.ts";
import { countedTurn } from "./counted-turn.ts";
import { followTurn } from "./follow-turn.ts";
import { inferenceAsk } from "./inference-ask.ts";
import { isStateless } from "./stateless-agents.ts";
import { headersOf, sessionHeaderOf } from "./request-headers.ts";
import { retryOf } from "./retry-of.ts";
import type { Surface } from "./surface.ts";

/** `POST /inference`: one turn of an evaluation by AI GO!, whose snippet passes its body on. */
export function inferenceRoutes(surface: Surface): GuardedRoute[] {
  return [
    {
      method: "POST",
      path: "/inference",
      handle(request, _labels, caller) {
        return countedTurn(surface, caller, async (end) => {
          const body = jsonBodyOf(request);
          refuseCredentials(body);
          const wanted = readChatRequest(body);
          const header = sessionHeaderOf(request);
          const ask = inferenceAsk({
            request: wanted,
            caller,
            retry: retryOf(request, body, caller),
            isStateless: isStateless(surface, wanted.model ?? null, caller),
            ...(header !== undefined && { header }),
          });
          const asked = await askSession(ask, surface);
          const note = readInferenceNote(asked.note);
          const reader = { caller, gone: request.gone, isDetached: false };
          const encoder = inferenceEncoder(asked, note);
          const outputs = await followTurn(asked, encoder, { ...surface, ...reader });
          const output = await lastOf(outputs);
          end();
          return jsonAnswer(200, output, headersOf(asked, note.ignored));
        });
      },
    },
  ];
}

async function lastOf(outputs: AsyncIterable<readonly AigoOutput[]>): Promise<AigoOutput> {
  let last: AigoOutput | undefined;
  for await (const batch of outputs) last = batch.at(-1) ?? last;
  if (last === undefined) throw new Error("A turn has no output");
  return last;
}
