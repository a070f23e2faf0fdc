import type { Agent } from "./agent.ts";
import type { Effect } from "./due.ts";
import type { Happening } from "./input.ts";
import type { LiveAgent } from "./live-agent.ts";
import type { SessionState } from "./state.ts";
import { runOf } from "./tools/tools-state.ts";

export interface JudgedWork {
  readonly live: LiveAgent;
  readonly state: () => SessionState;
  readonly signal: AbortSignal;
  readonly send: (happening: Happening) => Promise<unknown>;
}

/**
 * The agent to do something with. A tool that changed since it was judged is neither run nor looked at: the change goes
 * into the log first, and what follows from it. So it is with a mode that changed since. Undefined where that is that nothing is done.
 */
export async function judgedAgent(effect: Effect, work: JudgedWork): Promise<Agent | undefined> {
  const { live, state, signal, send } = work;
  if (effect.type !== "tool" && effect.type !== "examine") return live.current;
  const { toolCallId } = effect;
  const starting =
    effect.type === "tool" ? { starting: { toolCallId, attempt: effect.attempt } } : {};
  while (!signal.aborted) {
    const agent = live.current;
    const { digest, facts } = agent;
    const { tools, mode } = state();
    const judged = effect.type === "tool" ? runOf(tools, toolCallId)?.judged : { ...effect, mode };
    if (digest === judged?.agent && mode === judged.mode) return agent;
    await send({ type: "agent-changed", agent: { digest, facts }, ...starting });
  }
  return undefined;
}
