import { SpanlineError, formatThrown } from "../../../domain/errors.ts";
import { isObject, type JsonObject } from "../../../data/json.ts";
import { encodeInitializeResult } from "../encode/encode-results.ts";
import { encodeFailure } from "../encode/encode-failure.ts";
import { encodePromptOutcome } from "../encode/prompt-outcome.ts";
import { createInternalError, type RpcError } from "../../jsonrpc/rpc-error.ts";
import type { RpcOutcome } from "../../jsonrpc/rpc-message.ts";
import { readObject, readHarnMeta, readString } from "../json-fields.ts";

// The messages of the scripted runtime, a test double of an agent.

/** Encodes Spanline's `initialize` result with other vendor updates. */
export function encodeScriptedInitialize(
  extensions: readonly string[],
  repeatablePrompts: boolean,
): JsonObject {
  const plain: unknown = JSON.parse(JSON.stringify(encodeInitializeResult("0")));
  const answer = isObject(plain) ? (plain as JsonObject) : {};
  const capabilities = readObject(answer["agentCapabilities"]);
  const harn = {
    ...readHarnMeta(capabilities),
    sessionUpdateExtensions: extensions,
    repeatablePrompts,
  };
  return { ...answer, agentCapabilities: { ...capabilities, _meta: { harn } } };
}

/** Reads the client's id of a prompt. */
export function readScriptedPromptId(params: JsonObject): string | undefined {
  return readString(readHarnMeta(params)["promptId"]);
}

export function encodeScriptedTurnEnd(outcome: "completed" | "cancelled" | "limited"): RpcOutcome {
  const turn = { turnId: "turn_1", outcome, reason: null, usage: null, steps: 1 } as const;
  return encodePromptOutcome({ type: "turn.finished", ...turn });
}

/** Encodes an error like a bridge, with its code in `data`. */
export function toScriptedError(thrown: unknown): RpcError {
  return thrown instanceof SpanlineError
    ? encodeFailure(thrown.toFailure())
    : createInternalError(formatThrown(thrown));
}

export function encodeScriptedText(
  type: "agent" | "thought",
  text: string,
  messageId: string,
): JsonObject {
  const sessionUpdate = type === "agent" ? "agent_message_chunk" : "agent_thought_chunk";
  return { sessionUpdate, content: { type: "text", text }, messageId };
}

export interface ScriptedPermission {
  readonly action: string;
  readonly args?: JsonObject;
  /** The reason for the request. Default: "a test asks". */
  readonly reason?: string;
  readonly toolCallId?: string;
}

/** Encodes a permission request with the options `allow`, `allow-always` and `deny`. */
export function encodeScriptedPermission(
  sessionId: string,
  permission: ScriptedPermission,
): JsonObject {
  const { action, args = {}, reason = "a test asks", toolCallId = "tool_1" } = permission;
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
