import { canUseAgent, type Caller } from "../../../http/access/caller.ts";
import type { Sessions } from "../../../session/sessions.ts";
import { formatCallId } from "../../../wire/responses/response-ids.ts";
import type { PromptRequest, SessionReference } from "./prompt-request.ts";
import type { SessionRecord } from "../../log/owned-session.ts";
import * as refusals from "../request-errors.ts";
import type { SurfaceContext } from "../surface-context.ts";

/** Whether a request goes to a stateless agent, which receives the whole conversation with every request. */
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
 * A stateless agent's session continues in one case only: its turn waits for tool results and the request contains
 * them. Returns undefined if the request is a whole conversation for a new session. Throws if the request names the
 * session for any other purpose.
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
  // Without other input, the results are a retry or match no open call. The session decides which.
  return isOpen || isAll ? record : undefined;
}
