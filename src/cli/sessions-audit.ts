import { auditLog, type AuditEntry, type AuditGap } from "../bridge/audit-log.ts";
import { readSigningKeys } from "../bridge/signing-keys.ts";
import type { AgentEvent, GrantScope } from "../domain/agent-event.ts";
import { isoTime } from "../domain/iso-time.ts";
import type { PolicyContext } from "../domain/policy-decision.ts";
import type { Receipt } from "../domain/receipt.ts";
import { prettyJson } from "../inspect/pretty-json.ts";
import { oneLine, type Style } from "../inspect/style.ts";
import { userDirectory } from "../platform/state-directory.ts";
import { logOf } from "./sessions-log.ts";
import { findSession, runSessions, type SessionsFlags } from "./sessions-run.ts";

export interface AuditFlags extends SessionsFlags {
  readonly json?: true;
}

/** Lists who let what run in a session; 1 unless every receipt is there, and proven to be as it was written. */
export async function auditCommand(reference: string, flags: AuditFlags): Promise<number> {
  return runSessions(flags, async (run) => {
    const { sessions, terminal, style } = run;
    const { sessionId } = await findSession(reference, run);
    const audit = auditLog(await readSigningKeys(userDirectory(process.env)));
    const names = callNames();
    const entries: AuditEntry[] = [];
    const gaps: AuditGap[] = [];
    for await (const envelope of logOf(sessions, sessionId)) {
      names.take(envelope.event);
      const { entry, gap } = audit(envelope);
      if (entry !== undefined) entries.push(entry);
      if (gap !== undefined) gaps.push(gap);
      if (flags.json === true) continue;
      // Whoever has read enough of it still gets an answer.
      if (entry !== undefined) await terminal.write(entryLines(entry, names.of, style));
      if (gap !== undefined) await terminal.write(gapLine(gap, names.of, style));
    }
    const isProven = entries.every(({ signature, missing }) => signature === "valid" && !missing);
    if (flags.json === true) await terminal.write(`${prettyJson({ sessionId, entries, gaps })}\n`);
    else await terminal.write(summary(entries, gaps, style));
    return isProven && gaps.length === 0 ? 0 : 1;
  });
}

type NameOf = (id: string) => string;

/** What calls, and the questions about them, were about: as it was judged, and signed, as soon as it was. */
function callNames(): { readonly take: (event: AgentEvent) => void; readonly of: NameOf } {
  const names = new Map<string, string>();
  const calls = new Map<string, string>();
  return {
    take(event) {
      if (event.type === "tool.called") names.set(event.toolCallId, event.call.name);
      if (event.type === "policy.decided") {
        names.set(event.toolCallId, signedName(event.decision.context));
      }
      if (event.type === "approval.requested") calls.set(event.approvalId, event.about);
    },
    of: (id) => names.get(calls.get(id) ?? id) ?? id,
  };
}

function entryLines(entry: AuditEntry, named: NameOf, style: Style): string {
  const { signature, missing = 0, principal, receipt } = entry;
  const by = principal === null ? "" : ` by ${oneLine(principal)}`;
  const said = `${line(entry, mark(signature, style), style)}  ${oneLine(words(receipt, named))}${by}\n`;
  if (missing === 0) return said;
  const gone = missing === 1 ? "a receipt was taken out" : `${missing} receipts were taken out`;
  return `${line(entry, style.bad("missing".padEnd(11)), style)}  before this one, ${gone}\n${said}`;
}

function gapLine(gap: AuditGap, named: NameOf, style: Style): string {
  const what = `${named(gap.toolCallId)}: ${WITHOUT[gap.what]}, and there is no receipt for it`;
  return `${line(gap, style.bad("missing".padEnd(11)), style)}  ${oneLine(what)}\n`;
}

const WITHOUT = {
  started: "it was run",
  asked: "somebody was asked",
  denied: "it was denied",
} as const;

function line({ seq, at }: Pick<AuditEntry, "seq" | "at">, marked: string, style: Style): string {
  return `${style.dim(`${String(seq).padStart(6)}  ${isoTime(at)}`)}  ${marked}`;
}

function mark(signature: AuditEntry["signature"], style: Style): string {
  const text = signature.padEnd(11);
  return signature === "forged" ? style.bad(text) : style.dim(text);
}

function words(receipt: Receipt, named: NameOf): string {
  switch (receipt.type) {
    case "policy.decided": {
      const { action, reason, rule, context } = receipt.decision;
      const by = rule === null ? "the default" : (rule.id ?? `${rule.source}[${rule.index}]`);
      return `${signedName(context)}: ${action} (${by}): ${reason}`;
    }
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
    default:
      return receipt satisfies never;
  }
}

/** As it was judged, and signed: the tool, and what it was to be done to. */
function signedName({ tool, command, paths, urls = [] }: PolicyContext): string {
  const places = paths.map(({ workspacePath, input }) => workspacePath ?? input);
  return short([tool, ...(command === undefined ? [...places, ...urls] : [command])].join(" "));
}

function grantedName({ tool, command }: GrantScope): string {
  return short(command === undefined ? tool : `${tool} ${command}`);
}

function short(text: string): string {
  return text.length <= LONGEST_NAME ? text : `${text.slice(0, LONGEST_NAME)}…`;
}

/** So that a line is one line; all of it is in `--json`. */
const LONGEST_NAME = 120;

const BY = {
  person: "answered",
  deadline: "nobody answered",
  cancel: "the turn ended",
  change: "asked in vain: the rules or the tool changed",
} as const;

function summary(entries: readonly AuditEntry[], gaps: readonly AuditGap[], style: Style): string {
  if (entries.length === 0 && gaps.length === 0) {
    return "Nothing was decided in this session yet.\n";
  }
  const count = (wanted: AuditEntry["signature"]): number =>
    entries.filter(({ signature }) => signature === wanted).length;
  const parts = [`${entries.length} receipts`, `${count("valid")} valid`];
  if (count("unsigned") > 0) parts.push(`${count("unsigned")} unsigned`);
  if (count("unknown-key") > 0)
    parts.push(`${count("unknown-key")} signed with a key that is not here`);
  const forged = count("forged");
  const isWhole = gaps.length === 0 && entries.every(({ missing }) => missing === undefined);
  const bad = [
    ...(forged > 0 ? [`${forged} were changed after they were written.`] : []),
    ...(isWhole ? [] : ["Some are missing."]),
  ];
  return `${[`${parts.join(", ")}.`, ...bad.map((text) => style.bad(text))].join(" ")}\n`;
}
