import type { Agent, AgentPlace } from "./agent.ts";

/** An agent as one session has it: what it can do may change while the session goes on. */
export interface LiveAgent {
  readonly current: Agent;
  /** Told of every change, once somebody listens. */
  onChange(listener: (agent: Agent) => void): void;
  close(): Promise<void>;
}

export async function liveAgent(agent: Agent, place: AgentPlace): Promise<LiveAgent> {
  let latest: Agent | undefined;
  let listener: ((now: Agent) => void) | undefined;
  const changed = (now: Agent): void => {
    latest = now;
    listener?.(now);
  };
  const opened = await agent.open?.({ ...place, changed });
  return {
    get current() {
      // A change may be told of before all of it is open.
      return latest ?? opened?.agent ?? agent;
    },
    onChange(told) {
      listener = told;
    },
    async close() {
      listener = undefined;
      await opened?.close();
    },
  };
}
