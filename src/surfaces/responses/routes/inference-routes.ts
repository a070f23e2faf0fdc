import type { GuardedRoute } from "../../../http/routing/guarded-routes.ts";
import { createJsonResponse } from "../../../http/routing/json-response.ts";
import { readJsonBody } from "../../../http/routing/json-body.ts";
import type { AigoOutput } from "../../../wire/aigo/aigo-output.ts";
import { createInferenceEncoder, readInferenceNote } from "../../../wire/aigo/inference-output.ts";
import { rejectCredentials } from "../../../wire/aigo/reject-credentials.ts";
import { readChatRequest } from "../../../wire/chat-server/chat-request.ts";
import { submitPrompt } from "../prompt/submit-prompt.ts";
import { withTurnLimit } from "./turn-limit.ts";
import { followTurn } from "../turn/follow-turn.ts";
import { createInferencePromptRequest } from "../prompt/inference-prompt-request.ts";
import { createResponseHeaders } from "./request-headers.ts";
import type { SurfaceContext } from "../surface-context.ts";
import { createRequestContext } from "../prompt/request-context.ts";

/** `POST /inference`: one turn of an AI GO! evaluation, sent by its integration snippet. */
export function createInferenceRoutes(surface: SurfaceContext): GuardedRoute[] {
  return [
    {
      method: "POST",
      path: "/inference",
      handle(request, _labels, caller) {
        return withTurnLimit(surface, caller, async (endTurn) => {
          const body = readJsonBody(request);
          rejectCredentials(body);
          const chatRequest = readChatRequest(body);
          const context = createRequestContext(
            request,
            { body, parsed: chatRequest, caller },
            surface,
          );
          const submitted = await submitPrompt(createInferencePromptRequest(context), surface);
          const note = readInferenceNote(submitted.note);
          const reader = { caller, disconnectSignal: request.disconnectSignal, isDetached: false };
          const encoder = createInferenceEncoder(submitted, note);
          const outputs = await followTurn(submitted, encoder, { ...surface, ...reader });
          const output = await readLastOutput(outputs);
          endTurn();
          return createJsonResponse(200, output, createResponseHeaders(submitted, note.ignored));
        });
      },
    },
  ];
}

async function readLastOutput(outputs: AsyncIterable<readonly AigoOutput[]>): Promise<AigoOutput> {
  let last: AigoOutput | undefined;
  for await (const batch of outputs) last = batch.at(-1) ?? last;
  if (last === undefined) throw new Error("The turn has no output");
  return last;
}
