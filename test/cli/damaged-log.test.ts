import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { ApprovalRequested } from "../../src/domain/events/approval-events.ts";
import type { Draft } from "../../src/domain/events/envelope.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { tamper } from "../store/sqlite-support.ts";
import { createCommandLine, type CommandLine } from "../support/command-line.ts";

let cli: CommandLine;

beforeAll(async () => {
  cli = await createCommandLine();
  return () => cli.close();
});

const AT = 1_800_000_000_000;
const SESSION = "ses_damaged";

function draft(event: Draft["event"]): Draft {
  return { at: AT, visibility: "public", event };
}

const requested: ApprovalRequested = {
  type: "approval.requested",
  approvalId: "appr_1",
  question: "run",
  subjectId: "tool_1",
  action: "save_note",
  input: { text: "buy milk" },
  options: ["allow", "deny"],
  deadline: AT + 1000,
  approvers: 1,
};

/** Creates a data directory with a session of 8 events, then damages its database with SQL. */
async function directoryAfter(sql: string): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "spanline-damage-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, "sessions.db");
  const store = await openSqliteStore({ file });
  const { lease } = await store.acquire(SESSION, { owner: "me", now: AT, durationMs: 1 });
  const titles = ["one", "two", "three", "four", "five"];
  const events = [
    draft({ type: "session.opened", agent: "demo", principal: "local" }),
    ...titles.map((title) => draft({ type: "session.title_changed", title })),
    draft(requested),
    draft({ type: "session.title_changed", title: "the end" }),
  ];
  await store.append(lease, 0, { events, sync: true });
  await store.release(lease);
  await store.close();
  await tamper(file, (database) => database.exec(sql));
  return directory;
}

const UNREADABLE = "UPDATE events SET body = 'x' WHERE seq = 3";
const MISSING = "DELETE FROM events WHERE seq = 3";
const NEWER = `INSERT INTO kinds (type, version) VALUES ('weather.changed', 1);
  UPDATE events SET kind = (SELECT id FROM kinds WHERE type = 'weather.changed'),
    body = replace(body, 'session.title_changed', 'weather.changed') WHERE seq = 3`;

const RAW = { version: 1, event: { type: "weather.changed", title: "two" } };

describe.each([
  ["cannot be read", UNREADABLE, /event 3 cannot be read/, { problem: "damaged", raw: "x" }],
  ["is missing", MISSING, /event 3 is missing/, { problem: "missing", through: 3, count: 1 }],
  [
    "was written by a newer version",
    NEWER,
    /event 3 was written by a newer version/,
    { problem: "newer", event: { name: "weather.changed", raw: RAW } },
  ],
] as const)("A log in which one event %s", (_, sql, sentence, place) => {
  const run = async (...args: readonly string[]) => {
    const directory = await directoryAfter(sql);
    const [command = "", ...rest] = args;
    return cli.run(["sessions", command, SESSION, "--data-dir", directory, ...rest]);
  };

  it("The log is exported completely, and the exit code is 1", async () => {
    const { status, stdout, stderr } = await run("export");
    const lines = stdout
      .trim()
      .split("\n")
      .map((line): unknown => JSON.parse(line));
    expect(status).toBe(1);
    expect(stderr).toMatch(sentence);
    expect(lines).toHaveLength(8);
    expect(lines[2]).toMatchObject({ seq: 3, ...place });
    expect(lines[7]).toMatchObject({ seq: 8, event: { title: "the end" } });
  });

  it("The log is shown completely, and the exit code is 1", async () => {
    for (const form of ["--events", "--json"]) {
      const { status, stdout, stderr } = await run("show", form);
      expect([status, stderr]).toEqual([1, expect.stringMatching(sentence)]);
      expect(stdout).toContain("the end");
    }
    const { status, stdout } = await run("show");
    expect([status, stdout]).toEqual([1, expect.stringMatching(sentence)]);
  });

  it("An audit of a damaged log does not report an empty log", async () => {
    const { status, stdout, stderr } = await run("audit");
    expect([status, stderr]).toEqual([1, expect.stringMatching(sentence)]);
    expect(stdout).not.toContain("no decisions yet");
    const json = await run("audit", "--json");
    expect(json.status).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({ problems: [expect.stringMatching(sentence)] });
  });

  it("Approvals after the event are still listed, and the exit code is 1", async () => {
    const { status, stdout, stderr } = await run("answer");
    expect([status, stderr]).toEqual([1, expect.stringMatching(sentence)]);
    expect(stdout).toContain("appr_1");
  });
});

describe("spanline sessions check", () => {
  it("sessions check prints the number of events of an intact directory", async () => {
    const directory = await directoryAfter("SELECT 1");
    const { status, stdout, stderr } = await cli.run(["sessions", "check", "-d", directory]);
    expect({ status, stdout, stderr }).toEqual({
      status: 0,
      stdout: "",
      stderr: `1 session with 8 events in ${directory}: no problems found\n`,
    });
  });

  it("sessions check lists every problem of every session, and the exit code is 1", async () => {
    const directory = await directoryAfter(`${UNREADABLE}; DELETE FROM events WHERE seq > 6`);
    const { status, stdout } = await cli.run(["sessions", "check", "-d", directory, "--json"]);
    expect({ status, output: JSON.parse(stdout) }).toEqual({
      status: 1,
      output: {
        directory,
        sessions: 1,
        events: 6,
        problems: [
          expect.stringMatching(/^Session ses_damaged: event 3 cannot be read: /),
          "Session ses_damaged: events 7 to 8 are missing",
        ],
      },
    });
  });

  it("sessions check names a file that is empty or is not a database", async () => {
    const directory = await directoryAfter("SELECT 1");
    const file = join(directory, "sessions.db");
    writeFileSync(file, "");
    const empty = await cli.run(["sessions", "check", "-d", directory]);
    expect([empty.status, empty.stderr]).toEqual([
      1,
      expect.stringContaining(`${file} is empty (0 bytes)`),
    ]);
    expect(readFileSync(file)).toHaveLength(0);
    writeFileSync(file, "not a database ".repeat(100));
    const other = await cli.run(["sessions", "check", "-d", directory]);
    expect([other.status, other.stderr]).toEqual([
      1,
      expect.stringContaining(`${file} is damaged: it is not a readable SQLite database`),
    ]);
  });
});
