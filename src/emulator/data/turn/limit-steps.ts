import type { EmulatedLimits } from "../../brains/brain.ts";
import type { Step } from "../../brains/step.ts";
import { CHARACTERS_PER_TOKEN } from "../../brains/count-tokens.ts";

export interface LimitedSteps {
  readonly steps: readonly Step[];
  /** True if the turn ends here. */
  readonly isOver: boolean;
}

/** Passes steps until a limit of the invocation is reached, then ends the message with the reason of the limit. */
export function createStepLimiter(limits: EmulatedLimits): (step: Step) => LimitedSteps {
  const total = toCharacters(limits.maxTokens);
  const perCall = toCharacters(limits.maxTokensPerCall);
  let iterations = 0;
  let totalCharacters = 0;
  let callCharacters = 0;
  return (step) => {
    if (step.type === "start" && step.role === "assistant") {
      iterations += 1;
      callCharacters = 0;
      return iterations > limits.maxIterations
        ? { steps: [step, { type: "stop", reason: "max_iterations_exceeded" }], isOver: true }
        : { steps: [step], isOver: false };
    }
    const stepText = readStepText(step);
    const remaining = Math.min(total - totalCharacters, perCall - callCharacters);
    totalCharacters += stepText.length;
    callCharacters += stepText.length;
    if (stepText.length <= remaining) return { steps: [step], isOver: false };
    const reason = callCharacters > perCall ? "max_tokens" : "max_output_tokens_exceeded";
    const truncated = remaining > 0 ? [replaceStepText(step, stepText.slice(0, remaining))] : [];
    return { steps: [...truncated, { type: "stop", reason }], isOver: true };
  };
}

function toCharacters(tokens: number | null): number {
  return tokens === null ? Infinity : tokens * CHARACTERS_PER_TOKEN;
}

function readStepText(step: Step): string {
  if (step.type === "text" || step.type === "reasoning") return step.text;
  return step.type === "input" ? step.fragment : "";
}

function replaceStepText(step: Step, text: string): Step {
  if (step.type === "text" || step.type === "reasoning") return { ...step, text };
  return { type: "input", fragment: text };
}
