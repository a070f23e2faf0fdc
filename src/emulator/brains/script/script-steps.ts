import { toJsonText } from "../../../data/json.ts";
import type { BrainRequest } from "../brain.ts";
import { splitText } from "../split-text.ts";
import type { SeededRandom } from "../seeded-random.ts";
import type { Step, UsageStep } from "../step.ts";
import { countTokens } from "../count-tokens.ts";
import { pickAmount } from "./pick-faults.ts";
import type {
  ScriptItem,
  Pace,
  Scenario,
  ScriptCall,
  ScriptUsage,
  ServerTool,
} from "./scenario.ts";

interface StepContext {
  readonly scenario: Scenario;
  readonly request: BrainRequest;
  readonly random: SeededRandom;
}

/**
 * Generates the steps of a response. Messages start and stop automatically if the script does not control them: at the
 * first content, at the end, and around server tools, whose results are a message with the role `user`.
 */
export function* generateScriptSteps(
  items: readonly ScriptItem[],
  stage: StepContext,
): Generator<Step> {
  const message = new OpenMessage(stage, !items.some(({ type }) => isUsage(type)));
  for (const item of items) yield* generateItemSteps(item, stage, message);
  yield* message.end();
}

function isUsage(type: ScriptItem["type"]): boolean {
  return type === "usage" || type === "no-usage";
}

function* generateItemSteps(
  item: ScriptItem,
  stage: StepContext,
  message: OpenMessage,
): Generator<Step> {
  switch (item.type) {
    case "text":
    case "reasoning":
      yield* generateTextSteps(item, stage, message);
      return;
    case "redacted":
      yield* message.begin();
      yield { type: "close" };
      yield { type: "redacted", base64: item.base64 };
      yield { type: "close" };
      return;
    case "call":
      yield* message.begin();
      yield* generateCallSteps(item.call, { stage, message });
      return;
    case "servers":
      yield* generateServerSteps(item.tools, stage, message);
      return;
    case "hook":
      yield toHookStep(item, stage.random.uuid());
      return;
    case "pause":
      yield { type: "pause", milliseconds: pickAmount(item.milliseconds, stage.random) };
      return;
    case "usage":
      yield* message.recordUsage(toUsageStep(item.usage));
      return;
    case "no-usage":
      return;
    case "start":
      yield* message.begin(item.role);
      return;
    case "close":
      yield { type: "close" };
      return;
    case "stop":
      yield* message.begin();
      yield* message.end(item.reason);
      return;
    case "event":
      yield { type: "event", name: item.name, payload: item.payload };
      return;
    case "bytes":
      yield { type: "bytes", bytes: item.bytes };
      return;
    case "fail":
      message.abandon();
      yield item.failure;
      return;
    default:
      item satisfies never;
  }
}

type ItemOfType<Type extends ScriptItem["type"]> = Extract<ScriptItem, { type: Type }>;

function* generateTextSteps(
  item: ItemOfType<"text" | "reasoning">,
  { scenario, random }: StepContext,
  message: OpenMessage,
): Generator<Step> {
  yield* message.begin();
  for (const piece of splitPaced(item.text, { ...scenario.pace, ...item.pace }, random)) {
    yield typeof piece === "string" ? message.record({ type: item.type, text: piece }) : piece;
  }
  if (item.type === "reasoning" && item.signature !== null) {
    yield { type: "signature", signature: item.signature };
  }
}

function toHookStep({ name, point, decision, reason }: ItemOfType<"hook">, id: string): Step {
  return {
    type: "hook",
    id,
    name,
    point,
    ...(decision === null ? {} : { decision }),
    ...(reason === null ? {} : { reason }),
  };
}

/** The current message: its start, its usage and its stop reason. */
class OpenMessage {
  readonly #stage: StepContext;
  readonly #countsUsage: boolean;
  #open: "no" | "user" | "assistant" = "no";
  #calls = 0;
  #said = "";
  #usage: UsageStep | null = null;

  constructor(stage: StepContext, countsUsage: boolean) {
    this.#stage = stage;
    this.#countsUsage = countsUsage;
  }

  *begin(role: "user" | "assistant" = "assistant"): Generator<Step> {
    if (this.#open !== "no") return;
    this.#open = role;
    this.#calls = 0;
    this.#said = "";
    yield { type: "start", role };
  }

  record<One extends Step>(step: One): One {
    if (step.type === "text" || step.type === "reasoning") this.#said += step.text;
    if (step.type === "input") this.#said += step.fragment;
    if (step.type === "call") this.#calls += 1;
    return step;
  }

  /** Usage is emitted after the end of the message, like real models do. */
  *recordUsage(usage: UsageStep): Generator<Step> {
    if (this.#open === "no") yield usage;
    else this.#usage = usage;
  }

  *end(reason: string = this.#calls > 0 ? "tool_use" : "end_turn"): Generator<Step> {
    if (this.#open === "no") return;
    const isAssistant = this.#open === "assistant";
    this.#open = "no";
    yield { type: "stop", reason };
    if (this.#usage !== null) yield this.#usage;
    this.#usage = null;
    if (isAssistant && this.#countsUsage) yield this.#estimate();
  }

  #estimate(): UsageStep {
    const { messages, settings } = this.#stage.request;
    const inputTokens =
      countTokens(toJsonText(messages)) + countTokens(settings.systemPrompt.join(""));
    const outputTokens = Math.max(1, countTokens(this.#said));
    const latencyMilliseconds = 12 * outputTokens;
    return { type: "usage", inputTokens, outputTokens, latencyMilliseconds };
  }

  abandon(): void {
    this.#open = "no";
  }
}

function toUsageStep({ input, output, cacheRead, cacheWrite, latency }: ScriptUsage): UsageStep {
  return {
    type: "usage",
    inputTokens: input,
    outputTokens: output,
    ...(cacheRead === null ? {} : { cacheReadTokens: cacheRead }),
    ...(cacheWrite === null ? {} : { cacheWriteTokens: cacheWrite }),
    latencyMilliseconds: latency,
  };
}

interface CallContext {
  readonly stage: StepContext;
  readonly message: OpenMessage;
}

function* generateCallSteps(call: ScriptCall, { stage, message }: CallContext): Generator<Step> {
  const { random, scenario } = stage;
  yield message.record({
    type: "call",
    id: call.id ?? createCallId(random),
    name: call.name,
    kind: call.kind,
    ...(call.serverName === null ? {} : { serverName: call.serverName }),
  });
  for (const piece of splitPaced(call.input, scenario.pace, random)) {
    yield typeof piece === "string" ? message.record({ type: "input", fragment: piece }) : piece;
  }
  yield { type: "close" };
}

function createCallId(random: SeededRandom): string {
  return `tooluse_${random.letters(22)}`;
}

function* generateServerSteps(
  tools: readonly ServerTool[],
  stage: StepContext,
  message: OpenMessage,
): Generator<Step> {
  const toolsWithIds = tools.map((tool) => ({
    ...tool,
    id: tool.call.id ?? createCallId(stage.random),
  }));
  yield* message.begin();
  for (const { call, id } of toolsWithIds) {
    yield* generateCallSteps({ ...call, id }, { stage, message });
  }
  yield* message.end("tool_use");
  yield* message.begin("user");
  for (const { id, status, parts, metadata } of toolsWithIds) {
    yield { type: "result", id, status };
    if (parts.length > 0) yield { type: "output", parts };
    if (metadata !== null) yield { type: "output-metadata", fragment: metadata };
    yield { type: "close" };
  }
  yield* message.end("tool_result");
}

/** Splits text into pieces, with a delay before each piece if the pace has a delay. */
function* splitPaced(
  text: string,
  { chunk, delay }: Pace,
  random: SeededRandom,
): Generator<Step | string> {
  for (const piece of splitText(text, () => pickAmount(chunk, random))) {
    if (delay !== 0) yield { type: "pause", milliseconds: pickAmount(delay, random) };
    yield piece;
  }
}
