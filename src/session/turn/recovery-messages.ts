import { toJsonText } from "../../data/json.ts";
import { readAgentSpec, type Decision } from "../decision.ts";
import type { OutgoingContent, Upstream, PendingToolCalls } from "./turn-state.ts";

/** Repeats the input of a lost invocation as a new message, because the provider may or may not have received it. */
export function restateLostInput(decision: Decision, outgoing: OutgoingContent): void {
  sendRecoveryMessage(decision, [
    "The connection was lost before your response was complete. If you have already completed the request, only report the result; do not repeat any action. Your last input was:",
    ...outgoing.texts,
    ...formatResults(outgoing.toolResults),
  ]);
}

/**
 * Before the next prompt, repeats tool results whose invocation was cut or failed after its turn ended. The tools have
 * run, but the provider may not know it. Skipped if the upstream session starts anew from the log, which has the
 * results.
 */
export function restateLostResults(decision: Decision, upstream: Upstream): void {
  if (upstream.unconfirmedResults === null || startsNewUpstream(decision, upstream)) return;
  sendRecoveryMessage(decision, [
    "Your last response was cut off, and you may not have received the results of your tools. The tools have run; do not run them again. Their results:",
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
    return [
      `The tool ${toolCall.name} ${isError ? "failed" : "returned"}: ${partTexts.join("\n")}`,
    ];
  });
}
