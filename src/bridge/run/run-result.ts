import type { ToolEnding } from "../../domain/events/tool-events.ts";
import type { TurnOutcome } from "../../domain/events/turn-events.ts";
import type { Failure } from "../../domain/errors.ts";
import type { ToolCall, ToolResult } from "../../domain/tools/tool-call.ts";
import type { ServerToolCall } from "../../domain/provider/turn.ts";
import type { Usage } from "../../domain/usage.ts";

/** The result of a run, also if the turn failed: see `outcome` and `failure`. */
export interface RunResult {
  readonly outcome: TurnOutcome;
  /**
   * The provider's reason for the end, or Spanline's: `max_steps`, `max_seconds`, `max_tokens` and `max_tool_calls` for
   * a cap; `no_terminal_tool` if the agent did not call its terminal tool despite reminders; `terminal_tool` if this
   * tool ended the run.
   */
  readonly reason: string | null;
  readonly failure?: Failure;
  /** The assistant's texts, one per message. */
  readonly texts: readonly string[];
  /** The texts joined by empty lines. */
  readonly text: string;
  /** The text of the last assistant message alone. */
  readonly finalText: string;
  /** The client tool calls with their results, in order. */
  readonly toolCalls: readonly RunToolCall[];
  readonly serverToolCalls: readonly ServerToolCall[];
  readonly usage: Usage | null;
  /** Number of invocations. */
  readonly steps: number;
  readonly sessionId: string;
}

export interface RunToolCall {
  readonly toolCall: ToolCall;
  readonly result: ToolResult;
  readonly ending: ToolEnding;
}
