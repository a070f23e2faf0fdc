import type { TraceMode } from "../../../domain/responses-settings.ts";
import type { SessionStatus } from "../../../session/sessions.ts";
import {
  findCarriers,
  resolveSession,
  findStatelessCarriers,
} from "../../../wire/responses/request/session-carriers.ts";
import type { CreateRequest } from "../../../wire/responses/request/create-request.ts";
import { toToolResults, listOpenCallIds } from "../../../wire/responses/request/tool-results.ts";
import {
  readOpening,
  readContinuation,
  findNewResults,
} from "../../../wire/responses/request/new-input.ts";
import {
  resolveRequestField,
  toPromptParts,
  toPromptOptions,
} from "../../../wire/responses/request/prompt-parts.ts";
import { encodeNote, recordRequest } from "../../../wire/responses/recorded-request.ts";
import type {
  PromptRequest,
  ConversationContinuation,
  SessionReference,
} from "./prompt-request.ts";
import type { RequestContext } from "./request-context.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

export interface ResponseRequestContext extends RequestContext<CreateRequest> {
  readonly trace: TraceMode;
  /** Whether the caller's connection remembers the response from which the request continues. Default: false. */
  readonly isConnectionLocal?: boolean;
}

/** Converts an Open Responses request to a prompt request. */
export function createResponsePromptRequest(context: ResponseRequestContext): PromptRequest {
  const { request, caller, trace, retry, header, isConnectionLocal = false } = context;
  const read = context.isStateless ? findStatelessCarriers : findCarriers;
  const carriers = read(request, header === undefined ? {} : { header });
  return {
    caller,
    agent: request.model,
    session: toSessionReference(resolveSession(carriers), isConnectionLocal),
    retry,
    submittedResults: {
      callIds: findNewResults(request.input).map(({ callId }) => callId),
      isAll: request.input.at(-1)?.kind === "result",
    },
    buildStart() {
      const { content, ...begun } = readOpening(request);
      return { ...begun, content: toPromptParts(content) };
    },
    buildContinuation: (sessionId, status) => createContinuation(request, sessionId, status),
    buildOptions: (instructions, agentTools) =>
      toPromptOptions(request, { instructions, agentTools }),
    resolveField: resolveRequestField,
    buildNote: ({ agent, ...details }) =>
      encodeNote(recordRequest(request, { model: request.model ?? agent, trace, ...details })),
  };
}

function toSessionReference(
  resolved: ReturnType<typeof resolveSession>,
  isConnectionLocal: boolean,
): SessionReference | null {
  if (resolved.type === "none") return null;
  const { sessionId, param, after, isImplied } = resolved;
  return { sessionId, param, isImplied, isConnectionLocal, ...omitUndefined({ after }) };
}

function createContinuation(
  request: CreateRequest,
  sessionId: string,
  status: SessionStatus,
): ConversationContinuation {
  const toolCallIds = status.pendingToolCallIds;
  const open = { sessionId, toolCallIds };
  const { content, results, ...otherFields } = readContinuation(request, listOpenCallIds(open));
  return {
    ...otherFields,
    content: toPromptParts(content),
    results: results.length === 0 ? [] : toToolResults(results, open),
  };
}
