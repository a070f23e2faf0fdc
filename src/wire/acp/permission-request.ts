import type { ApprovalRequested, Decision } from "../../domain/agent-event.ts";
import { notificationLine } from "../jsonrpc/write-message.ts";

export interface PermissionRequest {
  readonly method: "session/request_permission";
  readonly params: unknown;
}

/** What the client shows. A question that is not about a tool has no call, and is shown under its own id. */
export function permissionRequest(sessionId: string, asked: ApprovalRequested): PermissionRequest {
  const params = {
    sessionId,
    toolCall: {
      toolCallId: asked.question === "lost-call" ? asked.approvalId : asked.about,
      title: asked.action,
      ...(asked.input !== null && { rawInput: asked.input }),
    },
    options: asked.options.map((decision) => ({ optionId: decision, ...OPTIONS[decision] })),
  };
  return { method: "session/request_permission", params };
}

/** Tells the client that its answer is no longer wanted. */
export function withdrawalLine(requestId: string): string {
  return notificationLine("$/cancel_request", { requestId });
}

interface OptionFacts {
  readonly name: string;
  readonly kind: "allow_once" | "reject_once";
}

const OPTIONS: { readonly [Choice in Decision]: OptionFacts } = {
  allow: { name: "Allow", kind: "allow_once" },
  deny: { name: "Deny", kind: "reject_once" },
  done: { name: "It was done", kind: "allow_once" },
  failed: { name: "It failed", kind: "reject_once" },
  "run-again": { name: "Run it again", kind: "allow_once" },
  continue: { name: "Continue this conversation", kind: "allow_once" },
  reseed: { name: "Start over from the log", kind: "allow_once" },
  stop: { name: "Stop the turn", kind: "reject_once" },
};
