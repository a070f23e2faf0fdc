import type { TraceMode } from "../../domain/trace-mode.ts";
import { settledMessages } from "../../domain/settled-messages.ts";
import { chatNote } from "../../wire/chat-server/chat-note.ts";
import {
  chatFieldOf,
  chatPromptOptions,
  type ChatRequest,
} from "../../wire/chat-server/chat-request.ts";
import {
  chatSession,
  newResults,
  statelessRequest,
  statelessSession,
} from "../../wire/chat-server/chat-session.ts";
import {
  chatHistory,
  chatTurn,
  givenParts,
  givenResults,
  lastAnswer,
} from "../../wire/chat-server/chat-turn.ts";
import { sessionOfCall } from "../../wire/responses/ids.ts";
import type { OpenCalls } from "../../wire/responses/request/given-results.ts";
import type { Ask, Beginning, GoingOn } from "./ask.ts";
import type { Wish } from "./wish.ts";

export interface ChatWish extends Wish<ChatRequest> {
  readonly trace: TraceMode;
}

/** A request for a chat completion, as what it wants of a session. */
export function chatAsk({ caller, trace, retry, header, ...wish }: ChatWish): Ask {
  const request = wish.isStateless ? statelessRequest(wish.request) : wish.request;
  return {
    caller,
    agent: request.model ?? null,
    session: (wish.isStateless ? statelessSession : chatSession)(request, header),
    retry,
    answered: {
      callIds: newResults(request).map(({ callId }) => callId),
      isAll: request.messages.at(-1)?.type === "result",
    },
    begin: () => chatBeginning(request),
    goOn: (sessionId, { pausedFor: toolCallIds, asked }) =>
      chatGoingOn(request, { sessionId, toolCallIds, ...(asked !== null && { seq: asked.seq }) }),
    options: (instructions) => chatPromptOptions(request, instructions ?? undefined),
    fieldOf: chatFieldOf,
    note: ({ agent }) =>
      chatNote({
        model: request.model ?? agent,
        trace: trace === "none" ? "none" : "items",
        state: lastAnswer(request)?.state ?? {},
      }),
  };
}

export function chatBeginning(request: ChatRequest): Beginning {
  const { said, earlier, instructions = null } = chatTurn(request, { sessionOf, isNew: true });
  return {
    content: givenParts(said),
    history: settledMessages(chatHistory(earlier)),
    instructions,
  };
}

function chatGoingOn(request: ChatRequest, open: OpenCalls): GoingOn {
  const turn = chatTurn(request, { sessionOf, isNew: false });
  const hasResults = turn.results.length > 0 || open.toolCallIds.length > 0;
  return {
    content: givenParts(turn.said),
    results: hasResults ? givenResults(turn, open) : [],
    instructions: turn.instructions ?? null,
  };
}

function sessionOf(callId: string): string | undefined {
  return sessionOfCall(callId) ?? undefined;
}
