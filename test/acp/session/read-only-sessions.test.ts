import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { RunningSessions } from "../../../src/session/runtime/create-sessions.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { tamper } from "../../store/sqlite-support.ts";
import { connectAcpClient, USER, type AcpClient } from "../../support/acp/acp-client.ts";
import { eventually } from "../../support/eventually.ts";
import { createScriptedProvider, says } from "../../support/session/scripted-provider.ts";
import { createAgent, openSessions } from "../../support/session/session-world.ts";

const SETUP = { cwd: "/work", mcpServers: [] };

interface DamagedSession {
  readonly sessions: RunningSessions;
  readonly sessionId: string;
}

/** A session whose file was changed with some SQL afterwards. `PLACE` is the sequence number of the second answer. */
async function createDamagedSession(sql: string): Promise<DamagedSession> {
  const directory = mkdtempSync(join(tmpdir(), "spanline-read-only-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, "sessions.db");
  const open = async (): Promise<RunningSessions & { closeStore(): Promise<void> }> => {
    const store = await openSqliteStore({ file });
    const provider = createScriptedProvider([
      says("First answer"),
      says("Second answer"),
      says("Third"),
    ]);
    const sessions = openSessions(store, createAgent({ provider }));
    const closeStore = async (): Promise<void> => {
      await sessions.close();
      await store.close();
    };
    return { ...sessions, closeStore };
  };
  const before = await open();
  const client = await connectAcpClient(before);
  const sessionId = await client.newSession();
  const submit = (text: string): Promise<unknown> =>
    client.requestResult("session/prompt", createPrompt(sessionId, text));
  await submit("One");
  await submit("Two");
  if (sql === BEHIND_SNAPSHOT) {
    // A snapshot is saved at the end of a turn, at most once per 500 events.
    for (let number = 0; number < 500; number += 1) {
      const title = `Title ${number}`;
      await before.command(sessionId, { type: "set-title", title }, { principal: USER });
    }
    await submit("Again");
  }
  client.socket.end();
  await client.done;
  await before.closeStore();
  await tamper(file, (database) => {
    const snapshots = database.prepare("SELECT * FROM snapshots").all();
    expect(snapshots).toHaveLength(sql === BEHIND_SNAPSHOT ? 1 : 0);
    database.exec(sql.replaceAll("PLACE", SECOND_ANSWER));
  });
  const sessions = await open();
  onTestFinished(() => sessions.closeStore());
  return { sessions, sessionId };
}

const SECOND_ANSWER = `(SELECT max(seq) FROM events WHERE body LIKE '%Second answer%')`;
const UNREADABLE = "UPDATE events SET body = 'x' WHERE seq = PLACE";
const MISSING = "DELETE FROM events WHERE seq = PLACE";
const NEWER = `INSERT INTO kinds (type, version) VALUES ('weather.changed', 1);
  UPDATE events SET kind = (SELECT id FROM kinds WHERE type = 'weather.changed') WHERE seq = PLACE`;
/** The snapshot contains the state, so the session itself could continue. */
const BEHIND_SNAPSHOT = "UPDATE events SET body = 'y' WHERE seq = PLACE";

function createPrompt(sessionId: string, text: string): object {
  return { sessionId, prompt: [{ type: "text", text }] };
}

/** The texts that a client received, in order. */
function listTexts(client: AcpClient): readonly string[] {
  return client
    .listUpdates()
    .flatMap(({ sessionUpdate, content }) =>
      sessionUpdate === "agent_message_chunk" || sessionUpdate === "user_message_chunk"
        ? [String(Object(content)["text"])]
        : [],
    );
}

describe.each([
  ["an unreadable event", UNREADABLE, "store_damaged", /cannot be read/],
  ["a missing event", MISSING, "store_damaged", /is read-only: its log has/],
  ["an event of a newer version", NEWER, "store_newer", /newer version of Spanline/],
  ["an unreadable event before its snapshot", BEHIND_SNAPSHOT, "store_damaged", /cannot be read/],
] as const)("Session with %s", (_, sql, code, message) => {
  const reason = { code, message: expect.stringMatching(message) };

  it("session/load sends the readable history and opens the session read-only [ACP-54]", async () => {
    const { sessions, sessionId } = await createDamagedSession(sql);
    const client = await connectAcpClient(sessions);
    await client.request("initialize", {});
    const result = await client.requestResult("session/load", { sessionId, ...SETUP });
    expect(result).toEqual({ _meta: { harn: { readOnly: reason } } });
    const texts = listTexts(client);
    expect(texts.slice(0, 3)).toEqual(["One", "First answer", "Two"]);
    expect(texts.at(-1)).toMatch(
      /^This session is read-only: prompts are refused\. (Session|Event) /,
    );
    for (const text of ["Three", "Four", "/status"]) {
      const { error } = await client.request("session/prompt", createPrompt(sessionId, text));
      expect(error).toMatchObject({ code: -32603, message: reason.message, data: reason });
    }
    expect(listTexts(client)).toEqual(texts);
  });

  it("session/resume opens the session read-only and sends no history [ACP-57]", async () => {
    const { sessions, sessionId } = await createDamagedSession(sql);
    const client = await connectAcpClient(sessions);
    await client.request("initialize", {});
    const result = await client.requestResult("session/resume", { sessionId, ...SETUP });
    expect(result).toEqual({ _meta: { harn: { readOnly: reason } } });
    expect(listTexts(client)).toEqual([expect.stringMatching(/is read-only/)]);
  });

  it("A prompt and a mode change without a load fail with the reason [ACP-58]", async () => {
    const { sessions, sessionId } = await createDamagedSession(sql);
    const client = await connectAcpClient(sessions);
    await client.request("initialize", {});
    const answers = [
      await client.request("session/prompt", createPrompt(sessionId, "Three")),
      await client.request("session/set_mode", { sessionId, modeId: "read-only" }),
    ];
    for (const { error } of answers) expect(error).toMatchObject({ data: reason });
  });
});

it("A client that can only read a session does not keep control of it [B-204]", async () => {
  const { sessions, sessionId } = await createDamagedSession(BEHIND_SNAPSHOT);
  const client = await connectAcpClient(sessions);
  await client.request("initialize", {});
  await client.requestResult("session/load", { sessionId, ...SETUP });
  await eventually(async () => expect((await sessions.status(sessionId)).clients).toEqual([]));
  await client.request("session/prompt", createPrompt(sessionId, "Three"));
  await eventually(async () => expect((await sessions.status(sessionId)).clients).toEqual([]));
});

it("A host that attaches to a damaged session is an observer and receives the reason [B-197]", async () => {
  const { sessions, sessionId } = await createDamagedSession(MISSING);
  const host = await connectAcpClient(sessions);
  await host.request("initialize", { clientCapabilities: { _meta: { harn: {} } } });
  const seconds = expect.stringMatching(/^\d{10}$/);
  const client = {
    client_id: "tui",
    mode: "observer",
    attached_at: seconds,
    last_seen_at: seconds,
    prompt_injection: false,
    permission_routing: false,
    metadata: { surface: "tui" },
  };
  const attach = {
    sessionId,
    clientId: "tui",
    mode: "controller",
    _meta: { harn: { surface: "tui", attachSecret: "s3cret" } },
  };
  const message = expect.stringMatching(/is read-only/);
  const readOnly = { code: "store_damaged", message };
  expect(await host.requestResult("session/attach", attach)).toEqual({
    client,
    previous_controller_id: null,
    active_controller_id: null,
    clients: [client],
    _meta: { harn: { readOnly } },
  });
  const prompt = await host.request("session/prompt", createPrompt(sessionId, "Three"));
  expect(prompt["error"]).toMatchObject({ code: -32603, message, data: readOnly });
  const loaded = await host.requestResult("session/load", { sessionId, ...SETUP });
  expect(loaded).toEqual({ _meta: { harn: { readOnly } } });
  expect(listTexts(host)).toContain("First answer");
  expect((await sessions.find(sessionId))?.principal).toBe(USER.id);
});
