import type { ToolFinished } from "../../../../domain/events/tool-events.ts";
import type { JsonObject } from "../../../../data/json.ts";
import { MAX_ESCAPED_BYTES, splitText } from "../../fit-json.ts";
import type { ToolContent, ToolMeta } from "../acp-session-update.ts";
import { formatPart } from "./tool-content.ts";

// Zed creates a terminal view for a `tool_call` with `terminal_info` in `_meta`, and writes the output of later updates
// into the view. An update for an unknown terminal id is dropped as a whole, so the id equals the tool call id and is
// sent with `tool_call`.

type TerminalMeta = Omit<ToolMeta, "harn">;

export function encodeTerminalStart(toolCallId: string): {
  readonly content?: readonly ToolContent[];
  readonly terminal?: TerminalMeta;
} {
  return {
    content: [{ type: "terminal", terminalId: toolCallId }],
    terminal: { terminal_info: { terminal_id: toolCallId } },
  };
}

/** Encodes progress as a write that replaces the last line of the terminal. */
export function encodeTerminalProgress(toolCallId: string, line: string): TerminalMeta {
  return encodeTerminalWrite(toolCallId, CLEAR_LINE + line);
}

/** Encodes the whole output in pieces. Each write appends to the terminal. */
export function encodeTerminalOutput(
  { toolCallId, result }: ToolFinished,
  lineBytes: number,
): readonly TerminalMeta[] {
  const output = CLEAR_LINE + result.parts.map(formatPart).join("\n");
  const parts = splitText(output, Math.floor(lineBytes / 2 / MAX_ESCAPED_BYTES));
  return [...parts].map((data) => encodeTerminalWrite(toolCallId, data));
}

export function encodeTerminalExit({ toolCallId, attachments }: ToolFinished): TerminalMeta {
  const { exitCode = null, signal = null }: JsonObject = attachments?.data ?? {};
  return { terminal_exit: { terminal_id: toolCallId, exit_code: exitCode, signal } };
}

function encodeTerminalWrite(toolCallId: string, data: string): TerminalMeta {
  return { terminal_output: { terminal_id: toolCallId, data } };
}

const CLEAR_LINE = "\r\u001b[K";
