import type { AuditEntry, AuditGap } from "../../bridge/audit/audit-log.ts";
import type { GrantScope } from "../../domain/events/approval-events.ts";
import type { SessionEvent } from "../../domain/events/session-event.ts";
import { formatIsoTime } from "../../text/format-iso-time.ts";
import { toJsonText } from "../../data/json.ts";
import { DECISION_NAMES } from "../../domain/policy/approval-decision.ts";
import type { PolicyContext } from "../../domain/policy/policy-decision.ts";
import { toSingleLine, type Style } from "../../inspect/trace-style.ts";

type ResolveName = (id: string) => string;

/**
 * Tracks names for tool calls and their approvals. After the policy decision, the name comes from the signed decision,
 * so it is as trustworthy as the receipt.
 */
export function createCallNames(): {
  readonly take: (event: SessionEvent) => void;
  readonly resolveName: ResolveName;
} {
  const names = new Map<string, string>();
  const calls = new Map<string, string>();
  return {
    take(event) {
      if (event.type === "tool_call.received") names.set(event.toolCallId, event.toolCall.name);
      if (event.type === "policy.decided") {
        names.set(event.toolCallId, formatSignedName(event.decision.context));
      }
      if (event.type !== "approval.requested") return;
      calls.set(event.approvalId, event.subjectId);
      // A lost invocation has no name other than the action of its approval.
      if (!names.has(event.subjectId)) names.set(event.subjectId, event.action);
    },
    resolveName: (id) => names.get(calls.get(id) ?? id) ?? id,
  };
}

export function formatAuditEntry(
  entry: AuditEntry,
  resolveName: ResolveName,
  style: Style,
): string {
  const { signature, missing = 0, principal, isChanged = false } = entry;
  const by = principal === null ? "" : ` by ${toSingleLine(principal)}`;
  const entryLine = `${formatPrefix(entry, formatSignature(signature, style), style)}  ${toSingleLine(formatReceipt(entry, resolveName))}${by}\n`;
  const changedPrefix = formatPrefix(entry, style.bad("changed".padEnd(11)), style);
  const lines = isChanged
    ? `${entryLine}${changedPrefix}  the arguments of this call in the log differ from the evaluated arguments\n`
    : entryLine;
  if (missing === 0) return lines;
  const missingText = missing === 1 ? "a receipt was removed" : `${missing} receipts were removed`;
  return `${formatPrefix(entry, style.bad("missing".padEnd(11)), style)}  before this one, ${missingText}\n${lines}`;
}

export function formatAuditGap(gap: AuditGap, resolveName: ResolveName, style: Style): string {
  const isMissing = MISSING_RECEIPTS.has(gap.what);
  const text = `${resolveName(gap.toolCallId)}: ${GAP_TEXTS[gap.what]}${isMissing ? ", but its receipt is missing" : ""}`;
  const label = isMissing ? "missing" : "changed";
  return `${formatPrefix(gap, style.bad(label.padEnd(11)), style)}  ${toSingleLine(text)}\n`;
}

/** The kinds of gap in which a receipt is missing; in all others the log disagrees with a receipt. */
export const MISSING_RECEIPTS: ReadonlySet<AuditGap["what"]> = new Set([
  "started",
  "asked",
  "denied",
] as const);

const GAP_TEXTS = {
  tool: "the tool of this call in the log differs from the receipt",
  agent: "the agent definition in the log differs from the definition behind the decision",
  started: "it was run",
  asked: "an approval was requested",
  denied: "it was denied",
  shown: "the arguments in the approval request differ from the evaluated arguments",
  output: "the stored output differs from the output of the tool",
} as const;

/** Formats the line for a log that ends before its last receipt. */
export function cutLine(missing: number, style: Style): string {
  const [receipts, verb] = missing === 1 ? ["receipt", "was"] : ["receipts", "were"];
  const what = `the log was truncated: ${missing} ${receipts} at its end ${verb} removed`;
  return `${style.bad(what)}\n`;
}

function formatPrefix(
  { seq, at }: Pick<AuditEntry, "seq" | "at">,
  label: string,
  style: Style,
): string {
  return `${style.dim(`${String(seq).padStart(6)}  ${formatIsoTime(at)}`)}  ${label}`;
}

function formatSignature(signature: AuditEntry["signature"], style: Style): string {
  const text = signature.padEnd(11);
  return signature === "forged" ? style.bad(text) : style.dim(text);
}

function formatReceipt(entry: AuditEntry, resolveName: ResolveName): string {
  const { receipt } = entry;
  switch (receipt.type) {
    case "policy.decided": {
      const { action, reason, rule, context } = receipt.decision;
      const by = rule === null ? "the default" : (rule.id ?? `${rule.source}[${rule.index}]`);
      return `${formatSignedName(context)}${formatInput(entry)}: ${action} (${by}): ${reason}${formatGrant(entry)}`;
    }
    case "tool.started":
      return `${resolveName(receipt.toolCallId)}: started (attempt ${receipt.attempt})`;
    case "tool.finished":
      return `${resolveName(receipt.toolCallId)}: finished (${receipt.ending})`;
    case "approval.requested":
      return `${resolveName(receipt.subjectId)}: ${REQUESTED[receipt.question]}`;
    case "approval.voted":
      return `${resolveName(receipt.approvalId)}: one vote of several`;
    case "approval.resolved": {
      const { decision, resolvedBy, reason, principals = [] } = receipt;
      const why = reason === undefined ? "" : `: ${reason}`;
      const all = principals.length === 0 ? "" : ` (${principals.join(", ")})`;
      return `${resolveName(receipt.approvalId)}: ${DECISION_NAMES[decision]}, ${RESOLVED_BY_TEXTS[resolvedBy]}${all}${why}`;
    }
    case "grant.added":
      return `${formatGrantedName(receipt.scope)}: always allowed as ${receipt.grantId}`;
    case "grant.revoked":
      return `${receipt.grantId}: revoked`;
    case "approvals.invalidated":
      return `receipts from event ${receipt.seq} on are not verified: earlier approvals do not count`;
    default:
      return receipt satisfies never;
  }
}

function formatInput({ input }: AuditEntry): string {
  return input === undefined ? "" : ` ${shortenName(toJsonText(input))}`;
}

function formatGrant({ grant }: AuditEntry): string {
  if (grant === undefined) return "";
  if (grant === null) return ", by a grant that this log does not contain";
  return `, as ${grant.grantId} by ${grant.principal ?? "an unknown principal"} at ${formatIsoTime(grant.at)}`;
}

/** Formats the evaluated and signed facts: the tool with its command, paths or URLs. */
function formatSignedName({ tool, command, paths, urls = [] }: PolicyContext): string {
  const places = paths.map(({ workspacePath, input }) => workspacePath ?? input);
  return shortenName(
    [tool, ...(command === undefined ? [...places, ...urls] : [command])].join(" "),
  );
}

function formatGrantedName({ tool, command, paths = [] }: GrantScope): string {
  const places = paths.map(({ hostPath }) => hostPath ?? "");
  return shortenName([tool, ...(command === undefined ? places : [command])].join(" "));
}

function shortenName(text: string): string {
  return text.length <= MAX_NAME_LENGTH ? text : `${text.slice(0, MAX_NAME_LENGTH)}…`;
}

/** Characters, so an entry fits a line. `--json` prints names in full. */
const MAX_NAME_LENGTH = 120;

const REQUESTED = {
  run: "approval requested",
  outcome: "approver asked for the outcome of the interrupted tool call",
  "lost-invocation": "approver asked how to continue after the lost invocation",
  question: "person asked",
  budget: "approver asked whether to continue beyond the budget",
} as const;

const RESOLVED_BY_TEXTS = {
  person: "answered",
  deadline: "no decision before the deadline",
  cancel: "the turn ended",
  change: "withdrawn: the rules, the mode or the tool changed",
} as const;
