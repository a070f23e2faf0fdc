import { inferenceNote } from "../../wire/aigo/inference-output.ts";
import { refuseResults, withoutEffect } from "../../wire/aigo/model-input.ts";
import { chatFieldOf, type ChatRequest } from "../../wire/chat-server/chat-request.ts";
import {
  chatSession,
  statelessRequest,
  statelessSession,
} from "../../wire/chat-server/chat-session.ts";
import { chatTurn, givenParts, lastAnswer } from "../../wire/chat-server/chat-turn.ts";
import type { Ask } from "./ask.ts";
import { chatBeginning } from "./chat-ask.ts";
import type { Wish } from "./wish.ts";

/** A turn of AI GO!'s, as what it wants of a session. The agent has its own tools and limits. */
export function inferenceAsk({ caller, retry, header, ...wish }: Wish<ChatRequest>): Ask {
  const request = wish.isStateless ? statelessRequest(wish.request) : wish.request;
  const answered = lastAnswer(request);
  return {
    caller,
    agent: request.model ?? null,
    session: (wish.isStateless ? statelessSession : chatSession)(request, header),
    // Its agent runs all tools itself.
    answered: { callIds: [], isAll: false },
    // The message that is answered came back with the id that it was given here: the same words behind it are the same
    // request. Without it, somebody may well say the same thing twice.
    retry: { ...retry, isRepeated: retry.isRepeated || answered?.id !== undefined },
    begin: () => chatBeginning(request),
    goOn() {
      const turn = chatTurn(request, { isNew: false });
      refuseResults(turn);
      const { said, instructions = null } = turn;
      return { content: givenParts(said), results: [], instructions };
    },
    options: (instructions) => (instructions === null ? {} : { instructions }),
    fieldOf: chatFieldOf,
    note: () => inferenceNote({ state: answered?.state ?? {}, ignored: withoutEffect(request) }),
  };
}
