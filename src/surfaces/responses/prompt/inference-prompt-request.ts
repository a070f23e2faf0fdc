import { omitUndefined } from "../../../data/omit-undefined.ts";
import { encodeInferenceNote } from "../../../wire/aigo/inference-output.ts";
import { rejectResults, listIneffectiveFields } from "../../../wire/aigo/model-input.ts";
import { resolveChatField, type ChatRequest } from "../../../wire/chat-server/chat-request.ts";
import {
  resolveChatSession,
  toStatelessRequest,
  resolveStatelessSession,
} from "../../../wire/chat-server/chat-session.ts";
import {
  readChatTurn,
  toChatPromptParts,
  findLastAssistantMessage,
} from "../../../wire/chat-server/chat-turn.ts";
import type { PromptRequest } from "./prompt-request.ts";
import { createChatStart } from "./chat-prompt-request.ts";
import type { RequestContext } from "./request-context.ts";

/** Converts a turn of AI GO! to a prompt request. The agent uses its own tools and limits, and the request's budget. */
export function createInferencePromptRequest({
  caller,
  retry,
  header,
  ...context
}: RequestContext<ChatRequest>): PromptRequest {
  const request = context.isStateless ? toStatelessRequest(context.request) : context.request;
  const answered = findLastAssistantMessage(request);
  return {
    caller,
    agent: request.model ?? null,
    session: (context.isStateless ? resolveStatelessSession : resolveChatSession)(request, header),
    // The agent runs all its tools, so an AI GO! turn never contains tool results.
    submittedResults: { callIds: [], isAll: false },
    // If the previous assistant message carries the id assigned here, the same messages behind it are the same request.
    // Without the id, a user may have sent the same text twice.
    retry: { ...retry, isRepeated: retry.isRepeated || answered?.id !== undefined },
    buildStart: () => createChatStart(request),
    buildContinuation() {
      const turn = readChatTurn(request, { isNew: false });
      rejectResults(turn);
      const { userMessages, instructions = null } = turn;
      return { content: toChatPromptParts(userMessages), results: [], instructions };
    },
    buildOptions: (instructions) =>
      omitUndefined({ instructions: instructions ?? undefined, budget: request.budget }),
    resolveField: resolveChatField,
    buildNote: () =>
      encodeInferenceNote({
        state: answered?.state ?? {},
        ignored: listIneffectiveFields(request),
      }),
  };
}
