import { isObject, type JsonObject, type JsonValue } from "../../../domain/json.ts";
import { type Decoded, decoded, refusedParams } from "../decoded.ts";
import { fieldsOf, harnFields, numberOf, objectsOf, present, textOf, textsOf } from "../fields.ts";
import { readToolContent } from "./read-tool-update.ts";
import type { SeenToolContent } from "./seen-update.ts";

/** What an agent asks somebody to allow. */
export interface PermissionQuestion {
  readonly sessionId: string;
  /** What there is to show. Of an agent that knows ACP alone it is made of the call. */
  readonly approval: ApprovalShown;
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
  readonly isBridge: boolean;
  /** What else was said of the call. Any of it may be missing. */
  readonly context: PermissionContext;
}

export interface ApprovalShown {
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
  readonly evidence: readonly EvidenceShown[];
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

export interface EvidenceShown {
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
  readonly content: readonly SeenToolContent[];
  readonly mutation: JsonObject | null;
  readonly paths: readonly string[];
}

/** SDKs throw away what ACP does not know at the root: the same stands beside the call. */
export function readPermissionQuestion(params: JsonValue | undefined): Decoded<PermissionQuestion> {
  if (!isObject(params)) return refusedParams("they are not an object");
  const { sessionId } = params;
  if (typeof sessionId !== "string") return refusedParams('"sessionId" is missing');
  const call = fieldsOf(params["toolCall"]);
  const beside = { ...harnFields(call), ...params };
  const request = beside["approvalRequest"];
  const isBridge = isObject(request);
  const approval = isBridge ? readApproval(request) : approvalOfCall(call);
  if (approval === undefined) {
    return refusedParams('neither "approvalRequest" nor "toolCall" says what is asked');
  }
  const undo = approval.undo["policy_decision"];
  const options = readOptions(params["options"]);
  return decoded({
    sessionId,
    approval,
    rationale: readRationale(beside["policyDecision"] ?? undo),
    options,
    // Two options that allow answer another question than yes or no.
    isYesOrNo: isBridge || options.filter(({ kind }) => kind === "allow_once").length <= 1,
    isBridge,
    context: {
      ...present({
        toolCallId: textOf(call["toolCallId"]),
        title: textOf(call["title"]),
        kind: textOf(call["kind"]),
        input: call["rawInput"],
      }),
      content: readToolContent(call["content"]),
      mutation: isObject(beside["mutation"]) ? beside["mutation"] : null,
      paths: textsOf(beside["declaredPaths"]),
    },
  });
}

/** The canonical request is all that is needed: nothing of it is looked for elsewhere. */
function readApproval(request: JsonObject): ApprovalShown | undefined {
  const { id, action } = request;
  if (typeof id !== "string" || typeof action !== "string") return undefined;
  return {
    id,
    action,
    args: request["args"] ?? {},
    truncated: readTruncated(harnFields(request)["truncated"]),
    attempt: numberOf(request["attempt"]) ?? 1,
    principal: textOf(request["principal"]) ?? null,
    requestedAt: textOf(request["requested_at"]) ?? null,
    deadline: textOf(request["deadline"]) ?? null,
    approversRequired: numberOf(request["approvers_required"]) ?? 1,
    evidence: objectsOf(request["evidence_refs"]).map(({ kind, ref, metadata }) => ({
      kind: textOf(kind) ?? "",
      ref: textOf(ref) ?? "",
      metadata: fieldsOf(metadata),
    })),
    capabilities: textsOf(request["capabilities_requested"]),
    undo: fieldsOf(request["undo_metadata"]),
  };
}

/** A copy that is whole is not among the previews. */
function readTruncated(truncated: JsonValue | undefined): TruncatedArguments | null {
  const { previews, bytes, fetch } = fieldsOf(truncated);
  const isWhole = Array.isArray(previews) && !previews.includes("approvalRequest.args");
  if (typeof bytes !== "number" || isWhole) return null;
  const { method, params } = fieldsOf(fetch);
  const request = typeof method === "string" ? { method, params: fieldsOf(params) } : null;
  return { bytes, fetch: request };
}

function approvalOfCall(call: JsonObject): ApprovalShown | undefined {
  const { toolCallId, rawInput } = call;
  if (typeof toolCallId !== "string") return undefined;
  return {
    id: toolCallId,
    action: textOf(call["title"]) ?? toolCallId,
    args: rawInput ?? {},
    truncated: readTruncated(harnFields(call)["truncated"]),
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
  const { prompt, risk } = fieldsOf(decision["required_approval"]);
  return {
    action: textOf(action) ?? "ask",
    reason: textOf(reason) ?? null,
    rule: isObject(rule) ? rule : null,
    labels: textsOf(decision["risk_labels"]),
    prompt: textOf(prompt) ?? null,
    risk: textOf(risk) ?? null,
    context: fieldsOf(decision["context"]),
  };
}

function readOptions(options: JsonValue | undefined): readonly PermissionOption[] {
  return objectsOf(options).flatMap(({ optionId, name, kind }) =>
    typeof optionId === "string"
      ? [{ id: optionId, name: textOf(name) ?? optionId, kind: textOf(kind) ?? "" }]
      : [],
  );
}
