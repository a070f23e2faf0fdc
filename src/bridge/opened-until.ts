import type { Agent } from "../session/agent.ts";

/** The same agent, whose opening for a session ends with a signal: whoever wants to go does not wait for its servers. */
export function openedUntil(agent: Agent, signal: AbortSignal): Agent {
  const { open } = agent;
  if (open === undefined) return agent;
  return {
    ...agent,
    open: (place) => {
      const signals = [signal, ...(place.signal === undefined ? [] : [place.signal])];
      return open({ ...place, signal: AbortSignal.any(signals) });
    },
  };
}
