import type { TraceMode } from "../../../domain/responses-settings.ts";
import { normalizeHistory } from "../../../domain/model/normalize-history.ts";
import { encodeChatNote } from "../../../wire/chat-server/chat-note.ts";
import {
  resolveChatField,
  toChatPromptOptions,
  type ChatRequest,
} from "../../../wire/chat-server/chat-request.ts";
import {
  resolveChatSession,
  listNewResults,
  toStatelessRequest,
  resolveStatelessSession,
} from "../../../wire/chat-server/chat-session.ts";
import {
  toChatHistory,
  readChatTurn,
  toChatPromptParts,
  toChatToolResults,
  findLastAssistantMessage,
} from "../../../wire/chat-server/chat-turn.ts";
import { parseCallSession } from "../../../wire/responses/response-ids.ts";
import type { OpenToolCalls } from "../../../wire/responses/request/tool-results.ts";
import type {
  PromptRequest,
  ConversationStart,
  ConversationContinuation,
} from "./prompt-request.ts";
import type { RequestContext } from "./request-context.ts";

export interface ChatRequestContext extends RequestContext<ChatRequest> {
  readonly trace: TraceMode;
}

/** Converts a chat completion request to a prompt request. */
export function createChatPromptRequest({
  caller,
  trace,
  retry,
  header,
  ...context
}: ChatRequestContext): PromptRequest {
  const request = context.isStateless ? toStatelessRequest(context.request) : context.request;
  return {
    caller,
    agent: request.model ?? null,
    session: (context.isStateless ? resolveStatelessSession : resolveChatSession)(request, header),
    retry,
    submittedResults: {
      callIds: listNewResults(request).map(({ callId }) => callId),
      isAll: request.messages.at(-1)?.type === "result",
    },
    buildStart: () => createChatStart(request),
    buildContinuation: (sessionId, { pendingToolCallIds: toolCallIds, lastPrompt }) =>
      createChatContinuation(request, {
        sessionId,
        toolCallIds,
        ...(lastPrompt !== null && { seq: lastPrompt.seq }),
      }),
    buildOptions: (instructions) => toChatPromptOptions(request, instructions ?? undefined),
    resolveField: resolveChatField,
    buildNote: ({ agent }) =>
      encodeChatNote({
        model: request.model ?? agent,
        trace: trace === "none" ? "none" : "items",
        state: findLastAssistantMessage(request)?.state ?? {},
      }),
  };
}

export function createChatStart(request: ChatRequest): ConversationStart {
  const {
    userMessages,
    earlierMessages,
    instructions = null,
  } = readChatTurn(request, { findSession: readCallSession, isNew: true });
  return {
    content: toChatPromptParts(userMessages),
    history: normalizeHistory(toChatHistory(earlierMessages)),
    instructions,
  };
}

function createChatContinuation(
  request: ChatRequest,
  open: OpenToolCalls,
): ConversationContinuation {
  const turn = readChatTurn(request, { findSession: readCallSession, isNew: false });
  const hasResults = turn.results.length > 0 || open.toolCallIds.length > 0;
  return {
    content: toChatPromptParts(turn.userMessages),
    results: hasResults ? toChatToolResults(turn, open) : [],
    instructions: turn.instructions ?? null,
  };
}

function readCallSession(callId: string): string | undefined {
  return parseCallSession(callId) ?? undefined;
}
