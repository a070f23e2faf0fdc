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

/** What an agent asks somebody to allow. */
export interface PermissionRequest {
  readonly sessionId: string;
  /** What there is to show. Of an agent that knows ACP alone it is made of the call. */
  readonly approval: ApprovalDetails;
  /** Why it is asked; null where the agent does not say. */
  readonly rationale: Rationale | null;
  /** Empty where the agent takes a plain yes or no. */
  readonly options: readonly PermissionOption[];
  /**
   * Whether a plain yes or no decides it. A bridge defines both for every question; another agent may ask something else,
   * which only one of its options answers.
   */
  readonly isYesOrNo: boolean;
  /** Whether the agent knows answers with other arguments, and with a reason. */
  readonly isFromBridge: boolean;
  /** What else was said of the call. Any of it may be missing. */
  readonly context: PermissionContext;
}

export interface ApprovalDetails {
  /** The same when the question is asked again. */
  readonly id: string;
  readonly action: string;
  /** A preview if `truncated` is not null. A mask stands for each credential, and may be sent back in its place. */
  readonly args: JsonValue;
  /** Null if `args` are whole. */
  readonly truncated: TruncatedArguments | null;
  /** 1, or more if the tool may have run before. */
  readonly attempt: number;
  /** The agent, worker or session that asks. */
  readonly principal: string | null;
  readonly requestedAt: string | null;
  /** When it counts as denied; null where there is no such time. */
  readonly deadline: string | null;
  readonly approversRequired: number;
  readonly evidence: readonly EvidenceDetails[];
  /** Such as `workspace.write_text`. */
  readonly capabilities: readonly string[];
  /** What a host groups undo by. */
  readonly undo: JsonObject;
}

/** Arguments that do not fit into a line. */
export interface TruncatedArguments {
  /** Bytes of the whole arguments as JSON. */
  readonly bytes: number;
  /** The request that reads them in parts, for `client.request`. Null if the agent names none. */
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
  /** What the rule wants people to be told, and how dangerous it says that it is. */
  readonly prompt: string | null;
  readonly risk: string | null;
  /** The call as the policy saw it. */
  readonly context: JsonObject;
}

export interface PermissionOption {
  readonly id: string;
  readonly name: string;
  /** `allow_once`, `allow_always`, `reject_once`, `reject_always`, or a later word. */
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
}

/** SDKs throw away what ACP does not know at the root: the same stands beside the call. */
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
    return rejectParams('neither "approvalRequest" nor "toolCall" says what is asked');
  }
  const undo = approval.undo["policy_decision"];
  const options = readPermissionOptions(params["options"]);
  return accept({
    sessionId,
    approval,
    rationale: readRationale(toolCallMeta["policyDecision"] ?? undo),
    options,
    // Two options that allow answer another question than yes or no.
    isYesOrNo: isFromBridge || options.filter(({ kind }) => kind === "allow_once").length <= 1,
    isFromBridge,
    context: {
      ...omitUndefined({
        toolCallId: readString(call["toolCallId"]),
        title: readString(call["title"]),
        kind: readString(call["kind"]),
        input: call["rawInput"],
      }),
      content: readToolContent(call["content"]),
      mutation: isObject(toolCallMeta["mutation"]) ? toolCallMeta["mutation"] : null,
      paths: readStrings(toolCallMeta["declaredPaths"]),
    },
  });
}

/** The canonical request is all that is needed: nothing of it is looked for elsewhere. */
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

/** A copy that is whole is not among the previews. */
function readTruncatedArguments(truncated: JsonValue | undefined): TruncatedArguments | null {
  const { previews, bytes, fetch } = readObject(truncated);
  const isWhole = Array.isArray(previews) && !previews.includes("approvalRequest.args");
  if (typeof bytes !== "number" || isWhole) return null;
  const { method, params } = readObject(fetch);
  const request = typeof method === "string" ? { method, params: readObject(params) } : null;
  return { bytes, fetch: request };
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
