import type { ModelMessage } from "../../../domain/model/model-request.ts";
import { ApiError } from "../../../http/routing/api-error.ts";
import { requireRight, type Caller } from "../../../http/access/caller.ts";
import type { GuardedRoute } from "../../../http/routing/guarded-routes.ts";
import { createJsonResponse } from "../../../http/routing/json-response.ts";
import { readJsonBody } from "../../../http/routing/json-body.ts";
import {
  encodeCompaction,
  toPackedConversation,
} from "../../../wire/responses/compaction-object.ts";
import { formatCallId } from "../../../wire/responses/response-ids.ts";
import { findCarriers, resolveSession } from "../../../wire/responses/request/session-carriers.ts";
import { readCompactRequest } from "../../../wire/responses/request/read-create-request.ts";
import { resolveAgent } from "../prompt/submit-prompt.ts";
import { findOwnedSession, type SessionRecord } from "../../log/owned-session.ts";
import { readLoggedResponse } from "../turn/logged-response.ts";
import * as refusals from "../request-errors.ts";
import { readSessionHeader } from "./request-headers.ts";
import { readSubmittedPrompt, isRetrievable } from "../turn/stored-response.ts";
import type { SurfaceContext } from "../surface-context.ts";

/** `POST /responses/compact`: packs the named conversation and the messages of the request into one item. */
export function createCompactRoute(surface: SurfaceContext): GuardedRoute {
  const { sessions, clock } = surface;
  return {
    method: "POST",
    path: "/responses/compact",
    async handle(request, _labels, caller) {
      requireRight(caller, "prompt", "Compacting a conversation");
      const compactRequest = readCompactRequest(readJsonBody(request));
      const agent = resolveAgent(compactRequest.model, caller, sessions);
      const header = readSessionHeader(request);
      const carriers = findCarriers(compactRequest, header === undefined ? {} : { header });
      // Item ids echoed in the input do not name a conversation here: the input itself is the conversation.
      const named = resolveSession(carriers.filter(({ isImplied }) => !isImplied));
      const earlier =
        named.type === "none"
          ? []
          : await readEarlierMessages(surface, { ...named, agent, caller });
      return createJsonResponse(
        200,
        encodeCompaction(toPackedConversation(compactRequest, earlier), clock.now()),
      );
    },
  };
}

interface NamedConversation {
  readonly sessionId: string;
  readonly param: string;
  /** Sequence number of the response at which the conversation ends. Default: the whole session. */
  readonly after?: number;
  readonly agent: string;
  readonly caller: Caller;
}

async function readEarlierMessages(
  { sessions }: SurfaceContext,
  { sessionId, param, after, agent, caller }: NamedConversation,
): Promise<readonly ModelMessage[]> {
  const record = await findOwnedSession(sessions, sessionId, caller);
  if (record === undefined)
    throw after === undefined
      ? refusals.createUnknownSessionError(sessionId, param)
      : refusals.createPreviousNotFoundError({ sessionId, seq: after });
  if (record.agent !== agent) throw refusals.createOtherAgentError(agent, record.agent);
  const through = await findConversationEnd(record, after, sessions);
  return sessions.readHistory(sessionId, through);
}

/** The last event of the conversation. Throws if the response is still in progress. */
async function findConversationEnd(
  record: SessionRecord,
  after: number | undefined,
  sessions: SurfaceContext["sessions"],
): Promise<number> {
  const { sessionId } = record;
  const status = await sessions.status(sessionId);
  const seq = after ?? status.lastPrompt?.seq;
  if (seq === undefined) return record.seq;
  const submitted = await readSubmittedPrompt(record, seq, sessions);
  if (submitted === undefined || (after !== undefined && !isRetrievable(submitted, status)))
    throw refusals.createPreviousNotFoundError({ sessionId, seq });
  const { envelopes, end } = await readLoggedResponse(submitted, sessions);
  if (end?.type === "turn.paused")
    throw refusals.createOpenCallsError(
      formatCallId(sessionId, end.toolCallIds[0] ?? ""),
      submitted,
    );
  if (end === undefined) throw createStillRunningError();
  return envelopes.at(-1)?.seq ?? seq;
}

function createStillRunningError(): ApiError {
  const message = "The response has not ended, so its conversation cannot be compacted";
  return new ApiError(409, "conflict", message, {
    param: "previous_response_id",
    reason: "response_in_progress",
    hint: "Retry when the response has ended",
    headers: { "retry-after": String(refusals.BUSY_SECONDS), "x-should-retry": "true" },
  });
}
