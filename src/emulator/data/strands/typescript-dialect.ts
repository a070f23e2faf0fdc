import {
  toolResultsOf,
  toolUsesOf,
  type Content,
  type Message,
  type ToolUse,
} from "../../brains/message.ts";
import type { FailStep, Step, UsageStep } from "../../brains/step.ts";
import { tokensIn } from "../../brains/tokens.ts";
import type { Dialect } from "../dialect.ts";
import { transcript } from "../transcript.ts";
import { SSE, type StrandsAgent } from "./agent.ts";

/** What an app sends that passes on every event of a Strands agent in TypeScript: no numbers of blocks, six copies of a message. */
export function typescriptDialect(agent: StrandsAgent): Dialect {
  const said = transcript();
  const writer = new TypescriptWriter(agent);
  let inResults = false;
  let unsent: Message | null = null;

  const flush = (usage: UsageStep | null): Uint8Array[] => {
    const message = unsent;
    unsent = null;
    return message === null ? [] : writer.spoken(message, usage, said.reason ?? "end_turn");
  };

  return {
    contentType: SSE,
    keepAlive: HEARTBEAT,
    step(step) {
      if (step.type === "bytes") return [step.bytes];
      const began = writer.begin();
      if (step.type === "fail") return [...began, ...writer.broken(step), typescriptFailure(step)];
      const before = step.type === "start" ? flush(null) : [];
      said.step(step);
      const last = step.type === "stop" ? (said.messages.at(-1) ?? null) : null;
      if (step.type === "start") inResults = step.role === "user";
      if (inResults) {
        if (last !== null) inResults = false;
        return [...began, ...before, ...(last === null ? [] : writer.results(last))];
      }
      const lines = writer.step(step);
      unsent = last ?? unsent;
      return [...began, ...before, ...lines, ...(step.type === "usage" ? flush(step) : [])];
    },
    finish: () => [...writer.begin(), ...flush(null), ...writer.end()],
    fail: typescriptFailure,
  };
}

/** `@fastify/sse` sends a comment every 30 seconds. */
export const HEARTBEAT = {
  milliseconds: 30_000,
  frame: new TextEncoder().encode(": heartbeat\n\n"),
};

export function typescriptFailure({ message }: FailStep): Uint8Array {
  return encoder.encode(`event: error\ndata: ${JSON.stringify({ error: message })}\n\n`);
}

const encoder = new TextEncoder();

function line(value: object): Uint8Array {
  return encoder.encode(`data: ${JSON.stringify(value)}\n\n`);
}

function update(event: object): Uint8Array {
  return line({ type: "modelStreamUpdateEvent", event });
}

/** The events of one invocation, in their order. */
class TypescriptWriter {
  readonly #agent: StrandsAgent;
  readonly #content = transcript();
  #began = false;
  #block: Step["type"] | null = null;
  #last: { readonly message: object; readonly stopReason: string } | null = null;
  #asked: { readonly message: object; readonly calls: readonly ToolUse[] } | null = null;

  constructor(agent: StrandsAgent) {
    this.#agent = agent;
  }

  begin(): Uint8Array[] {
    if (this.#began) return [];
    this.#began = true;
    const newest = this.#agent.messages.at(-1);
    const added = newest === undefined ? [] : [line(this.#added(this.#message(newest, null)))];
    return [line({ type: "beforeInvocationEvent" }), ...added];
  }

  step(step: Step): Uint8Array[] {
    switch (step.type) {
      case "start":
        this.#content.step(step);
        return [
          line({ type: "beforeModelCallEvent", projectedInputTokens: this.#projected() }),
          update({ type: "modelMessageStartEvent", role: step.role }),
        ];
      case "text":
        return this.#delta(step, { type: "textDelta", text: step.text });
      case "reasoning":
        return this.#delta(step, { type: "reasoningContentDelta", text: step.text });
      case "signature":
        return this.#delta(step, { type: "reasoningContentDelta", signature: step.signature });
      case "redacted": {
        const bytes = Buffer.from(step.base64, "base64");
        const redactedContent = Object.fromEntries(bytes.entries());
        return this.#delta(step, { type: "reasoningContentDelta", redactedContent });
      }
      case "call":
        return this.#open(step, {
          type: "toolUseStart",
          toolUseId: step.id,
          name: step.name,
        });
      case "input":
        return this.#delta(step, { type: "toolUseInputDelta", input: step.fragment });
      case "close":
        return this.#close();
      case "stop": {
        const event = { type: "modelMessageStopEvent", stopReason: camelCase(step.reason) };
        return [...this.#close(), update(event)];
      }
      case "usage":
        return [update({ type: "modelMetadataEvent", ...metadata(step) })];
      case "event":
        return [line({ type: step.name, ...(step.payload as object) })];
      case "result":
      case "output":
      case "output-metadata":
      case "hook":
      case "pause":
      case "bytes":
      case "fail":
        return [];
      default:
        return step satisfies never;
    }
  }

  /** A whole message, in all the events that repeat it. */
  spoken(said: Message, usage: UsageStep | null, reason: string): Uint8Array[] {
    const message = this.#message(said, usage);
    const stopReason = camelCase(reason);
    this.#last = { message, stopReason };
    const calls = toolUsesOf(said);
    const events = [
      { type: "modelMessageEvent", message, stopReason },
      { type: "afterModelCallEvent", attemptCount: 1, stopData: { message, stopReason } },
    ];
    if (calls.length === 0) return [...events, this.#added(message)].map(line);
    this.#asked = { message, calls };
    const befores = calls.map((call) => ({ type: "beforeToolCallEvent", toolUse: untyped(call) }));
    return [...events, { type: "beforeToolsEvent", message }, ...befores].map(line);
  }

  results(said: Message): Uint8Array[] {
    const message = this.#message(said, null);
    const results = toolResultsOf(said).flatMap((toolResult) => {
      const result = typescriptContent({ toolResult });
      const call = this.#asked?.calls.find(({ toolUseId }) => toolUseId === toolResult.toolUseId);
      const toolUse = call === undefined ? {} : { toolUse: untyped(call) };
      return [
        { type: "afterToolCallEvent", ...toolUse, result },
        { type: "toolResultEvent", result },
      ];
    });
    const asked = this.#asked === null ? [] : [this.#added(this.#asked.message)];
    const events = [{ type: "afterToolsEvent", message }, ...asked, this.#added(message)];
    return [...results, ...events].map(line);
  }

  broken({ message }: FailStep): Uint8Array[] {
    const failed = { type: "afterModelCallEvent", attemptCount: 1, error: { message } };
    return [line(failed), line({ type: "afterInvocationEvent" })];
  }

  end(): Uint8Array[] {
    const after = line({ type: "afterInvocationEvent" });
    if (this.#last === null) return [after];
    const { message: lastMessage, stopReason } = this.#last;
    const result = { type: "agentResult", stopReason, lastMessage };
    return [after, line({ type: "agentResultEvent", result })];
  }

  #open(step: Step, start?: object): Uint8Array[] {
    const closed = this.#close();
    this.#block = kindOf(step);
    this.#content.step({ type: "start", role: "assistant" });
    this.#content.step(step);
    const event = {
      type: "modelContentBlockStartEvent",
      ...(start === undefined ? {} : { start }),
    };
    return [...closed, update(event)];
  }

  #delta(step: Step, delta: object): Uint8Array[] {
    const isOpen = this.#block === kindOf(step);
    const opened = isOpen ? [] : this.#open(step);
    if (isOpen) this.#content.step(step);
    return [...opened, update({ type: "modelContentBlockDeltaEvent", delta })];
  }

  #close(): Uint8Array[] {
    if (this.#block === null) return [];
    this.#block = null;
    this.#content.step({ type: "stop", reason: "" });
    const [block] = this.#content.messages.at(-1)?.content ?? [];
    const stop = update({ type: "modelContentBlockStopEvent" });
    if (block === undefined) return [stop];
    return [stop, line({ type: "contentBlockEvent", contentBlock: typescriptContent(block) })];
  }

  #added(message: object): object {
    return { type: "messageAddedEvent", message };
  }

  #message({ role, content }: Message, usage: UsageStep | null): object {
    return {
      role,
      content: content.map(typescriptContent),
      trackingId: this.#agent.random.uuid(),
      ...(usage === null ? {} : { metadata: metadata(usage) }),
    };
  }

  #projected(): number {
    return tokensIn(JSON.stringify(this.#agent.messages));
  }
}

function kindOf({ type }: Step): Step["type"] {
  if (type === "input") return "call";
  return type === "signature" || type === "redacted" ? "reasoning" : type;
}

function typescriptContent(block: Content): object {
  if ("toolUse" in block) return { toolUse: untyped(block.toolUse) };
  if ("toolResult" in block) {
    const { toolUseId, status = "success", content } = block.toolResult;
    return { toolResult: { toolUseId, status, content } };
  }
  if ("text" in block) return { text: block.text };
  const { reasoningContent } = block;
  return {
    reasoning:
      "redactedContent" in reasoningContent ? reasoningContent : reasoningContent.reasoningText,
  };
}

function untyped({ name, toolUseId, input }: ToolUse): object {
  return { name, toolUseId, input };
}

function metadata({ inputTokens, outputTokens, latencyMilliseconds }: UsageStep): object {
  const totalTokens = inputTokens + outputTokens;
  return {
    usage: { inputTokens, outputTokens, totalTokens },
    metrics: { latencyMs: latencyMilliseconds },
  };
}

function camelCase(reason: string): string {
  return reason.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
