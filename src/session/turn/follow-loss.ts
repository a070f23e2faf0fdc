import type { CallPurpose, Decision } from "../../domain/agent-event.ts";
import { jsonText } from "../../domain/json.ts";
import type { ToolResult } from "../../domain/tool.ts";
import { agentOf, type Work } from "../work.ts";
import { finish } from "./finish-turn.ts";
import { begin } from "./open-upstream.ts";
import type { Call, CurrentTurn, Outgoing } from "./turn-state.ts";

export interface WantedCall {
  readonly purpose: CallPurpose;
  /** The lost call that is made again, in the same conversation. */
  readonly again?: Call;
}

/** Does what the agent's definition, or the approver, says about a lost call. It is never made again where it was lost. */
export function followLoss(
  work: Work,
  current: CurrentTurn,
  makeCall: (wanted: WantedCall) => void,
): void {
  const { stage } = current;
  if (stage.type !== "lost") return;
  const { call, failure } = stage;
  const decision = stage.decision ?? decided(work);
  switch (decision) {
    case "continue":
      if (current.unsent.length === 0) sayWhatWasLost(work, call.outgoing);
      return makeCall({ purpose: "recovery" });
    case "reseed":
      if (work.state.turn.upstream?.upstreamId === call.upstreamId) begin(work, true);
      return makeCall({ purpose: call.purpose });
    case "run-again":
      return makeCall({ purpose: call.purpose, again: call });
    case "stop": {
      const message = "The connection to the agent was lost, and nobody said how to go on";
      const lost = failure ?? { code: "connection_lost", message, details: {} };
      return finish(work, current, { outcome: "failed", reason: null, failure: lost });
    }
    case "ask":
      if (stage.approvalId === undefined) ask(work, call.callId);
      return;
    default:
      return finish(work, current, { outcome: "failed", reason: `unexpected ${decision}` });
  }
}

function decided(work: Work): Decision | "ask" {
  const { onLost, provider } = agentOf(work);
  if (onLost === "resend") return provider.effectFree ? "run-again" : "ask";
  return onLost;
}

function ask(work: Work, callId: string): void {
  work.emit({
    type: "approval.requested",
    approvalId: work.ids.next("appr"),
    question: "lost-call",
    options: ["continue", "reseed", "stop"],
    about: callId,
    action: "The connection to the agent was lost in the middle of its answer. How to go on?",
    input: null,
    deadline: work.at + agentOf(work).approvalMs,
  });
}

/** The other side may have kept what it was told, or not. So it is told what it was, as something new. */
function sayWhatWasLost(work: Work, outgoing: Outgoing): void {
  const text = [
    "The connection was lost before your answer was complete. If you have already done what was asked, say only what came of it; do nothing twice. What you were told last was:",
    ...outgoing.texts,
    ...(outgoing.answers?.calls ?? []).flatMap(({ result }) => resultTexts(result)),
  ].join("\n\n");
  const messageId = work.ids.next("msg");
  const content = [{ type: "text", text }] as const;
  work.emit({ type: "message.sent", messageId, content, origin: "recovery" });
}

function resultTexts(result: ToolResult | null): string[] {
  if (result === null) return [];
  const { parts, isError } = result;
  const said = parts.map((part) =>
    part.type === "text" ? part.text : jsonText(part.type === "json" ? part.value : part.raw),
  );
  return [`${isError ? "A tool failed" : "A tool gave"}: ${said.join("\n")}`];
}
