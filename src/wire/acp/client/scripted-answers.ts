import { SpanlineError, thrownMessage } from "../../../domain/errors.ts";
import { isObject, type JsonObject } from "../../../domain/json.ts";
import { initializeAnswer } from "../agent-answers.ts";
import { failureError } from "../failure-error.ts";
import { promptAnswer } from "../prompt-answer.ts";
import { internalError, type RpcError } from "../../jsonrpc/rpc-error.ts";
import type { RpcOutcome } from "../../jsonrpc/rpc-message.ts";
import { fieldsOf, harnFields, textOf } from "../fields.ts";

// What a runtime says that a test plays.

/** As ours does, with these names of updates beside ACP's own. */
export function scriptedInitialize(
  extensions: readonly string[],
  repeatablePrompts: boolean,
): JsonObject {
  const plain: unknown = JSON.parse(JSON.stringify(initializeAnswer("0")));
  const answer = isObject(plain) ? (plain as JsonObject) : {};
  const capabilities = fieldsOf(answer["agentCapabilities"]);
  const harn = {
    ...harnFields(capabilities),
    sessionUpdateExtensions: extensions,
    repeatablePrompts,
  };
  return { ...answer, agentCapabilities: { ...capabilities, _meta: { harn } } };
}

/** The client's own id of a prompt. */
export function scriptedPromptId(params: JsonObject): string | undefined {
  return textOf(harnFields(params)["promptId"]);
}

export function scriptedEnd(outcome: "completed" | "cancelled" | "limited"): RpcOutcome {
  const turn = { turnId: "turn_1", outcome, reason: null, usage: null, steps: 1 } as const;
  return promptAnswer({ type: "turn.finished", ...turn });
}

/** An error of ours as a bridge says it, with its code. */
export function scriptedError(thrown: unknown): RpcError {
  return thrown instanceof SpanlineError
    ? failureError(thrown.toFailure())
    : internalError(thrownMessage(thrown));
}

export function scriptedText(
  type: "agent" | "thought",
  text: string,
  messageId: string,
): JsonObject {
  const sessionUpdate = type === "agent" ? "agent_message_chunk" : "agent_thought_chunk";
  return { sessionUpdate, content: { type: "text", text }, messageId };
}

export interface ScriptedQuestion {
  readonly action: string;
  readonly args?: JsonObject;
  /** Why it is asked. */
  readonly reason?: string;
  readonly toolCallId?: string;
}

/** A permission request with an `allow`, an `allow-always` and a `deny`. */
export function scriptedPermission(sessionId: string, question: ScriptedQuestion): JsonObject {
  const { action, args = {}, reason = "a test asks", toolCallId = "tool_1" } = question;
  const policyDecision = {
    type: "harn.permission_policy_decision.v1",
    action: "ask",
    reason,
    matched_rule: null,
    risk_labels: ["approval_required"],
    context: { tool_name: action },
  };
  const approvalRequest = {
    id: toolCallId,
    action,
    args,
    principal: "scripted",
    approvers_required: 1,
    evidence_refs: [],
    undo_metadata: { session_id: sessionId, policy_decision: policyDecision },
    capabilities_requested: [],
  };
  return {
    sessionId,
    toolCall: { toolCallId, title: action, toolName: action, rawInput: args },
    options: [
      { optionId: "allow", name: "Allow", kind: "allow_once" },
      { optionId: "allow-always", name: "Always allow", kind: "allow_always" },
      { optionId: "deny", name: "Deny", kind: "reject_once" },
    ],
    approvalRequest,
    policyDecision,
    mutation: null,
    declaredPaths: [],
  };
}
