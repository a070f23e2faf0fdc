import { toJsonText } from "../../../data/json.ts";
import type { Brain, BrainRequest } from "../brain.ts";
import { splitText } from "../split-text.ts";
import { createSeededRandom } from "../seeded-random.ts";
import type { Step } from "../step.ts";
import { countTokens } from "../count-tokens.ts";
import { chooseTool } from "./choose-tool.ts";
import { fillArguments } from "./fill-arguments.ts";
import { readDemoPrompt } from "./demo-prompt.ts";
import { answerFromMemory } from "./answer-from-memory.ts";
import { reportResults } from "./report-results.ts";
import { createSmallTalk, answerSum } from "./small-talk.ts";

export interface DemoOptions {
  /** The delay between two words. Default: 15 ms, long enough to be visible. */
  readonly delayMilliseconds?: number;
}

/** A small agent without a model. It chats, remembers messages, calls the offered tools and reports their results. */
export function createDemoBrain({ delayMilliseconds = 15 }: DemoOptions = {}): Brain {
  return {
    respond: async (request) => ({
      type: "steps",
      steps: generateDemoSteps(request, delayMilliseconds),
    }),
  };
}

function* generateDemoSteps(request: BrainRequest, delay: number): Generator<Step> {
  const { messages, settings } = request;
  const prompt = readDemoPrompt(messages.at(-1));
  const directReply = reportResults(messages) ?? answerFromMemory(messages) ?? answerSum(prompt);
  const tool = directReply === null ? chooseTool(settings, prompt) : null;
  const replyText =
    tool === null
      ? (directReply ?? createSmallTalk(prompt, settings))
      : `Let me use ${tool.name} for that.`;
  yield { type: "start", role: "assistant" };
  for (const text of splitWords(replyText)) {
    yield { type: "pause", milliseconds: delay };
    yield { type: "text", text };
  }
  const input = tool === null ? "" : toJsonText(fillArguments(tool.inputSchema, prompt));
  if (tool !== null) {
    const random = createSeededRandom("demo", request.turn, messages.length, prompt.text);
    const id = `tooluse_${random.letters(22)}`;
    yield { type: "call", id, name: tool.name, kind: "tool_use" };
    for (const fragment of splitText(input, () => 16)) yield { type: "input", fragment };
  }
  yield { type: "stop", reason: tool === null ? "end_turn" : "tool_use" };
  yield estimateUsage(request, replyText + input);
}

/** Splits text into words, each with its trailing space. */
function splitWords(text: string): string[] {
  return text.match(/\S+\s*/g) ?? [];
}

function estimateUsage({ messages, settings }: BrainRequest, outputText: string): Step {
  const inputText =
    toJsonText(messages) + settings.systemPrompt.join("") + toJsonText(settings.tools);
  const outputTokens = countTokens(outputText);
  return {
    type: "usage",
    inputTokens: countTokens(inputText),
    outputTokens,
    latencyMilliseconds: 10 * outputTokens,
  };
}
