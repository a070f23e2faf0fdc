import type { JsonObject } from "../../../data/json.ts";
import { createTerminalUpdate } from "../../../wire/acp/host/terminal-content.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { readTerminalRun, runTerminal } from "./run-terminal.ts";
import type { StartHostTask } from "./host-task.ts";

/** The terminals of a client in which calls of one session run. */
export interface EditorTerminals {
  createTask(payload: JsonObject): StartHostTask | undefined;
  /** By the call. Only this client has heard of it, so only this client is told of it. */
  readonly findTerminal: (toolCallId: string) => string | undefined;
}

export function createEditorTerminals(
  sessionId: string,
  { sendUpdate }: Pick<ClientLink, "sendUpdate">,
): EditorTerminals {
  const terminalIds = new Map<string, string>();
  return {
    createTask(payload) {
      const { toolCallId } = payload;
      const run = readTerminalRun(payload);
      if (typeof toolCallId !== "string" || run === undefined) return undefined;
      return (context) =>
        runTerminal(run, context, (terminalId) => {
          terminalIds.set(toolCallId, terminalId);
          const [oldest = ""] = terminalIds.keys();
          if (terminalIds.size > MAX_TERMINALS) terminalIds.delete(oldest);
          sendUpdate(sessionId, createTerminalUpdate(toolCallId, terminalId));
        });
    },
    findTerminal: (toolCallId) => terminalIds.get(toolCallId),
  };
}

const MAX_TERMINALS = 1000;
