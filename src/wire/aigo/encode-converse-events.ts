import type { ProviderEvent, TurnEnd } from "../../domain/provider/provider-event.ts";
import type { ToolCall, ToolResultPart } from "../../domain/tools/tool-call.ts";
import {
  addToTurn,
  listBlocksInOrder,
  createTurnBuilder,
  type Block,
  type TurnBuilder,
} from "../../domain/provider/turn-builder.ts";
import type { Usage } from "../../domain/usage.ts";
import { resolveOutcome } from "../converse/stop-reasons.ts";

/** Encodes the events of any provider as Converse events. The caller reports the failure of a failed turn. */
export function encodeConverseEvents(events: Iterable<ProviderEvent>): object[] {
  const turn = createTurnBuilder();
  for (const event of events) addToTurn(turn, event);
  const blocks = new Map<number, Block[]>();
  for (const block of listBlocksInOrder(turn)) {
    blocks.set(block.message, [...(blocks.get(block.message) ?? []), block]);
  }
  const numbers = [...new Set([...turn.messages.keys(), ...blocks.keys()])].sort(
    (left, right) => left - right,
  );
  const messages = numbers.flatMap((number, at) =>
    encodeMessage(turn, number, blocks.get(number) ?? [], at === numbers.length - 1),
  );
  return [...messages, ...encodeEnding(turn, numbers.at(-1)), ...encodeUsageEvents(turn)];
}

function encodeMessage(
  turn: TurnBuilder,
  number: number,
  blocks: readonly Block[],
  isLast: boolean,
): object[] {
  const { role, reason } = turn.messages.get(number) ?? { role: "other", reason: null };
  const isAnswer = isLast && role === "assistant";
  const stopReason = reason ?? (isAnswer ? toStopReason(turn.end) : null);
  return [
    { messageStart: { role } },
    ...blocks.flatMap(encodeBlock),
    ...(stopReason === null ? [] : [{ messageStop: { stopReason } }]),
  ];
}

function encodeBlock(block: Block, index: number): object[] {
  const at = { contentBlockIndex: index };
  const start = (member: object): object => ({ contentBlockStart: { ...at, start: member } });
  const delta = (member: object): object => ({ contentBlockDelta: { ...at, delta: member } });
  // A block without a stop event was truncated, so its stop is omitted here too.
  const stop = block.ending === "explicit" ? [{ contentBlockStop: at }] : [];
  switch (block.kind) {
    case "text":
      return block.text === "" ? [] : [delta({ text: block.text }), ...stop];
    case "reasoning": {
      const { text, signature, redacted } = block;
      const pieces = [
        ...(text === "" ? [] : [{ text }]),
        ...(signature === undefined ? [] : [{ signature }]),
        ...(redacted === undefined ? [] : [{ redactedContent: redacted }]),
      ];
      if (pieces.length === 0) return [];
      return [...pieces.map((piece) => delta({ reasoningContent: piece })), ...stop];
    }
    case "tool-call": {
      const { inputText } = block.toolCall;
      const input = inputText === "" ? [] : [delta({ toolUse: { input: inputText } })];
      return [start({ toolUse: encodeToolCallStart(block.toolCall) }), ...input, ...stop];
    }
    case "tool-result": {
      const { toolCallId, isError, parts } = block.result;
      const status = isError ? "error" : "success";
      const content =
        parts.length === 0 ? [] : [delta({ toolResult: parts.map(encodeResultPart) })];
      return [start({ toolResult: { toolUseId: toolCallId, status } }), ...content, ...stop];
    }
    default:
      return block satisfies never;
  }
}

function encodeToolCallStart({ id, name, runBy, server }: ToolCall): object {
  const toolUse = { toolUseId: id, name };
  if (runBy === "client") return toolUse;
  if (server === undefined) return { ...toolUse, type: "server_tool_use" };
  return { ...toolUse, type: "mcp_tool_use", serverName: server };
}

function encodeResultPart(part: ToolResultPart): unknown {
  if (part.type === "text") return { text: part.text };
  return part.type === "json" ? { json: part.value } : part.raw;
}

/** Returns the stop reason of the turn, or a Converse reason with the same outcome. Null for a failed turn. */
function toStopReason(end: TurnEnd | null): string | null {
  if (end === null || end.outcome === "failed") return null;
  const { reason, outcome } = end;
  const knownOutcome = reason === null ? undefined : resolveOutcome(reason);
  // A reason unknown to Converse does not mean success there, so the reason of a limited turn is kept.
  if (knownOutcome === outcome || (knownOutcome === "other" && outcome === "limited"))
    return reason;
  return STOP_REASONS[outcome];
}

const STOP_REASONS = {
  completed: "end_turn",
  "action-required": "tool_use",
  limited: "partial_turn",
  other: "unknown",
} as const;

/** If the last message does not have the stop reason of the turn, an additional empty message carries the reason. */
function encodeEnding({ end, messages }: TurnBuilder, lastNumber: number | undefined): object[] {
  const lastMessage = lastNumber === undefined ? undefined : messages.get(lastNumber);
  const stopReason = toStopReason(end);
  const hasStopReason =
    lastMessage?.role === "assistant" && (lastMessage.reason ?? stopReason) === stopReason;
  const hook = end?.stoppedBy;
  return [
    ...(hasStopReason || stopReason === null
      ? []
      : [{ messageStart: { role: "assistant" } }, { messageStop: { stopReason } }]),
    ...(hook === undefined
      ? []
      : [{ hookEvent: { name: hook.hook, decision: "deny", reason: hook.reason } }]),
  ];
}

function encodeUsageEvents({ steps, end }: TurnBuilder): object[] {
  if (steps.length === 0)
    return end?.usage ? [{ metadata: { usage: encodeUsage(end.usage) } }] : [];
  return steps.map(({ usage, latencyMs }) => ({
    metadata: {
      usage: encodeUsage(usage),
      ...(latencyMs !== undefined && { metrics: { latencyMs } }),
    },
  }));
}

function encodeUsage(usage: Usage): object {
  return {
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    totalTokens: usage.totalTokens,
    cacheReadInputTokens: usage.cacheReadTokens,
    cacheWriteInputTokens: usage.cacheWriteTokens,
  };
}
