import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Envelope } from "../../src/domain/events/envelope.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { tamper } from "../store/sqlite-support.ts";
import { createCommandLine, waitForOutput, type CommandLine } from "../support/command-line.ts";

let cli: CommandLine;

beforeAll(async () => {
  cli = await createCommandLine();
  return () => cli.close();
});

type Post = (path: string, body: object) => Promise<Response>;

/** Creates a data directory with an approved note of the demo agent and its signing keys. */
async function noteSaved(
  then: (post: Post, file: string, sessionId: string) => Promise<void> = async () => undefined,
) {
  const directory = mkdtempSync(join(tmpdir(), "spanline-audit-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const environment = { XDG_STATE_HOME: join(directory, "state") };
  const place = ["--data-dir", join(directory, "data")];
  const child = cli.start(["up", "--port", "0", "--json", ...place], { environment });
  const { url, link, sessionId } = JSON.parse(await waitForOutput(child.stdout, "}\n"));
  const token = new URL(link).searchParams.get("token");
  const post: Post = (path, body) =>
    fetch(`${url}/api/sessions/${sessionId}/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    });
  await post("prompt", { text: "Please save a note: buy milk" });
  const approvalId = await waitForApproval(join(directory, "data/sessions.db"), sessionId);
  const answer = { type: "answer", approvalId, decision: "allow-always" };
  expect((await post("commands", answer)).status).toBe(200);
  await ended(join(directory, "data/sessions.db"), sessionId);
  await then(post, join(directory, "data/sessions.db"), String(sessionId));
  child.kill("SIGTERM");
  await new Promise((resolve) => child.once("exit", resolve));
  const run = (...args: readonly string[]) => cli.run([...args], { environment });
  return { directory, place, run, sessionId: String(sessionId) };
}

/** Waits for the nth event of a type, counted from 1. */
async function followed(file: string, sessionId: string, type: string, nth = 1): Promise<object> {
  const store = await openSqliteStore({ file, readOnly: true });
  const { signal } = new AbortController();
  const seen: Envelope[] = [];
  try {
    for await (const { events } of store.subscribe(sessionId, undefined, signal)) {
      seen.push(...events.filter(({ event }) => event.type === type));
      const found = seen[nth - 1];
      if (found !== undefined) return found.event;
    }
    throw new Error(`There was no ${type}`);
  } finally {
    await store.close();
  }
}

async function waitForApproval(file: string, sessionId: string): Promise<string> {
  return Object(await followed(file, sessionId, "approval.requested")).approvalId;
}

async function ended(file: string, sessionId: string): Promise<void> {
  await followed(file, sessionId, "turn.finished");
}

const kindOf = (type: string): string => `(SELECT id FROM kinds WHERE type = '${type}')`;

describe("spanline sessions audit", () => {
  it("audit lists the decisions, verifies them, and detects a changed receipt [W-09]", async () => {
    const { directory, place, run } = await noteSaved();
    const before = await run("sessions", "audit", "latest", ...place);
    expect([before.status, before.stderr]).toEqual([0, ""]);
    expect(before.stdout).toContain("save_note: ask (require_approval[0])");
    expect(before.stdout).toContain("save_note: always allow, answered");
    expect(before.stdout).toContain("save_note: always allowed as");
    expect(before.stdout).toContain("save_note: approval requested");
    expect(before.stdout).toContain("save_note: finished (succeeded)");
    expect(before.stdout).toMatch(/6 receipts, 6 valid\./);

    expect((await run("keys", "rotate")).status).toBe(0);
    expect((await run("sessions", "audit", "latest", ...place)).stdout).toContain("6 valid");

    await tamper(join(directory, "data/sessions.db"), (database) =>
      database.exec(`UPDATE events SET body = replace(body, '"person"', '"cancel"')`),
    );
    const after = await run("sessions", "audit", "latest", ...place);
    expect(after.status).toBe(1);
    expect(after.stdout).toContain("forged");
  });

  it("audit detects changed arguments in the log [W-09]", async () => {
    const { directory, place, run } = await noteSaved();
    const kind = "(SELECT id FROM kinds WHERE type = 'tool_call.received')";
    await tamper(join(directory, "data/sessions.db"), (database) =>
      database.exec(
        `UPDATE events SET body = replace(body, 'buy milk', 'buy wine') WHERE kind IN ${kind}`,
      ),
    );
    const { status, stdout } = await run("sessions", "audit", "latest", ...place);
    expect(status).toBe(1);
    expect(stdout).toContain(
      "the arguments of this call in the log differ from the evaluated arguments",
    );
    expect(stdout).toContain("1 have different arguments than the log.");
  });

  it("audit exits with 1 if the tool of a call differs between log and receipts [W-09]", async () => {
    const { directory, place, run } = await noteSaved();
    await tamper(join(directory, "data/sessions.db"), (database) =>
      database.exec(
        `UPDATE events SET body = replace(body, 'save_note', 'read_note')
         WHERE kind IN ${kindOf("tool_call.received")} OR kind IN ${kindOf("tool_call.opened")}`,
      ),
    );
    const { status, stdout } = await run("sessions", "audit", "latest", ...place);
    expect(status).toBe(1);
    expect(stdout).toContain("the tool of this call in the log differs from the receipt");
    expect(stdout).toContain("6 receipts, 6 valid. 2 name a different tool than the log.");
  });

  it("audit exits with 1 if a field of a receipt's envelope was changed [W-09]", async () => {
    const { directory, place, run } = await noteSaved();
    await tamper(join(directory, "data/sessions.db"), (database) =>
      database.exec(
        `UPDATE events SET body = replace(body, '"visibility":"public"', '"visibility":"internal"')
         WHERE kind IN ${kindOf("tool.started")}`,
      ),
    );
    const { status, stdout } = await run("sessions", "audit", "latest", ...place);
    expect(status).toBe(1);
    expect(stdout).toContain("6 receipts, 5 valid. 1 were changed after they were written.");
  });

  it("audit detects removed receipts and their position [W-09]", async () => {
    const { directory, place, run } = await noteSaved();
    const file = join(directory, "data/sessions.db");
    const takeOut = (type: string) => {
      const kind = `(SELECT id FROM kinds WHERE type = '${type}')`;
      return tamper(file, (database) => database.exec(`DELETE FROM events WHERE kind IN ${kind}`));
    };
    await takeOut("policy.decided");
    const first = await run("sessions", "audit", "latest", ...place);
    expect(first.status).toBe(1);
    expect(first.stdout).toContain("before this one, a receipt was removed");
    expect(first.stdout).toContain("Some are missing.");
    await takeOut("approval.resolved");
    await takeOut("grant.added");
    const last = await run("sessions", "audit", "latest", ...place);
    expect(last.status).toBe(1);
    expect(last.stdout).toContain("save_note: it was run, but its receipt is missing");
  });

  it("Without the keys, audit reports unknown keys", async () => {
    const { place } = await noteSaved();
    const { status, stdout } = await cli.run(["sessions", "audit", "latest", ...place, "--json"], {
      environment: { XDG_STATE_HOME: join(tmpdir(), "spanline-no-keys") },
    });
    const { entries } = JSON.parse(stdout);
    expect(status).toBe(1);
    expect(entries.map(({ signature }: { signature: string }) => signature)).toEqual([
      "unknown-key",
      "unknown-key",
      "unknown-key",
      "unknown-key",
      "unknown-key",
      "unknown-key",
    ]);
  });

  it("audit detects a changed tool result [W-09]", async () => {
    const { directory, place, run } = await noteSaved();
    await tamper(join(directory, "data/sessions.db"), (database) =>
      database.exec(`UPDATE events SET body = replace(body, '"isError":false', '"isError":true')
        WHERE kind IN ${kindOf("tool.finished")}`),
    );
    const { status, stdout } = await run("sessions", "audit", "latest", ...place);
    expect(status).toBe(1);
    expect(stdout).toMatch(/forged +save_note: finished \(succeeded\)/);
    expect(stdout).toContain("6 receipts, 5 valid. 1 were changed after they were written.");
  });

  it("audit detects two swapped approval requests [W-09]", async () => {
    const { directory, place, run } = await noteSaved(async (post, file, sessionId) => {
      const { grantId } = Object(await followed(file, sessionId, "grant.added"));
      expect((await post("commands", { type: "revoke", grantId })).status).toBe(200);
      await post("prompt", { text: "Please save a note: buy milk" });
      await followed(file, sessionId, "approval.requested", 2);
    });
    const [one, other] = ["min", "max"].map(
      (end) => `(SELECT ${end}(seq) FROM events WHERE kind IN ${kindOf("approval.requested")})`,
    );
    await tamper(join(directory, "data/sessions.db"), (database) =>
      database.exec(`CREATE TEMP TABLE exchanged AS
          SELECT seq, body, CASE seq WHEN ${one} THEN ${other} ELSE ${one} END AS place
          FROM events WHERE seq IN (${one}, ${other});
        UPDATE events SET body = (SELECT body FROM exchanged WHERE place = events.seq)
          WHERE seq IN (SELECT seq FROM exchanged)`),
    );
    const { status, stdout } = await run("sessions", "audit", "latest", ...place);
    expect(status).toBe(1);
    expect(stdout.match(/forged +save_note: approval requested/g)).toHaveLength(2);
  });

  it.each([
    ["the grant.revoked that was its last receipt", "grant.revoked", 1],
    ["all of its receipts", "policy.decided", 7],
  ])("audit detects a log truncated before %s [W-09]", async (_, type, count) => {
    const { directory, place, run } = await noteSaved(async (post, file, sessionId) => {
      const { grantId } = Object(await followed(file, sessionId, "grant.added"));
      expect((await post("commands", { type: "revoke", grantId })).status).toBe(200);
    });
    const before = await run("sessions", "audit", "latest", ...place);
    expect([before.status, before.stderr]).toEqual([0, ""]);
    await tamper(join(directory, "data/sessions.db"), (database) =>
      database.exec(`DELETE FROM events
          WHERE seq >= (SELECT min(seq) FROM events WHERE kind IN ${kindOf(type)});
        UPDATE sessions SET seq = (SELECT max(seq) FROM events)`),
    );
    const { status, stdout } = await run("sessions", "audit", "latest", ...place);
    expect(status).toBe(1);
    expect(stdout).toMatch(/the log was truncated: \d receipts? at its end (was|were) removed/);
    expect(stdout).toContain("Some are missing.");
    const json = await run("sessions", "audit", "latest", ...place, "--json");
    expect([json.status, JSON.parse(json.stdout)]).toMatchObject([1, { missingAtEnd: count }]);
  });

  it("audit detects an older copy of the database [W-09]", async () => {
    let copy = "";
    const { directory, place, run } = await noteSaved(async (post, file, sessionId) => {
      copy = `${file}.copy`;
      await tamper(file, (database) => database.exec(`VACUUM INTO '${copy}'`));
      const { grantId } = Object(await followed(file, sessionId, "grant.added"));
      expect((await post("commands", { type: "revoke", grantId })).status).toBe(200);
    });
    for (const end of ["-wal", "-shm"])
      rmSync(join(directory, `data/sessions.db${end}`), { force: true });
    renameSync(copy, join(directory, "data/sessions.db"));
    const { status, stdout } = await run("sessions", "audit", "latest", ...place);
    expect(status).toBe(1);
    expect(stdout).toContain("the log was truncated: 1 receipt at its end was removed");
  });
});
