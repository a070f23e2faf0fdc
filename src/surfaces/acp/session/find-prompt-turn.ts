import type { ClientLink } from "../connection/client-link.ts";

/**
 * The turn that a prompt got, by the log: what the client was told may be far behind it. Undefined when the prompt was
 * withdrawn, or the signal came first.
 */
export async function findPromptTurn(
  { sessions }: Pick<ClientLink, "sessions">,
  { sessionId, promptId }: { readonly sessionId: string; readonly promptId: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const stopController = new AbortController();
  const stopSignal = AbortSignal.any([signal, stopController.signal]);
  try {
    for await (const { events } of sessions.subscribe(sessionId, undefined, stopSignal)) {
      for (const { event } of events) {
        if (!("promptId" in event) || event.promptId !== promptId) continue;
        if (event.type === "turn.started") return event.turnId;
        if (event.type === "prompt.withdrawn") return undefined;
      }
    }
    return undefined;
  } finally {
    stopController.abort();
  }
}
