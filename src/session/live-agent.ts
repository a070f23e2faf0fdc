import type { Agent, AgentPlace } from "./agent.ts";

/** An agent as one session has it: what it can do may change while the session goes on. */
export interface LiveAgent {
  readonly current: Agent;
  /** How long it should be kept for a session that nobody uses; as long as any session when absent. */
  readonly idleMs?: number;
  /** Told of every change, once somebody listens. */
  onChange(listener: (agent: Agent) => void): void;
  close(): Promise<void>;
}

export async function liveAgent(
  agent: Agent,
  place: AgentPlace,
  signal?: AbortSignal,
): Promise<LiveAgent> {
  let latest: Agent | undefined;
  let listener: ((now: Agent) => void) | undefined;
  const changed = (now: Agent): void => {
    latest = now;
    listener?.(now);
  };
  const opened = await agent.open?.({
    ...place,
    changed,
    ...(signal !== undefined && { signal }),
  });
  return {
    ...(opened?.idleMs !== undefined && { idleMs: opened.idleMs }),
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
