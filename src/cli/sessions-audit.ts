import { auditEntry, type AuditEntry } from "../bridge/audit-entry.ts";
import { readSigningKeys } from "../bridge/signing-keys.ts";
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

/** Lists who let what run in a session; 1 unless every receipt is proven to be as it was written. */
export async function auditCommand(reference: string, flags: AuditFlags): Promise<number> {
  return runSessions(flags, async (run) => {
    const { sessions, terminal, style } = run;
    const { sessionId } = await findSession(reference, run);
    const keys = await readSigningKeys(userDirectory(process.env));
    const tools = new Map<string, string>();
    const entries: AuditEntry[] = [];
    for await (const envelope of logOf(sessions, sessionId)) {
      const { event } = envelope;
      if (event.type === "tool.called") tools.set(event.toolCallId, event.call.name);
      if (event.type === "approval.requested") tools.set(event.approvalId, event.action);
      const entry = auditEntry(envelope, keys);
      if (entry === undefined) continue;
      entries.push(entry);
      // Whoever has read enough of it still gets an answer.
      if (flags.json !== true) await terminal.write(line(entry, tools, style));
    }
    const isProven = entries.every(({ signature }) => signature === "valid");
    if (flags.json === true) await terminal.write(`${prettyJson({ sessionId, entries })}\n`);
    else await terminal.write(summary(entries, style));
    return isProven ? 0 : 1;
  });
}

function line(entry: AuditEntry, tools: ReadonlyMap<string, string>, style: Style): string {
  const { seq, at, signature, principal, receipt } = entry;
  const place = style.dim(`${String(seq).padStart(6)}  ${isoTime(at)}`);
  const by = principal === null ? "" : ` by ${oneLine(principal)}`;
  return `${place}  ${mark(signature, style)}  ${oneLine(words(receipt, tools))}${by}\n`;
}

function mark(signature: AuditEntry["signature"], style: Style): string {
  const text = signature.padEnd(11);
  return signature === "forged" ? style.bad(text) : style.dim(text);
}

function words(receipt: Receipt, tools: ReadonlyMap<string, string>): string {
  const named = (id: string): string => tools.get(id) ?? id;
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
      return `${receipt.scope.tool}: allowed for good as ${receipt.grantId}`;
    case "grant.revoked":
      return `${receipt.grantId}: taken back`;
    default:
      return receipt satisfies never;
  }
}

/** As it was judged, and signed: the tool, and what it was to be done to. */
function signedName({ tool, command, paths }: PolicyContext): string {
  const places = paths.map(({ workspacePath, input }) => workspacePath ?? input);
  return [tool, ...(command === undefined ? places : [command])].join(" ");
}

const BY = {
  person: "answered",
  deadline: "nobody answered",
  cancel: "the turn ended",
  change: "asked in vain: the rules or the tool changed",
} as const;

function summary(entries: readonly AuditEntry[], style: Style): string {
  const count = (wanted: AuditEntry["signature"]): number =>
    entries.filter(({ signature }) => signature === wanted).length;
  if (entries.length === 0) return "Nothing was decided in this session yet.\n";
  const forged = count("forged");
  const parts = [`${entries.length} receipts`, `${count("valid")} valid`];
  if (count("unsigned") > 0) parts.push(`${count("unsigned")} unsigned`);
  if (count("unknown-key") > 0)
    parts.push(`${count("unknown-key")} signed with a key that is not here`);
  if (forged === 0) return `${parts.join(", ")}.\n`;
  return `${parts.join(", ")}. ${style.bad(`${forged} were changed after they were written.`)}\n`;
}
