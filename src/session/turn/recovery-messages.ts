import { toJsonText } from "../../data/json.ts";
import { readAgentSpec, type Decision } from "../decision.ts";
import type { OutgoingContent, Upstream, PendingToolCalls } from "./turn-state.ts";

/** The other side may have kept what it was told, or not. So it is told what it was, as something new. */
export function restateLostInput(decision: Decision, outgoing: OutgoingContent): void {
  sendRecoveryMessage(decision, [
    "The connection was lost before your answer was complete. If you have already done what was asked, say only what came of it; do nothing twice. What you were told last was:",
    ...outgoing.texts,
    ...formatResults(outgoing.toolResults),
  ]);
}

/**
 * Before the next prompt: a call that brought results was cut or failed, and its turn is over. The tools ran, whether the
 * other side knows it or not. A conversation that begins with what the log has hears it there.
 */
export function restateLostResults(decision: Decision): void {
  const { upstream } = decision.state.turn;
  if (
    upstream === null ||
    upstream.unconfirmedResults === null ||
    startsNewUpstream(decision, upstream)
  )
    return;
  sendRecoveryMessage(decision, [
    "Your last answer was cut off, and it is not certain that you know what your tools gave before it. They have run; do nothing twice. What came of them:",
    ...formatResults(upstream.unconfirmedResults),
  ]);
}

function startsNewUpstream(
  decision: Decision,
  { isSeeded, hasResponded, isUncertain }: Upstream,
): boolean {
  const { provider, settle } = readAgentSpec(decision);
  if (provider.keepsHistory === false) return true;
  return (isSeeded && !hasResponded) || (isUncertain && settle === "reseed");
}

function sendRecoveryMessage(decision: Decision, texts: readonly string[]): void {
  const messageId = decision.ids.next("msg");
  const content = [{ type: "text", text: texts.join("\n\n") }] as const;
  decision.emit({ type: "message.sent", messageId, content, origin: "recovery" });
}

function formatResults(pending: PendingToolCalls | null): string[] {
  return (pending?.toolCalls ?? []).flatMap(({ toolCall, result }) => {
    if (result === null) return [];
    const { parts, isError } = result;
    const partTexts = parts.map((part) =>
      part.type === "text" ? part.text : toJsonText(part.type === "json" ? part.value : part.raw),
    );
    return [`The tool ${toolCall.name} ${isError ? "failed" : "gave"}: ${partTexts.join("\n")}`];
  });
}
