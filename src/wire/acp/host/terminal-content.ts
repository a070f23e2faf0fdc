import type { SessionUpdate, ToolCallUpdate, ToolContent } from "../session-update.ts";

/** Shows a terminal of the client's own in a call. */
export function terminalUpdate(toolCallId: string, terminalId: string): ToolCallUpdate {
  const content: readonly ToolContent[] = [{ type: "terminal", terminalId }];
  return { sessionUpdate: "tool_call_update", toolCallId, content };
}

/**
 * The same for what else the client is told of such a call: its terminal has the output, and stays. What went wrong
 * stands beside it.
 */
export function withTerminal(
  update: SessionUpdate,
  terminalOf: (toolCallId: string) => string | undefined,
): SessionUpdate {
  if (!isCall(update) || update.content === undefined) return update;
  const terminalId = terminalOf(update.toolCallId);
  if (terminalId === undefined) return update;
  const rest = update.content.filter(
    ({ type }) => type === "diff" || (type === "content" && update.status === "failed"),
  );
  return { ...update, content: [{ type: "terminal", terminalId }, ...rest] };
}

function isCall(update: SessionUpdate): update is ToolCallUpdate {
  const { sessionUpdate } = update;
  return sessionUpdate === "tool_call" || sessionUpdate === "tool_call_update";
}
