import {
  auditLog,
  isProven,
  type AuditEntry,
  type AuditGap,
} from "../../bridge/audit/audit-log.ts";
import { auditOutput } from "../../bridge/audit-output.ts";
import { readReceiptHeads } from "../../bridge/receipt-heads.ts";
import { readSigningKeys } from "../../bridge/audit/signing-keys.ts";
import { formatPrettyJson } from "../../inspect/pretty-json.ts";
import type { Style } from "../../inspect/trace-style.ts";
import { resolveUserDirectory } from "../../platform/files/state-directory.ts";
import {
  createCallNames,
  cutLine,
  formatAuditEntry,
  formatAuditGap,
  MISSING_RECEIPTS,
} from "./audit-text.ts";
import { reportProblems, openSessionLog } from "./stored-session-log.ts";
import { findSession, withSessionsContext, type SessionsFlags } from "./sessions-context.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";

export interface AuditFlags extends SessionsFlags {
  readonly json?: true;
}

/** Lists the receipts of a session. Returns 1 unless the whole log is readable and every receipt is verified. */
export async function runSessionsAudit(
  reference: string,
  flags: AuditFlags,
  io: CommandIo,
): Promise<number> {
  return withSessionsContext(flags, io, async (run) => {
    const { sessions, terminal, style } = run;
    const { sessionId, incarnation } = await findSession(reference, run);
    const user = resolveUserDirectory(io.env);
    const audit = auditLog(await readSigningKeys(user));
    // Read before the log: a running bridge may append to both, and an older head only claims fewer receipts.
    const heads = await readReceiptHeads(user);
    const names = createCallNames();
    const entries: AuditEntry[] = [];
    const gaps: AuditGap[] = [];
    const log = openSessionLog(sessions, sessionId);
    for await (const examined of log.events) {
      if (examined.status !== "readable") continue;
      const { envelope } = examined;
      names.take(envelope.event);
      const { entry, gap } = audit.take(envelope);
      const found = [gap, await auditOutput(sessions, envelope)].filter((one) => one !== undefined);
      if (entry !== undefined) entries.push(entry);
      gaps.push(...found);
      if (flags.json === true) continue;
      // If the reader closed the pipe, the audit still continues for the exit code.
      if (entry !== undefined)
        await terminal.write(formatAuditEntry(entry, names.resolveName, style));
      for (const one of found) await terminal.write(formatAuditGap(one, names.resolveName, style));
    }
    const missingAtEnd = heads.missingAfter(incarnation, audit.last);
    heads.close();
    const { problems } = log;
    const report: AuditReport = { entries, gaps, missingAtEnd };
    if (flags.json === true)
      await terminal.write(`${formatPrettyJson({ sessionId, ...report, problems })}\n`);
    else if (!isEmpty(report) || problems.length === 0)
      await terminal.write(formatSummary(report, style));
    return Math.max(reportProblems(log, terminal), isWholeAndProven(report) ? 0 : 1);
  });
}

interface AuditReport {
  readonly entries: readonly AuditEntry[];
  readonly gaps: readonly AuditGap[];
  /** Number of receipts missing at the end of the log. */
  readonly missingAtEnd: number;
}

function isWholeAndProven({ entries, gaps, missingAtEnd }: AuditReport): boolean {
  return gaps.length === 0 && missingAtEnd === 0 && entries.every(isProven);
}

function isEmpty({ entries, gaps, missingAtEnd }: AuditReport): boolean {
  return entries.length === 0 && gaps.length === 0 && missingAtEnd === 0;
}

function formatSummary(report: AuditReport, style: Style): string {
  const { entries, gaps, missingAtEnd } = report;
  if (isEmpty(report)) return "This session has no decisions yet.\n";
  const count = (expected: AuditEntry["signature"]): number =>
    entries.filter(({ signature }) => signature === expected).length;
  const parts = [`${entries.length} receipts`, `${count("valid")} valid`];
  if (count("unsigned") > 0) parts.push(`${count("unsigned")} unsigned`);
  if (count("unknown-key") > 0) parts.push(`${count("unknown-key")} signed with an unknown key`);
  const forged = count("forged");
  const countGaps = (...kinds: readonly AuditGap["what"][]): number =>
    gaps.filter(({ what }) => kinds.includes(what)).length;
  const changed = entries.filter(({ isChanged }) => isChanged === true).length + countGaps("shown");
  const otherTools = countGaps("tool");
  const otherAgents = countGaps("agent");
  const outputs = countGaps("output");
  const isComplete =
    missingAtEnd === 0 &&
    countGaps(...MISSING_RECEIPTS) === 0 &&
    entries.every(({ missing }) => missing === undefined);
  const bad = [
    ...(forged > 0 ? [`${forged} were changed after they were written.`] : []),
    ...(otherTools > 0 ? [`${otherTools} name a different tool than the log.`] : []),
    ...(otherAgents > 0 ? [`${otherAgents} name a different agent definition than the log.`] : []),
    ...(changed > 0 ? [`${changed} have different arguments than the log.`] : []),
    ...(outputs > 0 ? [`${outputs} have a different output than the stored output.`] : []),
    ...(isComplete ? [] : ["Some are missing."]),
  ];
  const cut = missingAtEnd > 0 ? cutLine(missingAtEnd, style) : "";
  return `${cut}${[`${parts.join(", ")}.`, ...bad.map((text) => style.bad(text))].join(" ")}\n`;
}
