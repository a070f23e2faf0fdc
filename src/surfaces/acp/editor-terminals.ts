import type { JsonObject } from "../../domain/json.ts";
import { terminalUpdate } from "../../wire/acp/host/terminal-content.ts";
import type { ClientLink } from "./client-link.ts";
import { readTerminalRun, runTerminal } from "./run-terminal.ts";
import type { BeginWork } from "./host-work.ts";

/** The terminals of a client in which calls of one session run. */
export interface EditorTerminals {
  begin(payload: JsonObject): BeginWork | undefined;
  /** By the call. Only this client has heard of it, so only this client is told of it. */
  readonly of: (toolCallId: string) => string | undefined;
}

export function editorTerminals(
  sessionId: string,
  { update }: Pick<ClientLink, "update">,
): EditorTerminals {
  const shown = new Map<string, string>();
  return {
    begin(payload) {
      const { toolCallId } = payload;
      const run = readTerminalRun(payload);
      if (typeof toolCallId !== "string" || run === undefined) return undefined;
      return (place) =>
        runTerminal(run, place, (terminalId) => {
          shown.set(toolCallId, terminalId);
          const [oldest = ""] = shown.keys();
          if (shown.size > MOST_KEPT) shown.delete(oldest);
          update(sessionId, terminalUpdate(toolCallId, terminalId));
        });
    },
    of: (toolCallId) => shown.get(toolCallId),
  };
}

const MOST_KEPT = 1000;
