import type { EventRows, Place } from "./event-rows.ts";
import type { Sql } from "./sql.ts";

/** What is wrong with a file, one sentence each. Between two sessions the loop has its turn. */
export async function checkFile(sql: Sql, rows: EventRows): Promise<readonly string[]> {
  const problems = sql
    .all("PRAGMA integrity_check")
    .map((row) => row.text("integrity_check"))
    .filter((line) => line !== "ok");
  const orphans =
    "SELECT DISTINCT session FROM events WHERE session NOT IN (SELECT key FROM sessions)";
  for (const row of sql.all(orphans)) {
    problems.push(
      `There are events of a session that is not listed, number ${row.number("session")}`,
    );
  }
  for (const row of sql.all("SELECT key, id FROM sessions ORDER BY key")) {
    const place = { key: row.number("key"), sessionId: row.text("id") };
    problems.push(...checkCounts(sql, place), ...rows.problems(place));
    await new Promise((resolve) => setImmediate(resolve));
  }
  return problems;
}

function checkCounts(sql: Sql, { key, sessionId }: Place): readonly string[] {
  const row = sql.get(
    `SELECT seq, first_seq, dropped, count(events.seq_) AS kept, coalesce(max(events.seq_), 0) AS last,
       count(CASE WHEN events.seq_ >= first_seq THEN 1 END) AS whole
     FROM sessions LEFT JOIN (SELECT session, seq AS seq_ FROM events) AS events ON session = key
     WHERE key = ? GROUP BY key`,
    key,
  );
  if (row === undefined) return [];
  const [seq, firstSeq, kept] = [row.number("seq"), row.number("first_seq"), row.number("kept")];
  const dropped = row.number("dropped");
  const isWhole = row.number("whole") === seq - firstSeq + 1 && kept + dropped === seq;
  if (isWhole && row.number("last") <= seq) return [];
  return [
    `Session ${sessionId} is at ${seq}, of which ${dropped} were dropped, but ${kept} are there, the last at ${row.number("last")}`,
  ];
}
