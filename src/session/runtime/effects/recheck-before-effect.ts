import type { Agent } from "../agent/agent.ts";
import type { Effect } from "../../due.ts";
import type { SessionInput } from "../../session-input.ts";
import type { LiveAgent } from "../agent/live-agent.ts";
import type { SessionState } from "../../session-state.ts";
import { findRun } from "../../tools/tools-state.ts";

export interface RecheckContext {
  readonly liveAgent: LiveAgent;
  readonly readState: () => SessionState;
  readonly signal: AbortSignal;
  readonly send: (happening: SessionInput) => Promise<unknown>;
}

/**
 * The agent to do something with. A tool that changed since it was judged is neither run nor looked at: the change goes
 * into the log first, and what follows from it. So it is with a mode that changed since. Undefined where that is that nothing is done.
 */
export async function recheckBeforeEffect(
  effect: Effect,
  context: RecheckContext,
): Promise<Agent | undefined> {
  const { liveAgent, readState, signal, send } = context;
  if (effect.type !== "run-tool" && effect.type !== "resolve-paths") return liveAgent.current;
  const { toolCallId } = effect;
  const starting =
    effect.type === "run-tool" ? { startingTool: { toolCallId, attempt: effect.attempt } } : {};
  while (!signal.aborted) {
    const agent = liveAgent.current;
    const { digest, spec } = agent;
    const { tools, mode } = readState();
    const evaluated =
      effect.type === "run-tool" ? findRun(tools, toolCallId)?.evaluation : { ...effect, mode };
    if (digest === evaluated?.agent && mode === evaluated.mode) return agent;
    await send({ type: "agent-changed", agent: { digest, spec }, ...starting });
  }
  return undefined;
}
