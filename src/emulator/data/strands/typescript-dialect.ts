import {
  readToolResults,
  readToolUses,
  type Content,
  type Message,
  type ToolUse,
} from "../../brains/session-message.ts";
import type { FailStep, Step, UsageStep } from "../../brains/step.ts";
import { countTokens } from "../../brains/count-tokens.ts";
import type { Dialect } from "../turn/dialect.ts";
import { createTurnTranscript } from "../turn/turn-transcript.ts";
import { SSE_CONTENT_TYPE, type StrandsAgent } from "./strands-agent.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/**
 * The output of an app that passes on all events of a Strands agent in TypeScript: without block numbers, and with six
 * copies of each message.
 */
export function createTypescriptDialect(agent: StrandsAgent): Dialect {
  const turnTranscript = createTurnTranscript();
  const writer = new TypescriptWriter(agent);
  let inResults = false;
  let unsent: Message | null = null;

  const flush = (usage: UsageStep | null): Uint8Array[] => {
    const message = unsent;
    unsent = null;
    return message === null
      ? []
      : writer.writeAssistantMessage(message, usage, turnTranscript.reason ?? "end_turn");
  };

  return {
    contentType: SSE_CONTENT_TYPE,
    keepAlive: HEARTBEAT,
    step(step) {
      if (step.type === "bytes") return [step.bytes];
      const hasBegun = writer.begin();
      if (step.type === "fail")
        return [...hasBegun, ...writer.writeFailure(step), encodeTypescriptFailure(step)];
      const opening = step.type === "start" ? flush(null) : [];
      turnTranscript.step(step);
      const last = step.type === "stop" ? (turnTranscript.messages.at(-1) ?? null) : null;
      if (step.type === "start") inResults = step.role === "user";
      if (inResults) {
        if (last !== null) inResults = false;
        return [...hasBegun, ...opening, ...(last === null ? [] : writer.writeResults(last))];
      }
      const lines = writer.step(step);
      unsent = last ?? unsent;
      return [...hasBegun, ...opening, ...lines, ...(step.type === "usage" ? flush(step) : [])];
    },
    finish: () => [...writer.begin(), ...flush(null), ...writer.end()],
    fail: encodeTypescriptFailure,
  };
}

/** `@fastify/sse` sends a comment every 30 seconds. */
export const HEARTBEAT = {
  milliseconds: 30_000,
  frame: new TextEncoder().encode(": heartbeat\n\n"),
};

export function encodeTypescriptFailure({ message }: FailStep): Uint8Array {
  return encoder.encode(`event: error\ndata: ${JSON.stringify({ error: message })}\n\n`);
}

const encoder = new TextEncoder();

function encodeLine(value: object): Uint8Array {
  return encoder.encode(`data: ${JSON.stringify(value)}\n\n`);
}

function encodeUpdate(event: object): Uint8Array {
  return encodeLine({ type: "modelStreamUpdateEvent", event });
}

/** Writes the events of an invocation in order. */
class TypescriptWriter {
  readonly #agent: StrandsAgent;
  readonly #content = createTurnTranscript();
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
    const added =
      newest === undefined ? [] : [encodeLine(this.#added(this.#message(newest, null)))];
    return [encodeLine({ type: "beforeInvocationEvent" }), ...added];
  }

  step(step: Step): Uint8Array[] {
    switch (step.type) {
      case "start":
        this.#content.step(step);
        return [
          encodeLine({ type: "beforeModelCallEvent", projectedInputTokens: this.#projected() }),
          encodeUpdate({ type: "modelMessageStartEvent", role: step.role }),
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
        const event = { type: "modelMessageStopEvent", stopReason: toCamelCase(step.reason) };
        return [...this.#close(), encodeUpdate(event)];
      }
      case "usage":
        return [encodeUpdate({ type: "modelMetadataEvent", ...encodeMetadata(step) })];
      case "event":
        return [encodeLine({ type: step.name, ...(step.payload as object) })];
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

  /** Writes a complete message in all events that repeat it. */
  writeAssistantMessage(
    assistantMessage: Message,
    usage: UsageStep | null,
    reason: string,
  ): Uint8Array[] {
    const message = this.#message(assistantMessage, usage);
    const stopReason = toCamelCase(reason);
    this.#last = { message, stopReason };
    const calls = readToolUses(assistantMessage);
    const events = [
      { type: "modelMessageEvent", message, stopReason },
      { type: "afterModelCallEvent", attemptCount: 1, stopData: { message, stopReason } },
    ];
    if (calls.length === 0) return [...events, this.#added(message)].map(encodeLine);
    this.#asked = { message, calls };
    const befores = calls.map((call) => ({
      type: "beforeToolCallEvent",
      toolUse: dropToolUseType(call),
    }));
    return [...events, { type: "beforeToolsEvent", message }, ...befores].map(encodeLine);
  }

  writeResults(resultMessage: Message): Uint8Array[] {
    const message = this.#message(resultMessage, null);
    const results = readToolResults(resultMessage).flatMap((toolResult) => {
      const result = encodeTypescriptContent({ toolResult });
      const call = this.#asked?.calls.find(({ toolUseId }) => toolUseId === toolResult.toolUseId);
      const toolUse = call === undefined ? {} : { toolUse: dropToolUseType(call) };
      return [
        { type: "afterToolCallEvent", ...toolUse, result },
        { type: "toolResultEvent", result },
      ];
    });
    const modelMessages = this.#asked === null ? [] : [this.#added(this.#asked.message)];
    const events = [{ type: "afterToolsEvent", message }, ...modelMessages, this.#added(message)];
    return [...results, ...events].map(encodeLine);
  }

  writeFailure({ message }: FailStep): Uint8Array[] {
    const failed = { type: "afterModelCallEvent", attemptCount: 1, error: { message } };
    return [encodeLine(failed), encodeLine({ type: "afterInvocationEvent" })];
  }

  end(): Uint8Array[] {
    const after = encodeLine({ type: "afterInvocationEvent" });
    if (this.#last === null) return [after];
    const { message: lastMessage, stopReason } = this.#last;
    const result = { type: "agentResult", stopReason, lastMessage };
    return [after, encodeLine({ type: "agentResultEvent", result })];
  }

  #open(step: Step, start?: object): Uint8Array[] {
    const closed = this.#close();
    this.#block = readBlockKind(step);
    this.#content.step({ type: "start", role: "assistant" });
    this.#content.step(step);
    const event = {
      type: "modelContentBlockStartEvent",
      ...omitUndefined({ start }),
    };
    return [...closed, encodeUpdate(event)];
  }

  #delta(step: Step, delta: object): Uint8Array[] {
    const isOpen = this.#block === readBlockKind(step);
    const opened = isOpen ? [] : this.#open(step);
    if (isOpen) this.#content.step(step);
    return [...opened, encodeUpdate({ type: "modelContentBlockDeltaEvent", delta })];
  }

  #close(): Uint8Array[] {
    if (this.#block === null) return [];
    this.#block = null;
    this.#content.step({ type: "stop", reason: "" });
    const [block] = this.#content.messages.at(-1)?.content ?? [];
    const stop = encodeUpdate({ type: "modelContentBlockStopEvent" });
    if (block === undefined) return [stop];
    return [
      stop,
      encodeLine({ type: "contentBlockEvent", contentBlock: encodeTypescriptContent(block) }),
    ];
  }

  #added(message: object): object {
    return { type: "messageAddedEvent", message };
  }

  #message({ role, content }: Message, usage: UsageStep | null): object {
    return {
      role,
      content: content.map(encodeTypescriptContent),
      trackingId: this.#agent.random.uuid(),
      ...(usage === null ? {} : { metadata: encodeMetadata(usage) }),
    };
  }

  #projected(): number {
    return countTokens(JSON.stringify(this.#agent.messages));
  }
}

function readBlockKind({ type }: Step): Step["type"] {
  if (type === "input") return "call";
  return type === "signature" || type === "redacted" ? "reasoning" : type;
}

function encodeTypescriptContent(block: Content): object {
  if ("toolUse" in block) return { toolUse: dropToolUseType(block.toolUse) };
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

function dropToolUseType({ name, toolUseId, input }: ToolUse): object {
  return { name, toolUseId, input };
}

function encodeMetadata({ inputTokens, outputTokens, latencyMilliseconds }: UsageStep): object {
  const totalTokens = inputTokens + outputTokens;
  return {
    usage: { inputTokens, outputTokens, totalTokens },
    metrics: { latencyMs: latencyMilliseconds },
  };
}

function toCamelCase(reason: string): string {
  return reason.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
