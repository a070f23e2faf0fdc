import type { ModelMessage } from "../../domain/model-request.ts";
import { ApiError } from "../../http/api-error.ts";
import type { Caller } from "../../http/caller.ts";
import type { GuardedRoute } from "../../http/guarded-routes.ts";
import { jsonAnswer } from "../../http/json-answer.ts";
import { jsonBodyOf } from "../../http/json-body.ts";
import { compactionObject, conversationIn } from "../../wire/responses/compaction-object.ts";
import { callIdOf } from "../../wire/responses/ids.ts";
import { carriersOf, resolveSession } from "../../wire/responses/request/carriers.ts";
import { readCompactRequest } from "../../wire/responses/request/read-create-request.ts";
import { agentFor } from "./ask-session.ts";
import { ownedSession, type SessionRecord } from "./owned-session.ts";
import { answerIn } from "./read-log.ts";
import * as refusals from "./refusals.ts";
import { sessionHeaderOf } from "./request-headers.ts";
import { askedAt, isFound } from "./stored-response.ts";
import type { Surface } from "./surface.ts";

/** `POST /responses/compact`: the conversation that a request names, and the messages that it brings, as one item. */
export function compactRoute(surface: Surface): GuardedRoute {
  const { sessions, clock } = surface;
  return {
    method: "POST",
    path: "/responses/compact",
    async handle(request, _labels, caller) {
      const wanted = readCompactRequest(jsonBodyOf(request));
      const agent = agentFor(wanted.model, caller, sessions);
      const header = sessionHeaderOf(request);
      const carriers = carriersOf(wanted, header === undefined ? {} : { header });
      // Ids of items that came back with the input name no conversation: the input is the conversation.
      const named = resolveSession(carriers.filter(({ isImplied }) => !isImplied));
      const earlier =
        named.found === "none" ? [] : await earlierMessages(surface, { ...named, agent, caller });
      return jsonAnswer(200, compactionObject(conversationIn(wanted, earlier), clock.now()));
    },
  };
}

interface Named {
  readonly sessionId: string;
  readonly param: string;
  /** Where the response begins that the conversation ends with. Absent for the whole session. */
  readonly after?: number;
  readonly agent: string;
  readonly caller: Caller;
}

async function earlierMessages(
  { sessions }: Surface,
  { sessionId, param, after, agent, caller }: Named,
): Promise<readonly ModelMessage[]> {
  const record = await ownedSession(sessions, sessionId, caller);
  if (record === undefined)
    throw after === undefined
      ? refusals.unknownSession(sessionId, param)
      : refusals.previousNotFound({ sessionId, seq: after });
  if (record.agent !== agent) throw refusals.otherAgent(agent, record.agent);
  const through = await endOfConversation(record, after, sessions);
  return sessions.history(sessionId, through);
}

/** The event that the conversation ends with. Throws if the agent has not finished its answer. */
async function endOfConversation(
  record: SessionRecord,
  after: number | undefined,
  sessions: Surface["sessions"],
): Promise<number> {
  const { sessionId } = record;
  const outlook = await sessions.peek(sessionId);
  const seq = after ?? outlook.asked?.seq;
  if (seq === undefined) return record.seq;
  const asked = await askedAt(record, seq, sessions);
  if (asked === undefined || (after !== undefined && !isFound(asked, outlook)))
    throw refusals.previousNotFound({ sessionId, seq });
  const { envelopes, end } = await answerIn(asked, sessions);
  if (end?.type === "turn.paused")
    throw refusals.openCallsLeft(callIdOf(sessionId, end.toolCallIds[0] ?? ""), asked);
  if (end === undefined) throw stillRunning();
  return envelopes.at(-1)?.seq ?? seq;
}

function stillRunning(): ApiError {
  const message = "The response has not ended, so its conversation cannot be compacted";
  return new ApiError(409, "conflict", message, {
    param: "previous_response_id",
    reason: "response_in_progress",
    hint: "Compact when it has ended",
    headers: { "retry-after": String(refusals.BUSY_SECONDS), "x-should-retry": "true" },
  });
}
