import { canUseAgent, type Caller } from "../../../http/access/caller.ts";
import type { Sessions } from "../../../session/sessions.ts";
import { formatCallId } from "../../../wire/responses/response-ids.ts";
import type { PromptRequest, SessionReference } from "./prompt-request.ts";
import type { SessionRecord } from "./owned-session.ts";
import * as refusals from "../request-errors.ts";
import type { SurfaceContext } from "../surface-context.ts";

/** Whether a request goes to an agent that is told the whole conversation every time. */
export function isStatelessAgent(
  { sessions, settings }: Pick<SurfaceContext, "sessions" | "settings">,
  model: string | null,
  caller: Caller,
): boolean {
  const name = model ?? sessions.agents.find((agentName) => canUseAgent(caller, agentName));
  return name !== undefined && settings.statelessAgents.includes(name);
}

interface StatelessSession {
  readonly record: SessionRecord;
  readonly sessions: Sessions;
}

/**
 * A session of such an agent goes on in one case: its turn waits for results, and they come. Undefined where the request is
 * a conversation to be told; throws where it names the session for anything else.
 */
export async function findAnsweredSession(
  { agent, submittedResults: { callIds, isAll } }: PromptRequest,
  { param, isImplied }: SessionReference,
  { record, sessions }: StatelessSession,
): Promise<SessionRecord | undefined> {
  const isOtherAgent = agent !== null && agent !== record.agent;
  if (!isImplied) {
    if (isOtherAgent || callIds.length > 0) return record;
    throw refusals.createStatelessAgentError(record.agent, param);
  }
  if (isOtherAgent) return undefined;
  const { sessionId } = record;
  const { pendingToolCallIds } = await sessions.status(sessionId);
  const isOpen = pendingToolCallIds.some((id) => callIds.includes(formatCallId(sessionId, id)));
  // Where nothing else is said, they were sent before, or are of no use: the session knows.
  return isOpen || isAll ? record : undefined;
}
