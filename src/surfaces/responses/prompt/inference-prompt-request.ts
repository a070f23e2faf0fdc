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

/** A turn of AI GO!'s, as what it wants of a session. The agent has its own tools and limits. */
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
    // Its agent runs all tools itself.
    submittedResults: { callIds: [], isAll: false },
    // The message that is answered came back with the id that it was given here: the same words behind it are the same
    // request. Without it, somebody may well say the same thing twice.
    retry: { ...retry, isRepeated: retry.isRepeated || answered?.id !== undefined },
    buildStart: () => createChatStart(request),
    buildContinuation() {
      const turn = readChatTurn(request, { isNew: false });
      rejectResults(turn);
      const { userMessages, instructions = null } = turn;
      return { content: toChatPromptParts(userMessages), results: [], instructions };
    },
    buildOptions: (instructions) => (instructions === null ? {} : { instructions }),
    resolveField: resolveChatField,
    buildNote: () =>
      encodeInferenceNote({
        state: answered?.state ?? {},
        ignored: listIneffectiveFields(request),
      }),
  };
}
