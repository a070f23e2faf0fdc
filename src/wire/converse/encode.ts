import type { Codec, Emit } from "../../domain/codec.ts";
import type { Failure } from "../../domain/errors.ts";
import { isObject, jsonText } from "../../domain/json.ts";
import type {
  HookFired,
  ProviderEvent,
  ReasoningEnd,
  TextEnd,
  ToolEnd,
  ToolResulted,
  ToolStart,
  UsageReported,
} from "../../domain/provider-event.ts";
import type { Runner, ToolResultPart } from "../../domain/tool.ts";
import { isExceptionName } from "./schema.ts";
import { harnessReason } from "./stop-reasons.ts";

/** What one frame of a Converse stream carries: a member of the event union, or a modelled exception. */
export interface ConverseMember {
  readonly type: "event" | "exception";
  readonly name: string;
  readonly payload: object;
}

export interface ConverseEncoderOptions {
  /** Who runs a call: the stream says so at its start, an event only at its end. The client unless said. */
  readonly runnerOf?: (call: { readonly id: string; readonly name: string }) => CallRunner;
}

export interface CallRunner {
  readonly runBy: Runner;
  /** The server that offers the tool. */
  readonly server?: string;
}

export interface ConverseEncoderState {
  /** What is open, by the number of the block. */
  readonly blocks: Map<number, OpenBlock>;
  nextIndex: number;
  /** The message at hand has calls for the client. */
  calls: boolean;
}

interface OpenBlock {
  readonly index: number;
  /** Characters of it that have been sent. */
  sent: number;
}

/**
 * Writes events as the stream of a harness or of ConverseStream: folded again, they are the same events.
 *
 * Diagnostics, unknowns and activities are about a stream, not of it, and stay out; so does a replaced message, for which
 * this stream has no words. A model's own word for its reason becomes the one that this stream has for it.
 */
export function converseEncoder(
  options: ConverseEncoderOptions = {},
): Codec<ConverseEncoderState, ProviderEvent, ConverseMember> {
  const { runnerOf = () => ({ runBy: "client" }) } = options;
  return {
    initial: () => ({ blocks: new Map(), nextIndex: 0, calls: false }),
    step(state, event, emit) {
      encode(
        { state, runnerOf, send: (name, payload) => emit({ type: "event", name, payload }), emit },
        event,
      );
    },
    finish() {},
  };
}

interface Writer {
  readonly state: ConverseEncoderState;
  readonly runnerOf: NonNullable<ConverseEncoderOptions["runnerOf"]>;
  readonly emit: Emit<ConverseMember>;
  readonly send: (name: string, payload: object) => void;
}

function encode(writer: Writer, event: ProviderEvent): void {
  const { state } = writer;
  switch (event.type) {
    case "message.start":
      state.nextIndex = 0;
      state.calls = false;
      return writer.send("messageStart", { role: event.role });
    case "message.end":
      if (event.reason === null) return;
      return writer.send("messageStop", { stopReason: harnessReason(event.reason, state.calls) });
    case "text.delta":
    case "reasoning.delta":
    case "tool.delta":
      return extend(writer, event.block, event.text, DELTAS[event.type]);
    case "text.end":
      return close(writer, event, event.text, DELTAS["text.delta"]);
    case "reasoning.end":
      return endReasoning(writer, event);
    case "tool.start":
      return startCall(writer, event);
    case "tool.end":
      return close(writer, event, event.call.inputText, DELTAS["tool.delta"]);
    case "tool.result":
      return encodeResult(writer, event);
    case "usage":
      return encodeUsage(writer, event);
    case "hook":
      return encodeHook(writer, event);
    case "end":
      return event.failure === undefined ? undefined : encodeFailure(writer, event.failure);
    case "message.replaced":
    case "activity":
    case "diagnostic":
    case "unknown":
      return;
    default:
      event satisfies never;
  }
}

type DeltaOf = (text: string) => object;

const DELTAS = {
  "text.delta": (text: string) => ({ text }),
  "reasoning.delta": (text: string) => ({ reasoningContent: { text } }),
  "tool.delta": (input: string) => ({ toolUse: { input } }),
} as const;

function blockAt(state: ConverseEncoderState, number: number): OpenBlock {
  const known = state.blocks.get(number);
  if (known !== undefined) return known;
  const opened = { index: state.nextIndex++, sent: 0 };
  state.blocks.set(number, opened);
  return opened;
}

function extend(writer: Writer, number: number, text: string, deltaOf: DeltaOf): void {
  const block = blockAt(writer.state, number);
  block.sent += text.length;
  sendDelta(writer, number, deltaOf(text));
}

function sendDelta({ state, send }: Writer, number: number, delta: object): void {
  send("contentBlockDelta", { contentBlockIndex: blockAt(state, number).index, delta });
}

/** Sends what the deltas before did not: they may be dropped, since the end of a block has all of its text. */
function close(
  writer: Writer,
  event: TextEnd | ReasoningEnd | ToolEnd,
  text: string,
  deltaOf: DeltaOf,
): void {
  const { block: number, type } = event;
  const known = writer.state.blocks.get(number);
  const rest = text.slice(known?.sent ?? 0);
  // Even an empty block is one; a call has its start.
  if (rest !== "" || (known === undefined && type !== "tool.end")) {
    extend(writer, number, rest, deltaOf);
  }
  stop(writer, event);
}

function stop({ state, send }: Writer, { block, implicitStop }: BlockEnded): void {
  const { index } = blockAt(state, block);
  state.blocks.delete(block);
  if (implicitStop !== true) send("contentBlockStop", { contentBlockIndex: index });
}

type BlockEnded = Pick<TextEnd, "block" | "implicitStop">;

function endReasoning(writer: Writer, event: ReasoningEnd): void {
  const { block, text, signature, redacted } = event;
  if (redacted !== undefined) {
    sendDelta(writer, block, { reasoningContent: { redactedContent: redacted } });
    return stop(writer, event);
  }
  if (signature === undefined) return close(writer, event, text, DELTAS["reasoning.delta"]);
  const rest = text.slice(writer.state.blocks.get(block)?.sent ?? 0);
  if (rest !== "") extend(writer, block, rest, DELTAS["reasoning.delta"]);
  sendDelta(writer, block, { reasoningContent: { signature } });
  stop(writer, event);
}

function startCall(writer: Writer, { block, callId, name }: ToolStart): void {
  const { state, runnerOf } = writer;
  const { runBy, server } = runnerOf({ id: callId, name });
  state.calls ||= runBy === "client";
  const serverType = server === undefined ? "server_tool_use" : "mcp_tool_use";
  sendStart(writer, block, {
    toolUse: {
      toolUseId: callId,
      name,
      type: runBy === "client" ? "tool_use" : serverType,
      ...(server !== undefined && { serverName: server }),
    },
  });
}

function sendStart({ state, send }: Writer, number: number, start: object): void {
  send("contentBlockStart", { contentBlockIndex: blockAt(state, number).index, start });
}

function encodeResult(writer: Writer, event: ToolResulted): void {
  const { block, result } = event;
  const { callId, parts, isError, metadata } = result;
  const status = isError ? "error" : "success";
  sendStart(writer, block, { toolResult: { toolUseId: callId, status } });
  if (parts.length > 0) sendDelta(writer, block, { toolResult: parts.map(partOf) });
  if (metadata !== undefined) {
    sendDelta(writer, block, { toolResultMetadata: { metadata: jsonText(metadata) } });
  }
  stop(writer, event);
}

function partOf(part: ToolResultPart): unknown {
  switch (part.type) {
    case "text":
      return { text: part.text };
    case "json":
      return { json: part.value };
    case "unknown":
      return part.raw;
    default:
      return part satisfies never;
  }
}

function encodeUsage({ send }: Writer, { usage, latencyMs }: UsageReported): void {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, totalTokens } = usage;
  send("metadata", {
    usage: {
      inputTokens,
      outputTokens,
      totalTokens,
      cacheReadInputTokens: cacheReadTokens,
      cacheWriteInputTokens: cacheWriteTokens,
    },
    ...(latencyMs !== undefined && { metrics: { latencyMs } }),
  });
}

function encodeHook({ send }: Writer, { id, name, stage, decision, reason }: HookFired): void {
  send("hookEvent", {
    hookEventId: id,
    name,
    type: stage,
    ...(decision !== undefined && { decision }),
    ...(reason !== undefined && { reason }),
  });
}

/**
 * A stream that was only cut, or whose reason was the failure, has said so by now. What else befalls the model of an agent
 * is, to the client, the agent's failure.
 */
function encodeFailure({ emit }: Writer, { code, message, details }: Failure): void {
  const { type, payload, reason } = details;
  if (code === "incomplete_turn" || typeof reason === "string") return;
  if (typeof type === "string" && isExceptionName(type) && isObject(payload)) {
    return emit({ type: "exception", name: type, payload });
  }
  emit({ type: "exception", name: "runtimeClientError", payload: { message } });
}
