import type { Limits } from "../brains/brain.ts";
import type { Step } from "../brains/step.ts";
import { CHARACTERS_PER_TOKEN } from "../brains/tokens.ts";

export interface Limited {
  readonly steps: readonly Step[];
  /** Whether the turn ends here. */
  readonly over: boolean;
}

/** Lets steps through until a limit of the invocation is reached, then ends the message with the limit's reason. */
export function limiter(limits: Limits): (step: Step) => Limited {
  const total = characters(limits.maxTokens);
  const perCall = characters(limits.maxTokensPerCall);
  let iterations = 0;
  let saidInAll = 0;
  let saidInCall = 0;
  return (step) => {
    if (step.type === "start" && step.role === "assistant") {
      iterations += 1;
      saidInCall = 0;
      return iterations > limits.maxIterations
        ? { steps: [step, { type: "stop", reason: "max_iterations_exceeded" }], over: true }
        : { steps: [step], over: false };
    }
    const said = saidBy(step);
    const room = Math.min(total - saidInAll, perCall - saidInCall);
    saidInAll += said.length;
    saidInCall += said.length;
    if (said.length <= room) return { steps: [step], over: false };
    const reason = saidInCall > perCall ? "max_tokens" : "max_output_tokens_exceeded";
    const cut = room > 0 ? [cutTo(step, said.slice(0, room))] : [];
    return { steps: [...cut, { type: "stop", reason }], over: true };
  };
}

function characters(tokens: number | null): number {
  return tokens === null ? Infinity : tokens * CHARACTERS_PER_TOKEN;
}

function saidBy(step: Step): string {
  if (step.type === "text" || step.type === "reasoning") return step.text;
  return step.type === "input" ? step.fragment : "";
}

function cutTo(step: Step, said: string): Step {
  if (step.type === "text" || step.type === "reasoning") return { ...step, text: said };
  return { type: "input", fragment: said };
}
