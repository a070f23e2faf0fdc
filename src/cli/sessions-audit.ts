import { auditLog, type AuditEntry, type AuditGap } from "../bridge/audit-log.ts";
import { readSigningKeys } from "../bridge/signing-keys.ts";
import { prettyJson } from "../inspect/pretty-json.ts";
import type { Style } from "../inspect/style.ts";
import { userDirectory } from "../platform/state-directory.ts";
import { callNames, entryLines, gapLine } from "./audit-lines.ts";
import { reportProblems, sessionLog } from "./sessions-log.ts";
import { findSession, runSessions, type SessionsFlags } from "./sessions-run.ts";

export interface AuditFlags extends SessionsFlags {
  readonly json?: true;
}

/** Lists who let what run in a session; 1 unless the log can be read whole and every receipt is proven to be as it was written. */
export async function auditCommand(reference: string, flags: AuditFlags): Promise<number> {
  return runSessions(flags, async (run) => {
    const { sessions, terminal, style } = run;
    const { sessionId } = await findSession(reference, run);
    const audit = auditLog(await readSigningKeys(userDirectory(process.env)));
    const names = callNames();
    const entries: AuditEntry[] = [];
    const gaps: AuditGap[] = [];
    const log = sessionLog(sessions, sessionId);
    for await (const examined of log.events) {
      if (examined.status !== "readable") continue;
      const { envelope } = examined;
      names.take(envelope.event);
      const { entry, gap } = audit(envelope);
      if (entry !== undefined) entries.push(entry);
      if (gap !== undefined) gaps.push(gap);
      if (flags.json === true) continue;
      // Whoever has read enough of it still gets an answer.
      if (entry !== undefined) await terminal.write(entryLines(entry, names.of, style));
      if (gap !== undefined) await terminal.write(gapLine(gap, names.of, style));
    }
    const isProven = entries.every(
      ({ signature, missing = 0, isChanged = false }) =>
        signature === "valid" && missing === 0 && !isChanged,
    );
    const { problems } = log;
    if (flags.json === true)
      await terminal.write(`${prettyJson({ sessionId, entries, gaps, problems })}\n`);
    else if (entries.length > 0 || gaps.length > 0 || problems.length === 0)
      await terminal.write(summary(entries, gaps, style));
    return Math.max(reportProblems(log, terminal), isProven && gaps.length === 0 ? 0 : 1);
  });
}

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
  const changed =
    entries.filter(({ isChanged }) => isChanged === true).length +
    gaps.filter(({ what }) => what === "shown").length;
  const isWhole =
    gaps.every(({ what }) => what === "shown") &&
    entries.every(({ missing }) => missing === undefined);
  const bad = [
    ...(forged > 0 ? [`${forged} were changed after they were written.`] : []),
    ...(changed > 0 ? [`${changed} are about other arguments than the log has.`] : []),
    ...(isWhole ? [] : ["Some are missing."]),
  ];
  return `${[`${parts.join(", ")}.`, ...bad.map((text) => style.bad(text))].join(" ")}\n`;
}
