import { isKeylessProgram } from "../../http/access.ts";
import { mayUseAgent, requireRight, type Caller } from "../../http/caller.ts";
import type { RateLimits } from "../../http/rate-limits.ts";
import { SpanlineError, type Failure } from "../../domain/errors.ts";
import type { OpenSession, Sessions } from "../../session/sessions.ts";

/** Sessions as somebody has them whose key is for some agents only, and whose requests are counted. */
export function callerSessions(
  sessions: Sessions,
  caller: Caller,
  rates: RateLimits | undefined,
): Sessions {
  const isOwn = ({ agent }: { readonly agent: string }): boolean => mayUseAgent(caller, agent);
  const agentFor = (named: string | undefined): string => {
    const agent = named ?? sessions.agents.find((one) => mayUseAgent(caller, one));
    if (agent === undefined || !isOwn({ agent })) throw noAgent();
    return agent;
  };
  const allowed = (wanted: OpenSession): OpenSession => {
    rates?.request(caller.id);
    return { ...wanted, agent: agentFor(wanted.agent) };
  };
  return {
    ...sessions,
    get agents() {
      return sessions.agents.filter((agent) => mayUseAgent(caller, agent));
    },
    ready: async (agent) => sessions.ready(agentFor(agent)),
    open: async (wanted) => sessions.open(allowed(wanted)),
    begin: async (wanted, first) => sessions.begin(allowed(wanted), first),
    async command(sessionId, command, from) {
      if (command.type === "prompt" || command.type === "configure") rates?.request(caller.id);
      // It knows the turns of its own prompts; any other may be the user's.
      if (command.type === "cancel" && command.turnId === undefined && isKeylessProgram(caller)) {
        return { status: "refused", failure: notItsTurn() };
      }
      return sessions.command(sessionId, command, from);
    },
    async find(sessionId) {
      const found = await sessions.find(sessionId);
      return found !== undefined && isOwn(found) ? found : undefined;
    },
    async list(query) {
      const page = await sessions.list(query);
      return { ...page, sessions: page.sessions.filter(isOwn) };
    },
    async delete(sessionId) {
      requireRight(caller, "control", "Deleting a session");
      return sessions.delete(sessionId);
    },
  };
}

function notItsTurn(): Failure {
  const message = "To end what others asked takes the token of the bridge";
  return new SpanlineError("access_denied", message).toFailure();
}

function noAgent(): SpanlineError {
  const message = "None of the agents here is among those that the key is for";
  return new SpanlineError("access_denied", message);
}
