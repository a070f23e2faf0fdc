import type { Diagnostic, DiagnosticCode } from "../../domain/diagnostic.ts";
import type { PromptOptions } from "../../domain/prompt.ts";
import type { ProviderEvent, TurnEnd } from "../../domain/provider/provider-event.ts";
import { findRun, isOpen, type ToolsState } from "../tools/tools-state.ts";
import {
  createMessageId,
  createToolCallId,
  type Invocation,
  type ReceivedBlock,
  type ReceivedMessage,
} from "./turn-state.ts";

/** Context of an event of an invocation's stream. */
export interface StreamContext {
  readonly invocation: Invocation;
  readonly tools: ToolsState;
  /** Validation error of a tool call's arguments. Undefined if they are valid. */
  readonly problem: string | undefined;
  /** Options of the turn. */
  readonly options: PromptOptions | null;
}

/**
 * Returns a diagnostic for an event at an invalid position, such as a delta for a closed block. Our folds never emit
 * such events; the check keeps the log consistent for any provider. Returns `withdrawn` for an event about replaced
 * text, which is not an error.
 */
export function checkEventOrder(
  { invocation, tools }: StreamContext,
  event: Exclude<ProviderEvent, TurnEnd>,
): Diagnostic | "withdrawn" | undefined {
  switch (event.type) {
    case "message.start":
      if (findMessage(invocation, event.message) === undefined) return undefined;
      return createDiagnostic("malformed_event", "A message started that had already started");
    case "message.end":
      if (findMessage(invocation, event.message)?.isFinished === false) return undefined;
      return createDiagnostic("malformed_event", "A message ended that was not open");
    case "text.delta":
    case "text.end":
    case "reasoning.delta":
    case "reasoning.end":
    case "tool.start":
    case "tool.end":
      return checkBlockOrder(invocation, event);
    case "tool.delta": {
      const toolCallId = createToolCallId(invocation, event.block);
      const run = tools.runs.find((candidate) => candidate.toolCallId === toolCallId);
      if (run?.status === "opened") return undefined;
      return createDiagnostic(
        "tool_input_unmatched",
        "Arguments arrived for a tool call that was not open",
      );
    }
    case "tool.result":
      if (findOpenToolCallId(invocation, tools, event.result.toolCallId) !== undefined)
        return undefined;
      return createDiagnostic(
        "tool_result_unmatched",
        "A result arrived for a tool call that was not open",
      );
    default:
      return undefined;
  }
}

type BlockEvent = Extract<ProviderEvent, { readonly block: number }>;

function checkBlockOrder(
  invocation: Invocation,
  event: BlockEvent,
): ReturnType<typeof checkEventOrder> {
  const known = findBlock(invocation, event.block);
  if (known === undefined) return undefined;
  const { message, block } = known;
  const isSameKind = block.type === BLOCK_TYPES[event.type];
  if (isSameKind && block.type === "text" && message.isReplaced && block.isFinished) {
    return "withdrawn";
  }
  if (!isSameKind || message.messageId !== createMessageId(invocation, event.message)) {
    return createDiagnostic(
      "block_kind_mismatch",
      `A ${event.type} arrived with another block's number`,
    );
  }
  if (block.isFinished) {
    return createDiagnostic(
      "event_after_end",
      `A ${event.type} arrived for a block that had ended`,
    );
  }
  if (event.type !== "tool.start") return undefined;
  return createDiagnostic("malformed_event", "A tool call started that had already started");
}

const BLOCK_TYPES: { readonly [Type in BlockEvent["type"]]: ReceivedBlock["type"] } = {
  "text.delta": "text",
  "text.end": "text",
  "reasoning.delta": "thought",
  "reasoning.end": "thought",
  "tool.start": "tool-call",
  "tool.delta": "tool-call",
  "tool.end": "tool-call",
  "tool.result": "tool-result",
};

function findMessage(invocation: Invocation, message: number): ReceivedMessage | undefined {
  const messageId = createMessageId(invocation, message);
  return invocation.messages.find((candidate) => candidate.messageId === messageId);
}

/** Searches from the end: most events concern the last block. */
function findBlock(
  { messages }: Invocation,
  number: number,
): { readonly message: ReceivedMessage; readonly block: ReceivedBlock } | undefined {
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at];
    const block = message?.blocks.findLast((candidate) => candidate.block === number);
    if (message !== undefined && block !== undefined) return { message, block };
  }
  return undefined;
}

/** Returns the session's id of the open tool call with this provider id. */
export function findOpenToolCallId(
  { messages }: Invocation,
  tools: ToolsState,
  providerId: string,
): string | undefined {
  // Called for every tool call, of which a turn can have thousands: no intermediate list is built.
  for (const { blocks } of messages) {
    for (const block of blocks) {
      if (block.type !== "tool-call" || block.toolCall?.id !== providerId) continue;
      const run = findRun(tools, block.toolCallId);
      if (run !== undefined && isOpen(run)) return block.toolCallId;
    }
  }
  return undefined;
}

function createDiagnostic(code: DiagnosticCode, message: string): Diagnostic {
  return { code, message };
}
