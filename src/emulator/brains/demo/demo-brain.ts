import { jsonText } from "../../../domain/json.ts";
import type { Brain, BrainRequest } from "../brain.ts";
import { pieces } from "../pieces.ts";
import { seededRandom } from "../random.ts";
import type { Step } from "../step.ts";
import { tokensIn } from "../tokens.ts";
import { chooseTool } from "./choose-tool.ts";
import { fillArguments } from "./fill-arguments.ts";
import { heard } from "./heard.ts";
import { recall } from "./recall.ts";
import { reportResults } from "./report-results.ts";
import { smallTalk, sumIn } from "./small-talk.ts";

export interface DemoOptions {
  /** Between two words; long enough to be seen. */
  readonly delayMilliseconds?: number;
}

/** A small agent with no model behind it: it chats, remembers, calls the tools that it is offered and reports what they gave. */
export function demoBrain({ delayMilliseconds = 15 }: DemoOptions = {}): Brain {
  return {
    answer: async (request) => ({ type: "steps", steps: demoSteps(request, delayMilliseconds) }),
  };
}

function* demoSteps(request: BrainRequest, delay: number): Generator<Step> {
  const { messages, settings } = request;
  const prompt = heard(messages.at(-1));
  const known = reportResults(messages) ?? recall(messages) ?? sumIn(prompt);
  const tool = known === null ? chooseTool(settings, prompt) : null;
  const said =
    tool === null ? (known ?? smallTalk(prompt, settings)) : `Let me use ${tool.name} for that.`;
  yield { type: "start", role: "assistant" };
  for (const text of spoken(said)) {
    yield { type: "pause", milliseconds: delay };
    yield { type: "text", text };
  }
  const input = tool === null ? "" : jsonText(fillArguments(tool.inputSchema, prompt));
  if (tool !== null) {
    const random = seededRandom("demo", request.turn, messages.length, prompt.text);
    const id = `tooluse_${random.letters(22)}`;
    yield { type: "call", id, name: tool.name, kind: "tool_use" };
    for (const fragment of pieces(input, () => 16)) yield { type: "input", fragment };
  }
  yield { type: "stop", reason: tool === null ? "end_turn" : "tool_use" };
  yield usage(request, said + input);
}

/** Word by word, each with the space behind it. */
function spoken(text: string): string[] {
  return text.match(/\S+\s*/g) ?? [];
}

function usage({ messages, settings }: BrainRequest, said: string): Step {
  const heard = jsonText(messages) + settings.systemPrompt.join("") + jsonText(settings.tools);
  const outputTokens = tokensIn(said);
  return {
    type: "usage",
    inputTokens: tokensIn(heard),
    outputTokens,
    latencyMilliseconds: 10 * outputTokens,
  };
}
