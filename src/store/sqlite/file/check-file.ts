import { findInspectedEnd, formatLogProblem } from "../../log-problem.ts";
import type { EventRows } from "../read/event-rows.ts";
import { countEvents, findSession, type SessionRow } from "./session-rows.ts";
import type { Sql } from "./sql.ts";

/** The problems of a file, one sentence each. Yields to the event loop after each page of a log. */
export async function checkFile(sql: Sql, rows: EventRows): Promise<readonly string[]> {
  const problems = sql
    .all("PRAGMA integrity_check")
    .map((row) => row.text("integrity_check"))
    .filter((line) => line !== "ok")
    .map((line) => `SQLite reports damage of the file: ${line}`);
  const orphans =
    "SELECT DISTINCT session FROM events WHERE session NOT IN (SELECT key FROM sessions)";
  for (const row of sql.all(orphans)) {
    const key = row.number("session");
    problems.push(`There are events of a session that is not listed, number ${key}`);
  }
  for (const row of sql.all("SELECT scope, key FROM records WHERE NOT json_valid(value)")) {
    problems.push(`The value of record ${row.text("key")} of ${row.text("scope")} is not JSON`);
  }
  for (const row of sql.all("SELECT id FROM sessions ORDER BY key")) {
    const session = findSession(sql, row.text("id"));
    if (session !== undefined) problems.push(...(await checkSession(sql, rows, session)));
  }
  return problems;
}

async function checkSession(
  sql: Sql,
  rows: EventRows,
  session: SessionRow,
): Promise<readonly string[]> {
  const { sessionId, key, head } = session;
  const problems: string[] = [];
  let count = 0;
  for (let after = 0, hasMore = true; hasMore;) {
    const examined = rows.inspect(session, after, PAGE_SIZE);
    for (const event of examined) {
      const problem = formatLogProblem(event);
      if (problem === undefined) continue;
      count += 1;
      if (problems.length < MAX_PROBLEMS) problems.push(`Session ${sessionId}: ${problem}`);
    }
    after = findInspectedEnd(examined) ?? after;
    hasMore = examined.length >= PAGE_SIZE;
    await new Promise((resolve) => setImmediate(resolve));
  }
  const last = countEvents(sql, key)?.lastSeq ?? 0;
  const now = findSession(sql, sessionId)?.head.seq ?? last;
  if (last > now)
    problems.push(`Session ${sessionId}: the log ends at ${head.seq}, but has event ${last}`);
  if (count > problems.length)
    problems.push(`Session ${sessionId}: ${count - problems.length} more problems`);
  return problems;
}

const PAGE_SIZE = 512;
const MAX_PROBLEMS = 20;
