import type { ToolFinished } from "../../../../domain/events/tool-events.ts";
import type { JsonObject } from "../../../../data/json.ts";
import { MAX_ESCAPED_BYTES, splitText } from "../../fit-json.ts";
import type { ToolContent, ToolMeta } from "../acp-session-update.ts";
import { formatPart } from "./tool-content.ts";

// Zed makes a terminal of its own for a `tool_call` whose `_meta` names one, and writes into it what later updates carry.
// An update that names a terminal which it does not know is dropped whole: the name is the call's, and comes with it.

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

/** The last line of what a command wrote, in the place of the one before. */
export function encodeTerminalProgress(toolCallId: string, line: string): TerminalMeta {
  return encodeTerminalWrite(toolCallId, CLEAR_LINE + line);
}

/** All of the output, in pieces: what is written is added to what is there. */
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
