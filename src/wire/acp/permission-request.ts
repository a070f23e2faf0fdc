import type {
  AgentFacts,
  ApprovalRequested,
  Decision,
  Evidence,
} from "../../domain/agent-event.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { PolicyDecision } from "../../domain/policy-decision.ts";
import { isoTime } from "../../domain/iso-time.ts";
import { diffContent } from "./diff-content.ts";
import { fitted, fittedObject, fittedText, LINE_BYTES } from "./fitted.ts";
import { mutationRecord } from "./mutation-record.ts";
import { policyReceipt } from "./policy-receipt.ts";
import { shortened } from "./shortened.ts";

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
  /** How many bytes the line may have. */
  readonly lineBytes?: number;
}

/**
 * What the client shows: as ACP has it, with what hosts of the Harn bridge read beside it. A question that is not about a
 * tool has no call, and is shown under its own id.
 */
export function permissionRequest(asked: ApprovalRequested, place: AskedPlace): PermissionRequest {
  const { sessionId, workspace, lineBytes = LINE_BYTES } = place;
  const { decision } = asked;
  const title = fittedText(asked.action, TITLE_BYTES);
  const toolCallId = asked.question === "lost-call" ? asked.approvalId : asked.about;
  const content = diffContent(asked.diffs ?? [], workspace, lineBytes / 5);
  // They are in the line twice.
  const harn =
    decision === undefined ? {} : fittedObject(harnFields(asked, decision, place), lineBytes / 4);
  const params = {
    sessionId,
    toolCall: {
      toolCallId,
      title,
      ...(decision !== undefined && { kind: decision.context.kind, toolName: title }),
      ...(asked.input !== null && { rawInput: fitted(asked.input, lineBytes / 5) }),
      ...(content.length > 0 && { content }),
      ...(decision !== undefined && { _meta: { harn } }),
    },
    options: asked.options.map((option) => ({ optionId: option, ...optionFacts(option, asked) })),
    ...harn,
  };
  return { method: "session/request_permission", params };
}

const TITLE_BYTES = 400;

/** What a yes for good is about has to be said: it is more than this call. */
function optionFacts(
  option: Decision,
  { action, always = action }: ApprovalRequested,
): OptionFacts {
  const facts = OPTIONS[option];
  return option === "allow-always"
    ? { ...facts, name: `Always allow ${fittedText(always, TITLE_BYTES)} in this session` }
    : facts;
}

function harnFields(asked: ApprovalRequested, decision: PolicyDecision, place: AskedPlace): object {
  const mutation = mutationRecord(place) ?? null;
  return {
    approvalRequest: approvalRequest(asked, place),
    policyDecision: policyReceipt(decision),
    mutation,
    declaredPaths: declaredPaths(decision),
  };
}

/** A question as hosts of the bridge show it: one about a tool is under its call's id, any other under its own. */
export function approvalRequest(asked: ApprovalRequested, place: AskedPlace): object {
  const { sessionId, at, turnId, agent } = place;
  const { approvalId, about, action, input, deadline, approvers = 1, evidence = [] } = asked;
  const { decision } = asked;
  const paths = decision === undefined ? [] : declaredPaths(decision);
  return {
    id: asked.question === "run" ? about : approvalId,
    action,
    args: input === null ? {} : shortened(input),
    principal: agent?.name ?? sessionId,
    requested_at: isoTime(at),
    deadline: isoTime(deadline),
    approvers_required: approvers,
    evidence_refs: [...paths.map(pathEvidence), ...evidence],
    undo_metadata: {
      session_id: sessionId,
      run_id: turnId,
      worker_id: null,
      mutation_scope: agent?.mutationScope ?? null,
      policy_decision: decision === undefined ? null : policyReceipt(decision),
    },
    capabilities_requested: decision?.context.capabilities ?? [],
  };
}

function declaredPaths({ context }: PolicyDecision): string[] {
  return context.paths.flatMap(({ workspacePath }) => workspacePath ?? []);
}

function pathEvidence(path: string): Evidence {
  const metadata: JsonObject = { workspace_path: path };
  return { kind: "workspace_path", ref: path, metadata };
}

interface OptionFacts {
  readonly name: string;
  readonly kind: "allow_once" | "allow_always" | "reject_once";
}

const OPTIONS: { readonly [Choice in Decision]: OptionFacts } = {
  allow: { name: "Allow", kind: "allow_once" },
  "allow-always": { name: "Always allow in this session", kind: "allow_always" },
  deny: { name: "Deny", kind: "reject_once" },
  done: { name: "It was done", kind: "allow_once" },
  failed: { name: "It failed", kind: "reject_once" },
  "run-again": { name: "Run it again", kind: "allow_once" },
  continue: { name: "Continue this conversation", kind: "allow_once" },
  reseed: { name: "Start over from the log", kind: "allow_once" },
  stop: { name: "Stop the turn", kind: "reject_once" },
};
