import type {
  AgentFacts,
  ApprovalRequested,
  Decision,
  Evidence,
  Question,
} from "../../domain/agent-event.ts";
import { isoTime } from "../../domain/iso-time.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { PolicyDecision } from "../../domain/policy-decision.ts";
import type { FileDiff } from "../../domain/tool-output.ts";
import { diffContent } from "./diff-content.ts";
import { firstThatFit, fittedObject, fittedText, jsonBytes, LINE_BYTES } from "./fitted.ts";
import { maskCredentials, type MaskedArguments } from "./mask-credentials.ts";
import { mutationRecord } from "./mutation-record.ts";
import { policyReceipt } from "./policy-receipt.ts";
import { previewArguments } from "./preview.ts";
import type { ToolContent } from "./session-update.ts";

export interface PermissionRequest {
  readonly method: "session/request_permission";
  readonly params: unknown;
}

/** Where and when a question was asked. */
export interface AskedPlace {
  readonly sessionId: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly turnId: string | null;
  readonly agent: AgentFacts | undefined;
  /** Where the paths of its diffs begin. */
  readonly workspace: string | undefined;
  /** The longest line that the client reads, in bytes. Default: 48 KiB. */
  readonly lineBytes?: number;
}

/**
 * The request as ACP defines it, with the fields of the Harn bridge at the root and, for SDKs that drop unknown root
 * fields, under `toolCall._meta.harn`.
 *
 * The line has three copies of the arguments. Each is whole while the line has room for it. A copy without room is a
 * preview, and `_meta.harn.truncated` says which copies are whole: first `args`, then `rawInput`.
 */
export function permissionRequest(asked: ApprovalRequested, place: AskedPlace): PermissionRequest {
  const { lineBytes = LINE_BYTES } = place;
  const masked = maskCredentials(asked.input ?? {});
  const build = requestBuilder(asked, place, masked);
  const room =
    lineBytes - NOTES_BYTES - jsonBytes(build({ args: NONE, rawInput: NONE, meta: NONE }));
  const diffs = (asked.diffs ?? []).map((diff) => maskDiff(diff, masked));
  const shownDiffs = diffContent(diffs, place.workspace, Math.min(room / 2, DIFF_BYTES));
  const diffBytes = jsonBytes(shownDiffs);
  const size = jsonBytes(masked.args);
  if (COPIES * size + diffBytes <= room) {
    const { args } = masked;
    return requestOf(build({ args, rawInput: args, meta: args, content: shownDiffs }));
  }
  const cut = previewArguments(masked.args, previewBytes(lineBytes), asked.approvalId);
  const cutBytes = jsonBytes(cut);
  const bytesWith = (copies: number): number => copies * size + (COPIES - copies) * cutBytes;
  const copies = [2, 1].find((count) => bytesWith(count) <= room) ?? 0;
  const args = copies > 0 ? masked.args : cut;
  const rawInput = copies > 1 ? masked.args : cut;
  const truncated = truncation({ asked, place, size, cutBytes, copies });
  // The arguments come first: a diff repeats them.
  const content = bytesWith(copies) + diffBytes <= room ? shownDiffs : [];
  return requestOf(build({ args, rawInput, meta: cut, content, truncated }));
}

/** `args`, `rawInput`, and `args` under `toolCall._meta.harn`. */
const COPIES = 3;
/** Room for `truncated`, which stands in the line three times. */
const NOTES_BYTES = 2048;
const DIFF_BYTES = 1024 * 1024;
const TITLE_BYTES = 400;
const NONE: JsonObject = {};

/** A preview is for people, however long the line may be. */
function previewBytes(lineBytes: number): number {
  return Math.min(lineBytes / 8, 32 * 1024);
}

interface RequestParts {
  readonly args: JsonObject;
  readonly rawInput: JsonObject;
  /** `args` under `toolCall._meta.harn`. */
  readonly meta: JsonObject;
  readonly content?: readonly ToolContent[];
  readonly truncated?: Truncated;
}

function requestOf(params: object): PermissionRequest {
  return { method: "session/request_permission", params };
}

/** The parts that are not arguments are cut to a share of the line each. */
function requestBuilder(
  asked: ApprovalRequested,
  place: AskedPlace,
  masked: MaskedArguments,
): (parts: RequestParts) => object {
  const { sessionId, lineBytes = LINE_BYTES } = place;
  const { decision, attempt } = asked;
  const share = lineBytes / 32;
  const title = fittedText(asked.action, TITLE_BYTES);
  const receipt = receiptOf(asked, masked, share);
  const context = {
    policyDecision: receipt,
    mutation: mutationOf(place, share),
    declaredPaths: decision === undefined ? [] : firstThatFit(declaredPaths(decision), share),
  };
  const request = approvalFields({ ...asked, action: title }, place, masked);
  const named = { id: toolCallIdOf(asked), ...request };
  const options = asked.options.map((optionId) => ({ optionId, ...optionFacts(optionId, asked) }));
  return ({ args, rawInput, meta, content = [], truncated }) => {
    const note = truncated === undefined ? {} : { truncated };
    const about = truncated === undefined ? {} : { _meta: { harn: note } };
    const beside = { approvalRequest: { ...named, args: meta, ...about }, ...context, ...note };
    return {
      sessionId,
      toolCall: {
        toolCallId: named.id,
        title,
        kind: decision?.context.kind ?? "other",
        toolName: fittedText(decision?.context.tool ?? asked.action, TITLE_BYTES),
        rawInput,
        ...(content.length > 0 && { content }),
        _meta: { harn: { ...beside, ...(attempt !== undefined && { attempt }) } },
      },
      options,
      approvalRequest: { ...named, args, ...about },
      ...context,
      ...about,
    };
  };
}

/** A request that is not about a tool has an id of its own. */
function toolCallIdOf({ question, approvalId, about }: ApprovalRequested): string {
  return question === "lost-call" ? approvalId : about;
}

/** The approval request of a question as a notification shows it, under the question's own id. */
export function approvalRequest(asked: ApprovalRequested, place: AskedPlace): object {
  const { lineBytes = LINE_BYTES } = place;
  const masked = maskCredentials(asked.input ?? {});
  const { approvalId: id } = asked;
  const action = fittedText(asked.action, TITLE_BYTES);
  const fields = { id, ...approvalFields({ ...asked, action }, place, masked) };
  const size = jsonBytes(masked.args);
  if (size + jsonBytes(fields) + NOTES_BYTES <= lineBytes) return { ...fields, args: masked.args };
  const args = previewArguments(masked.args, previewBytes(lineBytes), id);
  const truncated = truncation({ asked, place, size, cutBytes: jsonBytes(args), copies: 0 });
  return { ...fields, args, _meta: { harn: { truncated } } };
}

/** All fields of an approval request but its id and its arguments. */
function approvalFields(
  asked: ApprovalRequested,
  place: AskedPlace,
  masked: MaskedArguments,
): object {
  const { sessionId, at, turnId, agent, lineBytes = LINE_BYTES } = place;
  const { action, deadline, approvers = 1, evidence = [], decision, attempt } = asked;
  const share = lineBytes / 32;
  const paths = decision === undefined ? [] : declaredPaths(decision);
  return {
    action,
    principal: agent?.name ?? sessionId,
    requested_at: isoTime(at),
    ...(deadline <= LAST_RFC3339_TIME && { deadline: isoTime(deadline) }),
    approvers_required: approvers,
    ...(attempt !== undefined && { attempt }),
    evidence_refs: firstThatFit([...paths.map(pathEvidence), ...evidence], share),
    undo_metadata: {
      session_id: sessionId,
      run_id: turnId,
      worker_id: null,
      mutation_scope: agent?.mutationScope ?? null,
      policy_decision: receiptOf(asked, masked, share),
    },
    capabilities_requested: firstThatFit(decision?.context.capabilities ?? [], share),
  };
}

/** The end of the year 9999. RFC 3339 cannot express a later deadline, and nobody waits for it: the request has none. */
const LAST_RFC3339_TIME = 253_402_300_799_999;

/** Commands and addresses in it repeat the arguments. */
function receiptOf(
  { decision }: ApprovalRequested,
  masked: MaskedArguments,
  bytes: number,
): object | null {
  if (decision === undefined) return null;
  return fittedObject(masked.maskTexts(policyReceipt(decision)), bytes);
}

function mutationOf(place: AskedPlace, bytes: number): object | null {
  const record = mutationRecord(place);
  return record === undefined ? null : fittedObject(record, bytes);
}

function maskDiff(diff: FileDiff, { maskText }: MaskedArguments): FileDiff {
  const { oldText, newText } = diff;
  const old = oldText === null ? null : maskText(oldText);
  return { ...diff, oldText: old, newText: maskText(newText) };
}

/** Says that arguments are a preview, how much is missing, and how to read all of them. */
export interface Truncated {
  /** The copies that are previews. A reply must not return one. */
  readonly previews: readonly string[];
  /** Bytes of the whole arguments as JSON, and of a preview. */
  readonly bytes: number;
  readonly shownBytes: number;
  readonly fetch: { readonly method: string; readonly params: JsonObject };
}

interface TruncatedParts {
  readonly asked: ApprovalRequested;
  readonly place: AskedPlace;
  readonly size: number;
  readonly cutBytes: number;
  readonly copies: number;
}

function truncation({ asked, place, size, cutBytes, copies }: TruncatedParts): Truncated {
  const { approvalId } = asked;
  const { sessionId } = place;
  return {
    previews: PREVIEWED.slice(copies),
    bytes: size,
    shownBytes: cutBytes,
    fetch: { method: ARGUMENTS_METHOD, params: { sessionId, approvalId, offset: 0 } },
  };
}

/** The method that reads the arguments of an open request in parts. */
export const ARGUMENTS_METHOD = "session/approval_args";

const PREVIEWED = [
  "approvalRequest.args",
  "toolCall.rawInput",
  "toolCall._meta.harn.approvalRequest.args",
];

function declaredPaths({ context }: PolicyDecision): string[] {
  return context.paths.flatMap(({ workspacePath }) => workspacePath ?? []);
}

function pathEvidence(path: string): Evidence {
  const metadata: JsonObject = { workspace_path: path };
  return { kind: "workspace_path", ref: path, metadata };
}

/** A yes for good names its scope: it is about more than this call. */
function optionFacts(
  option: Decision,
  { question, action, always = action }: ApprovalRequested,
): OptionFacts {
  if (option === "allow-always") {
    const name = `Always allow ${fittedText(always, TITLE_BYTES)} in this session`;
    return { name, kind: "allow_always" };
  }
  return option === "deny" ? { name: DENIALS[question], kind: "reject_once" } : OPTIONS[option];
}

interface OptionFacts {
  readonly name: string;
  readonly kind: "allow_once" | "allow_always" | "reject_once";
}

const DENIALS: { readonly [One in Question]: string } = {
  run: "Deny",
  outcome: "Do not run it again; the outcome stays unknown",
  "lost-call": "Deny",
};

/** Only an option that runs or continues something allows. */
const OPTIONS: { readonly [Choice in Exclude<Decision, "allow-always" | "deny">]: OptionFacts } = {
  allow: { name: "Allow", kind: "allow_once" },
  done: { name: "It was done", kind: "reject_once" },
  failed: { name: "It failed", kind: "reject_once" },
  "run-again": { name: "Run it again", kind: "allow_once" },
  continue: { name: "Continue this conversation", kind: "allow_once" },
  reseed: { name: "Start over from the log", kind: "allow_once" },
  stop: { name: "Stop the turn", kind: "reject_once" },
};
