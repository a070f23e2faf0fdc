import type { AgentSpec } from "../../../../domain/agent-spec.ts";
import type { ApprovalRequested, Evidence } from "../../../../domain/events/approval-events.ts";
import {
  isToolQuestion,
  type ApprovalDecision,
  type ApprovalQuestion,
} from "../../../../domain/policy/approval-decision.ts";
import { formatIsoTime } from "../../../../text/format-iso-time.ts";
import type { SessionLineage } from "../../../../domain/workers/session-lineage.ts";
import type { JsonObject } from "../../../../data/json.ts";
import type { PolicyDecision } from "../../../../domain/policy/policy-decision.ts";
import type { FileDiff } from "../../../../domain/tools/tool-output.ts";
import { encodeDiffs } from "../tools/encode-diffs.ts";
import {
  takeFitting,
  fitObject,
  fitText,
  measureJsonBytes,
  DEFAULT_LINE_BYTES,
} from "../../fit-json.ts";
import { maskCredentials, type MaskedArguments } from "./mask-credentials.ts";
import { encodeMutationRecord, encodeWorkerRecord } from "../../../bridge/mutation-record.ts";
import { encodePolicyReceipt } from "./policy-receipt.ts";
import { previewArguments } from "./argument-preview.ts";
import type { ToolContent } from "../acp-session-update.ts";
import { omitUndefined } from "../../../../data/omit-undefined.ts";

export interface PermissionRequest {
  readonly method: "session/request_permission" | "elicitation/create";
  readonly params: unknown;
}

/** The session, turn and time of an approval request. */
export interface ApprovalContext {
  readonly sessionId: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly turnId: string | null;
  readonly agent: AgentSpec | undefined;
  /** The folder against which the paths of diffs are resolved. Undefined for a session without a workspace. */
  readonly workspace: string | undefined;
  /** Present if the session belongs to a worker. */
  readonly lineage?: SessionLineage | undefined;
  /** The longest line that the client reads, in bytes. Default: 48 KiB. */
  readonly lineBytes?: number;
}

/**
 * Encodes an approval as ACP's permission request. The bridge fields are at the root and, for SDKs that drop unknown
 * root fields, also under `toolCall._meta.harn`.
 *
 * The line contains the arguments three times. If they do not fit, a copy becomes a preview: first the copy under
 * `_meta`, then `rawInput`, then `args`. `_meta.harn.truncated` lists the copies that are previews.
 */
export function encodePermissionRequest(
  approval: ApprovalRequested,
  approvalContext: ApprovalContext,
): PermissionRequest {
  const { lineBytes = DEFAULT_LINE_BYTES } = approvalContext;
  const masked = maskCredentials(approval.input ?? {});
  const build = createRequestBuilder(approval, approvalContext, masked);
  const availableBytes =
    lineBytes -
    NOTES_BYTES -
    measureJsonBytes(
      build({ args: EMPTY_ARGUMENTS, rawInput: EMPTY_ARGUMENTS, meta: EMPTY_ARGUMENTS }),
    );
  const diffs = (approval.diffs ?? []).map((diff) => maskDiff(diff, masked));
  const encodedDiffs = encodeDiffs(
    diffs,
    approvalContext.workspace,
    Math.min(availableBytes / 2, DIFF_BYTES),
  );
  const diffBytes = measureJsonBytes(encodedDiffs);
  const size = measureJsonBytes(masked.args);
  if (ARGUMENT_COPIES * size + diffBytes <= availableBytes) {
    const { args } = masked;
    return createRequest(build({ args, rawInput: args, meta: args, content: encodedDiffs }));
  }
  const cut = previewArguments(masked.args, computePreviewBytes(lineBytes), approval.approvalId);
  const cutBytes = measureJsonBytes(cut);
  const countBytes = (copies: number): number =>
    copies * size + (ARGUMENT_COPIES - copies) * cutBytes;
  const copies = [2, 1].find((count) => countBytes(count) <= availableBytes) ?? 0;
  const args = copies > 0 ? masked.args : cut;
  const rawInput = copies > 1 ? masked.args : cut;
  const truncated = createTruncationNote({ approval, approvalContext, size, cutBytes, copies });
  // The arguments have priority over diffs, because a diff repeats the arguments.
  const content = countBytes(copies) + diffBytes <= availableBytes ? encodedDiffs : [];
  return createRequest(build({ args, rawInput, meta: cut, content, truncated }));
}

/** The copies are `args`, `rawInput`, and `args` under `toolCall._meta.harn`. */
const ARGUMENT_COPIES = 3;
/** Bytes reserved for `truncated`, which occurs three times in the line. */
const NOTES_BYTES = 2048;
const DIFF_BYTES = 1024 * 1024;
const TITLE_BYTES = 400;
const EMPTY_ARGUMENTS: JsonObject = {};

/** Limits a preview to 32 KiB whatever the line limit, because a person reads the preview. */
function computePreviewBytes(lineBytes: number): number {
  return Math.min(lineBytes / 8, 32 * 1024);
}

interface RequestParts {
  readonly args: JsonObject;
  readonly rawInput: JsonObject;
  /** `args` under `toolCall._meta.harn`. */
  readonly meta: JsonObject;
  readonly content?: readonly ToolContent[];
  readonly truncated?: TruncationNote;
}

function createRequest(params: object): PermissionRequest {
  return { method: "session/request_permission", params };
}

/** Returns a function that builds the params. Parts other than arguments are limited to 1/32 of the line each. */
function createRequestBuilder(
  approval: ApprovalRequested,
  approvalContext: ApprovalContext,
  masked: MaskedArguments,
): (parts: RequestParts) => object {
  const { sessionId, lineBytes = DEFAULT_LINE_BYTES } = approvalContext;
  const { decision, attempt } = approval;
  const share = lineBytes / 32;
  const title = fitText(approval.action, TITLE_BYTES);
  const worker = encodeWorker(approval);
  const receipt = encodeReceipt(approval, masked, share);
  const context = {
    policyDecision: receipt,
    mutation: encodeMutation(approval, approvalContext, share),
    declaredPaths: decision === undefined ? [] : takeFitting(listDeclaredPaths(decision), share),
  };
  const request = encodeApprovalFields({ ...approval, action: title }, approvalContext, masked);
  const named = { id: resolveRequestId(approval), ...request };
  const options = listOptions(approval);
  return ({ args, rawInput, meta, content = [], truncated }) => {
    const note = truncated === undefined ? {} : { truncated };
    const about = truncated === undefined ? {} : { _meta: { harn: note } };
    const beside = { approvalRequest: { ...named, args: meta, ...about }, ...context, ...note };
    return {
      sessionId,
      toolCall: {
        toolCallId: approval.question === "question" ? approval.subjectId : named.id,
        title,
        kind: decision?.context.kind ?? "other",
        toolName: fitText(decision?.context.tool ?? approval.action, TITLE_BYTES),
        rawInput,
        ...(content.length > 0 && { content }),
        _meta: { harn: { ...beside, ...omitUndefined({ attempt, worker }) } },
      },
      options,
      approvalRequest: { ...named, args, ...about },
      ...context,
      ...about,
    };
  };
}

/** The worker which asks, for people: `principal` is only its id. Undefined for a request of the session itself. */
function encodeWorker({ worker }: ApprovalRequested): object | undefined {
  if (worker === undefined) return undefined;
  const { workerId: id, name, agent } = worker;
  return { id, name: fitText(name, TITLE_BYTES), ...omitUndefined({ agent }) };
}

/** A request about a tool has the id of the tool call; a request that is not about a tool has its own id. */
function resolveRequestId({ question, approvalId, subjectId }: ApprovalRequested): string {
  return isToolQuestion(question) ? subjectId : approvalId;
}

/** Lists the decisions, or the choices of a question in place of the decision to answer. */
function listOptions(approval: ApprovalRequested): readonly object[] {
  const choices = (approval.form?.choices ?? []).map((name, at) => ({
    optionId: formatChoiceId(at),
    name,
    kind: "allow_once",
  }));
  return approval.options.flatMap((optionId): readonly object[] =>
    optionId === "answer" && choices.length > 0
      ? choices
      : [{ optionId, ...describeOption(optionId, approval) }],
  );
}

function formatChoiceId(at: number): string {
  return `${CHOICE_PREFIX}${at + 1}`;
}

/** Returns the position of a choice, or -1 if the option is not a choice. */
export function parseChoiceId(optionId: unknown): number {
  if (typeof optionId !== "string" || !/^choice_[1-9]\d?$/.test(optionId)) return -1;
  return Number(optionId.slice(CHOICE_PREFIX.length)) - 1;
}

const CHOICE_PREFIX = "choice_";

/** Encodes the approval request of a question for a notification, with the approval id. */
export function encodeApprovalRequest(
  approval: ApprovalRequested,
  approvalContext: ApprovalContext,
): object {
  const { lineBytes = DEFAULT_LINE_BYTES } = approvalContext;
  const masked = maskCredentials(approval.input ?? {});
  const { approvalId: id } = approval;
  const action = fitText(approval.action, TITLE_BYTES);
  const fields = { id, ...encodeApprovalFields({ ...approval, action }, approvalContext, masked) };
  const size = measureJsonBytes(masked.args);
  if (size + measureJsonBytes(fields) + NOTES_BYTES <= lineBytes)
    return { ...fields, args: masked.args };
  const args = previewArguments(masked.args, computePreviewBytes(lineBytes), id);
  const truncated = createTruncationNote({
    approval,
    approvalContext,
    size,
    cutBytes: measureJsonBytes(args),
    copies: 0,
  });
  return { ...fields, args, _meta: { harn: { truncated } } };
}

/** Encodes all fields of an approval request except its id and its arguments. */
function encodeApprovalFields(
  approval: ApprovalRequested,
  approvalContext: ApprovalContext,
  masked: MaskedArguments,
): object {
  const { sessionId, at, agent, lineBytes = DEFAULT_LINE_BYTES } = approvalContext;
  const { action, deadline, approvers = 1, evidence = [], decision, attempt } = approval;
  const run = resolveRun(approval, approvalContext);
  const share = lineBytes / 32;
  const paths = decision === undefined ? [] : listDeclaredPaths(decision);
  return {
    action,
    principal: run.workerId ?? agent?.name ?? sessionId,
    requested_at: formatIsoTime(at),
    ...(deadline <= LAST_RFC3339_TIME && { deadline: formatIsoTime(deadline) }),
    approvers_required: approvers,
    ...omitUndefined({ attempt }),
    evidence_refs: takeFitting([...paths.map(encodePathEvidence), ...evidence], share),
    undo_metadata: {
      session_id: run.sessionId,
      run_id: run.runId,
      worker_id: run.workerId,
      mutation_scope: run.mutationScope,
      policy_decision: encodeReceipt(approval, masked, share),
    },
    capabilities_requested: takeFitting(decision?.context.capabilities ?? [], share),
  };
}

/** The run which makes the request: of a worker, or of the session itself. */
function resolveRun(
  { worker }: ApprovalRequested,
  { sessionId, turnId, agent, lineage }: ApprovalContext,
) {
  if (worker !== undefined) {
    const { workerId, sessionId: runId, audit } = worker;
    return { sessionId: runId, runId, workerId, mutationScope: audit?.mutationScope ?? null };
  }
  const mutationScope = agent?.mutationScope ?? null;
  const workerId = lineage?.workerId ?? null;
  return { sessionId, runId: workerId === null ? turnId : sessionId, workerId, mutationScope };
}

/** The end of the year 9999. RFC 3339 cannot express a later time, so a later deadline is omitted. */
const LAST_RFC3339_TIME = 253_402_300_799_999;

/** Encodes the policy receipt. Its commands and URLs repeat the arguments, so credentials are masked here too. */
function encodeReceipt(
  { decision }: ApprovalRequested,
  masked: MaskedArguments,
  bytes: number,
): object | null {
  if (decision === undefined) return null;
  return fitObject(masked.maskTexts(encodePolicyReceipt(decision)), bytes);
}

function encodeMutation(
  { worker }: ApprovalRequested,
  approvalContext: ApprovalContext,
  bytes: number,
): object | null {
  const { sessionId } = approvalContext;
  const record =
    worker === undefined
      ? encodeMutationRecord(approvalContext)
      : worker.audit && encodeWorkerRecord(worker.audit, { parentSessionId: sessionId, ...worker });
  return record === undefined ? null : fitObject(record, bytes);
}

function maskDiff(diff: FileDiff, { maskText }: MaskedArguments): FileDiff {
  const { oldText, newText } = diff;
  const old = oldText === null ? null : maskText(oldText);
  return { ...diff, oldText: old, newText: maskText(newText) };
}

/** Marks arguments as a preview: how much is missing, and how to fetch the whole arguments. */
export interface TruncationNote {
  /** JSON paths of the copies that are previews. A response must not return a preview as edited arguments. */
  readonly previews: readonly string[];
  /** Bytes of the whole arguments as JSON; `shownBytes` has the bytes of a preview. */
  readonly bytes: number;
  readonly shownBytes: number;
  readonly fetch: { readonly method: string; readonly params: JsonObject };
}

interface TruncationInput {
  readonly approval: ApprovalRequested;
  readonly approvalContext: ApprovalContext;
  readonly size: number;
  readonly cutBytes: number;
  readonly copies: number;
}

function createTruncationNote({
  approval,
  approvalContext,
  size,
  cutBytes,
  copies,
}: TruncationInput): TruncationNote {
  const { approvalId } = approval;
  const { sessionId } = approvalContext;
  return {
    previews: PREVIEWED_PATHS.slice(copies),
    bytes: size,
    shownBytes: cutBytes,
    fetch: { method: ARGUMENTS_METHOD, params: { sessionId, approvalId, offset: 0 } },
  };
}

/** The method that returns the arguments of an open request in parts. */
export const ARGUMENTS_METHOD = "session/approval_args";

const PREVIEWED_PATHS = [
  "approvalRequest.args",
  "toolCall.rawInput",
  "toolCall._meta.harn.approvalRequest.args",
];

function listDeclaredPaths({ context }: PolicyDecision): string[] {
  return context.paths.flatMap(({ workspacePath }) => workspacePath ?? []);
}

function encodePathEvidence(path: string): Evidence {
  const metadata: JsonObject = { workspace_path: path };
  return { kind: "workspace_path", ref: path, metadata };
}

/** The option to allow always names the scope of the grant, because it covers more than this tool call. */
function describeOption(
  option: ApprovalDecision,
  { question, action, grantLabel = action }: ApprovalRequested,
): OptionDetails {
  if (option === "allow-always") {
    const name = `Always allow ${fitText(grantLabel, TITLE_BYTES)} in this session`;
    return { name, kind: "allow_always" };
  }
  if (option === "continue" && question === "budget")
    return { name: "Continue", kind: "allow_once" };
  return option === "deny" ? { name: DENIALS[question], kind: "reject_once" } : OPTIONS[option];
}

interface OptionDetails {
  readonly name: string;
  readonly kind: "allow_once" | "allow_always" | "reject_once";
}

const DENIALS: { readonly [One in ApprovalQuestion]: string } = {
  run: "Deny",
  outcome: "Do not run it again; the outcome stays unknown",
  "lost-invocation": "Deny",
  question: "Do not answer",
  budget: "Deny",
};

/** The kind is `allow_once` only for options that run or continue work. */
const OPTIONS: {
  readonly [Choice in Exclude<ApprovalDecision, "allow-always" | "deny">]: OptionDetails;
} = {
  allow: { name: "Allow", kind: "allow_once" },
  done: { name: "It was done", kind: "reject_once" },
  failed: { name: "It failed", kind: "reject_once" },
  "run-again": { name: "Run it again", kind: "allow_once" },
  continue: { name: "Continue this conversation", kind: "allow_once" },
  reseed: { name: "Start over from the log", kind: "allow_once" },
  stop: { name: "Stop the turn", kind: "reject_once" },
  answer: { name: "Approve", kind: "allow_once" },
  decline: { name: "Decline", kind: "reject_once" },
};
