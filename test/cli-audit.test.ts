import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openSqliteStore } from "../src/store/sqlite/open-sqlite-store.ts";
import { tamper } from "./store/sqlite-support.ts";
import { commandLine, saying, type CommandLine } from "./support/command-line.ts";

let cli: CommandLine;

beforeAll(async () => {
  cli = await commandLine();
  return () => cli.close();
});

/** A directory in which somebody let the demo agent save a note, with the keys that signed it. */
async function noteSaved() {
  const directory = mkdtempSync(join(tmpdir(), "spanline-audit-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const environment = { XDG_STATE_HOME: join(directory, "state") };
  const place = ["--data-dir", join(directory, "data")];
  const child = cli.start(["up", "--port", "0", "--json", ...place], { environment });
  const { url, link, sessionId } = JSON.parse(await saying(child.stdout, "}\n"));
  const token = new URL(link).searchParams.get("token");
  const post = (path: string, body: object) =>
    fetch(`${url}/api/sessions/${sessionId}/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    });
  await post("prompt", { text: "Please save a note: buy milk" });
  const approvalId = await asked(join(directory, "data/sessions.db"), sessionId);
  const answer = { type: "answer", approvalId, decision: "allow-always" };
  expect((await post("commands", answer)).status).toBe(200);
  await ended(join(directory, "data/sessions.db"), sessionId);
  child.kill("SIGTERM");
  await new Promise((resolve) => child.once("exit", resolve));
  const run = (...args: readonly string[]) => cli.run([...args], { environment });
  return { directory, place, run, sessionId: String(sessionId) };
}

async function followed(file: string, sessionId: string, type: string): Promise<object> {
  const store = await openSqliteStore({ file, readOnly: true });
  const { signal } = new AbortController();
  try {
    for await (const { events } of store.subscribe(sessionId, undefined, signal)) {
      const found = events.find(({ event }) => event.type === type);
      if (found !== undefined) return found.event;
    }
    throw new Error(`There was no ${type}`);
  } finally {
    await store.close();
  }
}

async function asked(file: string, sessionId: string): Promise<string> {
  return Object(await followed(file, sessionId, "approval.requested")).approvalId;
}

async function ended(file: string, sessionId: string): Promise<void> {
  await followed(file, sessionId, "turn.finished");
}

describe("spanline sessions audit", () => {
  it("lists who let what run, says that nobody changed it, and finds it when somebody did [W-09]", async () => {
    const { directory, place, run } = await noteSaved();
    const before = await run("sessions", "audit", "latest", ...place);
    expect([before.status, before.stderr]).toEqual([0, ""]);
    expect(before.stdout).toContain("save_note: ask (require_approval[0])");
    expect(before.stdout).toContain("save_note: allow-always, answered");
    expect(before.stdout).toContain("save_note: allowed for good");
    expect(before.stdout).toMatch(/3 receipts, 3 valid\./);

    expect((await run("keys", "rotate")).status).toBe(0);
    expect((await run("sessions", "audit", "latest", ...place)).stdout).toContain("3 valid");

    await tamper(join(directory, "data/sessions.db"), (database) =>
      database.exec(`UPDATE events SET body = replace(body, '"person"', '"cancel"')`),
    );
    const after = await run("sessions", "audit", "latest", ...place);
    expect(after.status).toBe(1);
    expect(after.stdout).toContain("forged");
  });

  it("finds arguments in the log that are not those that were judged [W-09]", async () => {
    const { directory, place, run } = await noteSaved();
    const kind = "(SELECT id FROM kinds WHERE type = 'tool.called')";
    await tamper(join(directory, "data/sessions.db"), (database) =>
      database.exec(
        `UPDATE events SET body = replace(body, 'buy milk', 'buy wine') WHERE kind IN ${kind}`,
      ),
    );
    const { status, stdout } = await run("sessions", "audit", "latest", ...place);
    expect(status).toBe(1);
    expect(stdout).toContain("the log has other arguments of this call than were judged");
    expect(stdout).toContain("1 are about other arguments than the log has.");
  });

  it("finds receipts that were taken out, and says where [W-09]", async () => {
    const { directory, place, run } = await noteSaved();
    const file = join(directory, "data/sessions.db");
    const takeOut = (type: string) => {
      const kind = `(SELECT id FROM kinds WHERE type = '${type}')`;
      return tamper(file, (database) => database.exec(`DELETE FROM events WHERE kind IN ${kind}`));
    };
    await takeOut("policy.decided");
    const first = await run("sessions", "audit", "latest", ...place);
    expect(first.status).toBe(1);
    expect(first.stdout).toContain("before this one, a receipt was taken out");
    expect(first.stdout).toContain("Some are missing.");
    await takeOut("approval.resolved");
    await takeOut("grant.given");
    const last = await run("sessions", "audit", "latest", ...place);
    expect(last.status).toBe(1);
    expect(last.stdout).toContain("save_note: it was run, and there is no receipt for it");
  });

  it("says of keys that are not here that it cannot tell", async () => {
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
    ]);
  });
});
