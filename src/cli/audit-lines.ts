import type { AuditEntry, AuditGap } from "../bridge/audit-log.ts";
import type { AgentEvent, GrantScope } from "../domain/agent-event.ts";
import { isoTime } from "../domain/iso-time.ts";
import { jsonText } from "../domain/json.ts";
import type { PolicyContext } from "../domain/policy-decision.ts";
import { oneLine, type Style } from "../inspect/style.ts";

type NameOf = (id: string) => string;

/** What calls, and the questions about them, were about: as it was judged, and signed, as soon as it was. */
export function callNames(): { readonly take: (event: AgentEvent) => void; readonly of: NameOf } {
  const names = new Map<string, string>();
  const calls = new Map<string, string>();
  return {
    take(event) {
      if (event.type === "tool.called") names.set(event.toolCallId, event.call.name);
      if (event.type === "policy.decided") {
        names.set(event.toolCallId, signedName(event.decision.context));
      }
      if (event.type !== "approval.requested") return;
      calls.set(event.approvalId, event.about);
      // A lost call of the provider has no other name.
      if (!names.has(event.about)) names.set(event.about, event.action);
    },
    of: (id) => names.get(calls.get(id) ?? id) ?? id,
  };
}

export function entryLines(entry: AuditEntry, named: NameOf, style: Style): string {
  const { signature, missing = 0, principal, isChanged = false } = entry;
  const by = principal === null ? "" : ` by ${oneLine(principal)}`;
  const words = `${line(entry, mark(signature, style), style)}  ${oneLine(wordsOf(entry, named))}${by}\n`;
  const other = line(entry, style.bad("changed".padEnd(11)), style);
  const said = isChanged
    ? `${words}${other}  the log has other arguments of this call than were judged\n`
    : words;
  if (missing === 0) return said;
  const gone = missing === 1 ? "a receipt was taken out" : `${missing} receipts were taken out`;
  return `${line(entry, style.bad("missing".padEnd(11)), style)}  before this one, ${gone}\n${said}`;
}

export function gapLine(gap: AuditGap, named: NameOf, style: Style): string {
  const isOther = gap.what === "shown" || gap.what === "output";
  const what = `${named(gap.toolCallId)}: ${WITHOUT[gap.what]}${isOther ? "" : ", and there is no receipt for it"}`;
  const marked = isOther ? "changed" : "missing";
  return `${line(gap, style.bad(marked.padEnd(11)), style)}  ${oneLine(what)}\n`;
}

const WITHOUT = {
  started: "it was run",
  asked: "somebody was asked",
  denied: "it was denied",
  shown: "the log has other arguments in its question than were judged",
  output: "the stored output is not the output of the tool",
} as const;

/** For a log that ends before its last receipt. */
export function cutLine(missing: number, style: Style): string {
  const [receipts, verb] = missing === 1 ? ["receipt", "was"] : ["receipts", "were"];
  const what = `the log was cut off: ${missing} ${receipts} at its end ${verb} taken out`;
  return `${style.bad(what)}\n`;
}

function line({ seq, at }: Pick<AuditEntry, "seq" | "at">, marked: string, style: Style): string {
  return `${style.dim(`${String(seq).padStart(6)}  ${isoTime(at)}`)}  ${marked}`;
}

function mark(signature: AuditEntry["signature"], style: Style): string {
  const text = signature.padEnd(11);
  return signature === "forged" ? style.bad(text) : style.dim(text);
}

function wordsOf(entry: AuditEntry, named: NameOf): string {
  const { receipt } = entry;
  switch (receipt.type) {
    case "policy.decided": {
      const { action, reason, rule, context } = receipt.decision;
      const by = rule === null ? "the default" : (rule.id ?? `${rule.source}[${rule.index}]`);
      return `${signedName(context)}${inputText(entry)}: ${action} (${by}): ${reason}${grantText(entry)}`;
    }
    case "tool.finished":
      return `${named(receipt.toolCallId)}: finished (${receipt.ending})`;
    case "approval.requested":
      return `${named(receipt.about)}: ${REQUESTED[receipt.question]}`;
    case "approval.voted":
      return `${named(receipt.approvalId)}: one yes of several`;
    case "approval.resolved": {
      const { decision, by, reason, principals = [] } = receipt;
      const why = reason === undefined ? "" : `: ${reason}`;
      const all = principals.length === 0 ? "" : ` (${principals.join(", ")})`;
      return `${named(receipt.approvalId)}: ${decision}, ${BY[by]}${all}${why}`;
    }
    case "grant.given":
      return `${grantedName(receipt.scope)}: allowed for good as ${receipt.grantId}`;
    case "grant.revoked":
      return `${receipt.grantId}: taken back`;
    case "approvals.doubted":
      return `receipts from event ${receipt.seq} on are not proven: approvals from before do not count`;
    default:
      return receipt satisfies never;
  }
}

function inputText({ input }: AuditEntry): string {
  return input === undefined ? "" : ` ${short(jsonText(input))}`;
}

function grantText({ grant }: AuditEntry): string {
  if (grant === undefined) return "";
  if (grant === null) return ", by a yes that this log does not have";
  return `, as ${grant.grantId} by ${grant.principal ?? "nobody known"} at ${isoTime(grant.at)}`;
}

/** As it was judged, and signed: the tool, and what it was to be done to. */
function signedName({ tool, command, paths, urls = [] }: PolicyContext): string {
  const places = paths.map(({ workspacePath, input }) => workspacePath ?? input);
  return short([tool, ...(command === undefined ? [...places, ...urls] : [command])].join(" "));
}

function grantedName({ tool, command, paths = [] }: GrantScope): string {
  const places = paths.map(({ hostPath }) => hostPath ?? "");
  return short([tool, ...(command === undefined ? places : [command])].join(" "));
}

function short(text: string): string {
  return text.length <= LONGEST_NAME ? text : `${text.slice(0, LONGEST_NAME)}…`;
}

/** So that a line is one line; all of it is in `--json`. */
const LONGEST_NAME = 120;

const REQUESTED = {
  run: "approval requested",
  outcome: "approver asked for the outcome of the interrupted tool call",
  "lost-call": "approver asked how to continue after the lost invocation",
} as const;

const BY = {
  person: "answered",
  deadline: "nobody answered",
  cancel: "the turn ended",
  change: "asked in vain: the rules, the mode or the tool changed",
} as const;
