import { isKeylessCaller } from "../../../http/access/access.ts";
import { canUseAgent, requireRight, type Caller } from "../../../http/access/caller.ts";
import type { RateLimits } from "../../../http/access/rate-limits.ts";
import { SpanlineError, type Failure } from "../../../domain/errors.ts";
import { passMethods } from "../../../session/session-methods.ts";
import type { OpenOptions, Sessions } from "../../../session/sessions.ts";

/** The sessions seen by a caller: restricted to the agents of the caller's key, with rate limits on requests. */
export function createCallerSessions(
  sessions: Sessions,
  caller: Caller,
  rates: RateLimits | undefined,
): Sessions {
  const isUsable = ({ agent }: { readonly agent: string }): boolean => canUseAgent(caller, agent);
  const resolveAgent = (named: string | undefined): string => {
    const agent = named ?? sessions.agents.find((agentName) => canUseAgent(caller, agentName));
    if (agent === undefined || !isUsable({ agent })) throw createNoAgentError();
    return agent;
  };
  const checkOpen = (openSession: OpenOptions): OpenOptions => {
    rates?.countRequest(caller.id);
    return { ...openSession, agent: resolveAgent(openSession.agent) };
  };
  return {
    ...passMethods(sessions, UNRESTRICTED_METHODS),
    get agents() {
      return sessions.agents.filter((agent) => canUseAgent(caller, agent));
    },
    checkCredentials: async (agent) => sessions.checkCredentials(resolveAgent(agent)),
    open: async (openSession) => sessions.open(checkOpen(openSession)),
    openWithPrompt: async (openSession, first) =>
      sessions.openWithPrompt(checkOpen(openSession), first),
    async command(sessionId, command, from) {
      if (command.type === "prompt" || command.type === "set-mode") rates?.countRequest(caller.id);
      // A caller without a key may cancel only the turns of its prompts; any other turn may belong to the user.
      if (command.type === "cancel" && command.turnId === undefined && isKeylessCaller(caller)) {
        return { status: "refused", failure: createNotOwnTurnFailure() };
      }
      return sessions.command(sessionId, command, from);
    },
    async find(sessionId) {
      const found = await sessions.find(sessionId);
      return found !== undefined && isUsable(found) ? found : undefined;
    },
    async list(query) {
      const page = await sessions.list(query);
      return { ...page, sessions: page.sessions.filter(isUsable) };
    },
    async *watchSessions(signal) {
      for await (const changes of sessions.watchSessions(signal))
        yield { ...changes, changed: changes.changed.filter(isUsable) };
    },
    async delete(sessionId) {
      requireRight(caller, "control", "Deleting a session");
      return sessions.delete(sessionId);
    },
  };
}

const UNRESTRICTED_METHODS = [
  "setClientTools",
  "subscribe",
  "status",
  "readUsage",
  "readHistory",
  "listToolRules",
  "readBlob",
  "readRecord",
  "putRecord",
  "deleteRecord",
  "listRecords",
  "checkLog",
] as const;

function createNotOwnTurnFailure(): Failure {
  const message = "Cancelling the turn of another client requires the token of the bridge";
  return new SpanlineError("access_denied", message).toFailure();
}

function createNoAgentError(): SpanlineError {
  const message = "The key does not allow any agent of this bridge";
  return new SpanlineError("access_denied", message);
}
