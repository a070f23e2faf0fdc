import { jsonText } from "../../../domain/json.ts";
import type { BrainRequest } from "../brain.ts";
import { pieces } from "../pieces.ts";
import type { Random } from "../random.ts";
import type { Step, UsageStep } from "../step.ts";
import { tokensIn } from "../tokens.ts";
import { picked } from "./picked-faults.ts";
import type { Item, Pace, Scenario, ScriptCall, ScriptUsage, ServerTool } from "./scenario.ts";

interface Stage {
  readonly scenario: Scenario;
  readonly request: BrainRequest;
  readonly random: Random;
}

/**
 * The steps of an answer. Messages open and close by themselves where the script leaves that out: at the first content, at
 * the end, and around the tools of the other side, whose results come as a message of the user's role.
 */
export function* scriptSteps(items: readonly Item[], stage: Stage): Generator<Step> {
  const message = new OpenMessage(stage, !items.some(({ type }) => isUsage(type)));
  for (const item of items) yield* itemSteps(item, stage, message);
  yield* message.end();
}

function isUsage(type: Item["type"]): boolean {
  return type === "usage" || type === "no-usage";
}

function* itemSteps(item: Item, stage: Stage, message: OpenMessage): Generator<Step> {
  const { random, scenario } = stage;
  const inPieces = (text: string, pace: Partial<Pace>): Iterable<Step | string> =>
    paced(text, { ...scenario.pace, ...pace }, random);
  switch (item.type) {
    case "text":
      yield* message.begin();
      for (const piece of inPieces(item.text, item.pace)) {
        yield typeof piece === "string" ? message.said({ type: "text", text: piece }) : piece;
      }
      return;
    case "reasoning":
      yield* message.begin();
      for (const piece of inPieces(item.text, item.pace)) {
        yield typeof piece === "string" ? message.said({ type: "reasoning", text: piece }) : piece;
      }
      if (item.signature !== null) yield { type: "signature", signature: item.signature };
      return;
    case "redacted":
      yield* message.begin();
      yield { type: "close" };
      yield { type: "redacted", base64: item.base64 };
      yield { type: "close" };
      return;
    case "call":
      yield* message.begin();
      yield* callSteps(item.call, { stage, message });
      return;
    case "servers":
      yield* serverSteps(item.tools, stage, message);
      return;
    case "hook": {
      const { point, name, decision, reason } = item;
      yield {
        type: "hook",
        id: random.uuid(),
        name,
        point,
        ...(decision === null ? {} : { decision }),
        ...(reason === null ? {} : { reason }),
      };
      return;
    }
    case "pause":
      yield { type: "pause", milliseconds: picked(item.milliseconds, random) };
      return;
    case "usage":
      yield* message.cost(usageStep(item.usage));
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

/** The message at hand: when it begins, what it cost, why it stops. */
class OpenMessage {
  readonly #stage: Stage;
  readonly #countsUsage: boolean;
  #open: "no" | "user" | "assistant" = "no";
  #calls = 0;
  #said = "";
  #usage: UsageStep | null = null;

  constructor(stage: Stage, countsUsage: boolean) {
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

  said<One extends Step>(step: One): One {
    if (step.type === "text" || step.type === "reasoning") this.#said += step.text;
    if (step.type === "input") this.#said += step.fragment;
    if (step.type === "call") this.#calls += 1;
    return step;
  }

  /** Said behind the end of the message, which is where models say it. */
  *cost(usage: UsageStep): Generator<Step> {
    if (this.#open === "no") yield usage;
    else this.#usage = usage;
  }

  *end(reason: string = this.#calls > 0 ? "tool_use" : "end_turn"): Generator<Step> {
    if (this.#open === "no") return;
    const isModels = this.#open === "assistant";
    this.#open = "no";
    yield { type: "stop", reason };
    if (this.#usage !== null) yield this.#usage;
    this.#usage = null;
    if (isModels && this.#countsUsage) yield this.#estimate();
  }

  #estimate(): UsageStep {
    const { messages, settings } = this.#stage.request;
    const heard = tokensIn(jsonText(messages)) + tokensIn(settings.systemPrompt.join(""));
    const outputTokens = Math.max(1, tokensIn(this.#said));
    const latencyMilliseconds = 12 * outputTokens;
    return { type: "usage", inputTokens: heard, outputTokens, latencyMilliseconds };
  }

  abandon(): void {
    this.#open = "no";
  }
}

function usageStep({ input, output, cacheRead, cacheWrite, latency }: ScriptUsage): UsageStep {
  return {
    type: "usage",
    inputTokens: input,
    outputTokens: output,
    ...(cacheRead === null ? {} : { cacheReadTokens: cacheRead }),
    ...(cacheWrite === null ? {} : { cacheWriteTokens: cacheWrite }),
    latencyMilliseconds: latency,
  };
}

interface Call {
  readonly stage: Stage;
  readonly message: OpenMessage;
}

function* callSteps(call: ScriptCall, { stage, message }: Call): Generator<Step> {
  const { random, scenario } = stage;
  yield message.said({
    type: "call",
    id: call.id ?? newCallId(random),
    name: call.name,
    kind: call.kind,
    ...(call.serverName === null ? {} : { serverName: call.serverName }),
  });
  for (const piece of paced(call.input, scenario.pace, random)) {
    yield typeof piece === "string" ? message.said({ type: "input", fragment: piece }) : piece;
  }
  yield { type: "close" };
}

function newCallId(random: Random): string {
  return `tooluse_${random.letters(22)}`;
}

function* serverSteps(
  tools: readonly ServerTool[],
  stage: Stage,
  message: OpenMessage,
): Generator<Step> {
  const named = tools.map((tool) => ({
    ...tool,
    id: tool.call.id ?? newCallId(stage.random),
  }));
  yield* message.begin();
  for (const { call, id } of named) {
    yield* callSteps({ ...call, id }, { stage, message });
  }
  yield* message.end("tool_use");
  yield* message.begin("user");
  for (const { id, status, parts, metadata } of named) {
    yield { type: "result", id, status };
    if (parts.length > 0) yield { type: "output", parts };
    if (metadata !== null) yield { type: "output-metadata", fragment: metadata };
    yield { type: "close" };
  }
  yield* message.end("tool_result");
}

/** Text in pieces, with a wait before each where the pace has one. */
function* paced(text: string, { chunk, delay }: Pace, random: Random): Generator<Step | string> {
  for (const piece of pieces(text, () => picked(chunk, random))) {
    if (delay !== 0) yield { type: "pause", milliseconds: picked(delay, random) };
    yield piece;
  }
}
