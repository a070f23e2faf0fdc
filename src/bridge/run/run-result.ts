import type { ToolEnding } from "../../domain/events/tool-events.ts";
import type { TurnOutcome } from "../../domain/events/turn-events.ts";
import type { Failure } from "../../domain/errors.ts";
import type { ToolCall, ToolResult } from "../../domain/tools/tool-call.ts";
import type { ServerToolCall } from "../../domain/provider/turn.ts";
import type { Usage } from "../../domain/usage.ts";

/** What came of a run. */
export interface RunResult {
  readonly outcome: TurnOutcome;
  /**
   * The provider's word for the end, or ours: `max_steps`, `max_seconds`, `max_tokens` and `max_tool_calls` for a cap,
   * `no_terminal_tool` when the agent did not call it though it was asked to, `terminal_tool` when it ended the run.
   */
  readonly reason: string | null;
  readonly failure?: Failure;
  /** What the assistant said, message by message. */
  readonly texts: readonly string[];
  /** The same in one piece, with an empty line between messages. */
  readonly text: string;
  /** The text of the last assistant message alone. */
  readonly finalText: string;
  /** What the agent wanted of the tools here, and what it was answered, in the order of its calls. */
  readonly toolCalls: readonly RunToolCall[];
  readonly serverToolCalls: readonly ServerToolCall[];
  readonly usage: Usage | null;
  /** Calls of the provider that were made. */
  readonly steps: number;
  readonly sessionId: string;
}

export interface RunToolCall {
  readonly toolCall: ToolCall;
  readonly result: ToolResult;
  readonly ending: ToolEnding;
}
