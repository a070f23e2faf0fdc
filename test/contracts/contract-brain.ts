import type { Brain, BrainRequest } from "../../src/emulator/brains/brain.ts";
import { joinTexts, type Content } from "../../src/emulator/brains/session-message.ts";
import { parseScenario } from "../../src/emulator/brains/script/parse-scenario.ts";
import { createScriptBrain } from "../../src/emulator/brains/script/script-brain.ts";
import type { Step } from "../../src/emulator/brains/step.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { CONTRACT_SCENARIO, RECOUNT, TOOLS } from "./provider-contract.ts";

/** Plays the agent of the provider contract in an emulator. */
export function contractBrain(): Brain {
  const script = createScriptBrain(parseScenario("contract.yaml", CONTRACT_SCENARIO), systemClock);
  return {
    async respond(request) {
      const { messages, settings } = request;
      const prompt = joinTexts(messages.at(-1));
      if (prompt.endsWith(RECOUNT)) return saying(recount(request));
      if (prompt.endsWith(TOOLS)) return saying(settings.tools.map(({ name }) => name).join(" "));
      return script.respond(request);
    },
  };
}

function saying(text: string): { readonly type: "steps"; readonly steps: readonly Step[] } {
  return {
    type: "steps",
    steps: [
      { type: "start", role: "assistant" },
      { type: "text", text: `I know: ${text}` },
      { type: "stop", reason: "end_turn" },
    ],
  };
}

function recount({ messages }: BrainRequest): string {
  return messages
    .flatMap(({ role, content }) => content.map((block) => `${role} ${readText(block)}`))
    .join("\n");
}

function readText(block: Content): string {
  return "text" in block ? block.text : JSON.stringify(block);
}
