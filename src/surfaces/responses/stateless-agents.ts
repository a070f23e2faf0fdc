import { mayUseAgent, type Caller } from "../../http/caller.ts";
import type { Sessions } from "../../session/sessions.ts";
import { callIdOf } from "../../wire/responses/ids.ts";
import type { Ask, NamedSession } from "./ask.ts";
import type { SessionRecord } from "./owned-session.ts";
import * as refusals from "./refusals.ts";
import type { Surface } from "./surface.ts";

/** Whether a request goes to an agent that is told the whole conversation every time. */
export function isStateless(
  { sessions, settings }: Pick<Surface, "sessions" | "settings">,
  model: string | null,
  caller: Caller,
): boolean {
  const name = model ?? sessions.agents.find((one) => mayUseAgent(caller, one));
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
export async function answeredSession(
  { agent, answered: { callIds, isAll } }: Ask,
  { param, isImplied }: NamedSession,
  { record, sessions }: StatelessSession,
): Promise<SessionRecord | undefined> {
  const isOthers = agent !== null && agent !== record.agent;
  if (!isImplied) {
    if (isOthers || callIds.length > 0) return record;
    throw refusals.statelessAgent(record.agent, param);
  }
  if (isOthers) return undefined;
  const { sessionId } = record;
  const { pausedFor } = await sessions.peek(sessionId);
  const isOpen = pausedFor.some((id) => callIds.includes(callIdOf(sessionId, id)));
  // Where nothing else is said, they were sent before, or are of no use: the session knows.
  return isOpen || isAll ? record : undefined;
}
