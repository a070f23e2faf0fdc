import type {
  AcpSessionUpdate,
  ToolCallUpdate,
  ToolContent,
} from "../encode/acp-session-update.ts";

/** Shows a terminal of the client's own in a call. */
export function createTerminalUpdate(toolCallId: string, terminalId: string): ToolCallUpdate {
  const content: readonly ToolContent[] = [{ type: "terminal", terminalId }];
  return { sessionUpdate: "tool_call_update", toolCallId, content };
}

/**
 * The same for what else the client is told of such a call: its terminal has the output, and stays. What went wrong
 * stands beside it.
 */
export function showInTerminal(
  update: AcpSessionUpdate,
  findTerminal: (toolCallId: string) => string | undefined,
): AcpSessionUpdate {
  if (!isToolCallUpdate(update) || update.content === undefined) return update;
  const terminalId = findTerminal(update.toolCallId);
  if (terminalId === undefined) return update;
  const rest = update.content.filter(
    ({ type }) => type === "diff" || (type === "content" && update.status === "failed"),
  );
  return { ...update, content: [{ type: "terminal", terminalId }, ...rest] };
}

function isToolCallUpdate(update: AcpSessionUpdate): update is ToolCallUpdate {
  const { sessionUpdate } = update;
  return sessionUpdate === "tool_call" || sessionUpdate === "tool_call_update";
}
