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
import { headersOf } from "./request-headers.ts";
import type { Surface } from "./surface.ts";
import { wishOf } from "./wish.ts";

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
          const wish = wishOf(request, { body, wanted, caller }, surface);
          const asked = await askSession(inferenceAsk(wish), surface);
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
