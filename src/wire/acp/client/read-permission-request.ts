import { isObject, type JsonObject, type JsonValue } from "../../../data/json.ts";
import {
  type DecodeResult,
  accept,
  rejectParams,
  readObject,
  readHarnMeta,
  readNumber,
  readObjects,
  readString,
  readStrings,
} from "../json-fields.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import { readToolContent } from "./read-tool-update.ts";
import type { ToolUpdateContent } from "./session-update.ts";

/** An agent's request for permission. */
export interface PermissionRequest {
  readonly sessionId: string;
  /** The details for the approver. Derived from the tool call if the agent is not a bridge. */
  readonly approval: ApprovalDetails;
  /** The reason for the request. Null if the agent gives none. */
  readonly rationale: Rationale | null;
  /** The options of the request. Empty if the agent expects a plain yes or no. */
  readonly options: readonly PermissionOption[];
  /**
   * True if a plain yes or no decides the request. A bridge accepts both for every question; another agent may ask a
   * question with several allowing options.
   */
  readonly isYesOrNo: boolean;
  /** True if the agent accepts edited arguments and a reason for a denial. */
  readonly isFromBridge: boolean;
  /** Further details of the tool call. Any field may be missing. */
  readonly context: PermissionContext;
}

export interface ApprovalDetails {
  /** The id of the request. A repeated request has the same id. */
  readonly id: string;
  readonly action: string;
  /**
   * The arguments, or a preview if `truncated` is not null. Credentials are masked; a mask in edited arguments stands
   * for its credential.
   */
  readonly args: JsonValue;
  /** Null if `args` are complete. */
  readonly truncated: TruncatedArguments | null;
  /** 1 for the first run, higher if the tool may have run before. */
  readonly attempt: number;
  /** The requesting agent, worker or session. */
  readonly principal: string | null;
  readonly requestedAt: string | null;
  /** The time after which the request counts as denied. Null without a deadline. */
  readonly deadline: string | null;
  readonly approversRequired: number;
  readonly evidence: readonly EvidenceDetails[];
  /** Requested capabilities, such as `workspace.write_text`. */
  readonly capabilities: readonly string[];
  /** Metadata by which a host groups changes for undo. */
  readonly undo: JsonObject;
}

/** Describes arguments that were too long for a line. */
export interface TruncatedArguments {
  /** Bytes of the whole arguments as JSON. */
  readonly bytes: number;
  /**
   * The request that returns the whole arguments in parts, for `client.request`. Null if the agent has no such method.
   */
  readonly fetch: { readonly method: string; readonly params: JsonObject } | null;
}

export interface EvidenceDetails {
  readonly kind: string;
  readonly ref: string;
  readonly metadata: JsonObject;
}

export interface Rationale {
  readonly action: string;
  readonly reason: string | null;
  readonly rule: JsonObject | null;
  readonly labels: readonly string[];
  /** The rule's text for the approver; `risk` is the rule's risk level. Null if the rule has none. */
  readonly prompt: string | null;
  readonly risk: string | null;
  /** The facts about the tool call that the policy evaluated. */
  readonly context: JsonObject;
}

export interface PermissionOption {
  readonly id: string;
  readonly name: string;
  /** `allow_once`, `allow_always`, `reject_once`, `reject_always`, or a value of a later version. */
  readonly kind: string;
}

export interface PermissionContext {
  readonly toolCallId?: string;
  readonly title?: string;
  readonly kind?: string;
  readonly input?: JsonValue;
  readonly content: readonly ToolUpdateContent[];
  readonly mutation: JsonObject | null;
  readonly paths: readonly string[];
  /** The worker which asks. Absent if the session itself asks. */
  readonly worker?: RequestingWorker;
}

export interface RequestingWorker {
  readonly id: string;
  readonly name: string;
  /** The name of the worker's agent. */
  readonly agent?: string;
}

/**
 * Reads the params of `session/request_permission`. Root fields take precedence over `toolCall._meta.harn`, which
 * repeats them because some SDKs drop unknown root fields.
 */
export function readPermissionRequest(
  params: JsonValue | undefined,
): DecodeResult<PermissionRequest> {
  if (!isObject(params)) return rejectParams("they are not an object");
  const { sessionId } = params;
  if (typeof sessionId !== "string") return rejectParams('"sessionId" is missing');
  const call = readObject(params["toolCall"]);
  const toolCallMeta = { ...readHarnMeta(call), ...params };
  const request = toolCallMeta["approvalRequest"];
  const isFromBridge = isObject(request);
  const approval = isFromBridge ? readApprovalDetails(request) : readToolCallApproval(call);
  if (approval === undefined) {
    return rejectParams('the request has no action: expected "approvalRequest" or "toolCall"');
  }
  const undo = approval.undo["policy_decision"];
  const options = readPermissionOptions(params["options"]);
  return accept({
    sessionId,
    approval,
    rationale: readRationale(toolCallMeta["policyDecision"] ?? undo),
    options,
    // Several allowing options mean a choice between them, which a plain yes cannot express.
    isYesOrNo: isFromBridge || options.filter(({ kind }) => kind === "allow_once").length <= 1,
    isFromBridge,
    context: {
      ...omitUndefined({
        toolCallId: readString(call["toolCallId"]),
        title: readString(call["title"]),
        kind: readString(call["kind"]),
        input: call["rawInput"],
        worker: readWorker(toolCallMeta["worker"]),
      }),
      content: readToolContent(call["content"]),
      mutation: isObject(toolCallMeta["mutation"]) ? toolCallMeta["mutation"] : null,
      paths: readStrings(toolCallMeta["declaredPaths"]),
    },
  });
}

/** Reads `approvalRequest`, which contains all fields; no field is read from another place. */
function readApprovalDetails(request: JsonObject): ApprovalDetails | undefined {
  const { id, action } = request;
  if (typeof id !== "string" || typeof action !== "string") return undefined;
  return {
    id,
    action,
    args: request["args"] ?? {},
    truncated: readTruncatedArguments(readHarnMeta(request)["truncated"]),
    attempt: readNumber(request["attempt"]) ?? 1,
    principal: readString(request["principal"]) ?? null,
    requestedAt: readString(request["requested_at"]) ?? null,
    deadline: readString(request["deadline"]) ?? null,
    approversRequired: readNumber(request["approvers_required"]) ?? 1,
    evidence: readObjects(request["evidence_refs"]).map(({ kind, ref, metadata }) => ({
      kind: readString(kind) ?? "",
      ref: readString(ref) ?? "",
      metadata: readObject(metadata),
    })),
    capabilities: readStrings(request["capabilities_requested"]),
    undo: readObject(request["undo_metadata"]),
  };
}

/** Returns null if `approvalRequest.args` is not listed in `previews`, so the arguments are complete. */
function readTruncatedArguments(truncated: JsonValue | undefined): TruncatedArguments | null {
  const { previews, bytes, fetch } = readObject(truncated);
  const isWhole = Array.isArray(previews) && !previews.includes("approvalRequest.args");
  if (typeof bytes !== "number" || isWhole) return null;
  const { method, params } = readObject(fetch);
  const request = typeof method === "string" ? { method, params: readObject(params) } : null;
  return { bytes, fetch: request };
}

function readWorker(worker: JsonValue | undefined): RequestingWorker | undefined {
  const { id, name, agent } = readObject(worker);
  if (typeof id !== "string" || typeof name !== "string") return undefined;
  return { id, name, ...omitUndefined({ agent: readString(agent) }) };
}

function readToolCallApproval(call: JsonObject): ApprovalDetails | undefined {
  const { toolCallId, rawInput } = call;
  if (typeof toolCallId !== "string") return undefined;
  return {
    id: toolCallId,
    action: readString(call["title"]) ?? toolCallId,
    args: rawInput ?? {},
    truncated: readTruncatedArguments(readHarnMeta(call)["truncated"]),
    attempt: 1,
    principal: null,
    requestedAt: null,
    deadline: null,
    approversRequired: 1,
    evidence: [],
    capabilities: [],
    undo: {},
  };
}

function readRationale(decision: JsonValue | undefined): Rationale | null {
  if (!isObject(decision)) return null;
  const { action, reason, matched_rule: rule } = decision;
  const { prompt, risk } = readObject(decision["required_approval"]);
  return {
    action: readString(action) ?? "ask",
    reason: readString(reason) ?? null,
    rule: isObject(rule) ? rule : null,
    labels: readStrings(decision["risk_labels"]),
    prompt: readString(prompt) ?? null,
    risk: readString(risk) ?? null,
    context: readObject(decision["context"]),
  };
}

function readPermissionOptions(options: JsonValue | undefined): readonly PermissionOption[] {
  return readObjects(options).flatMap(({ optionId, name, kind }) =>
    typeof optionId === "string"
      ? [{ id: optionId, name: readString(name) ?? optionId, kind: readString(kind) ?? "" }]
      : [],
  );
}
