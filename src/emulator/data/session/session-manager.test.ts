import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { eventually } from "../../../../test/support/eventually.ts";
import { createFakeClock } from "../../../../test/support/fake-clock.ts";
import { parseSwitches } from "../../switches.ts";
import { MAX_IDLE_SESSIONS, createSessionManager, type SessionManager } from "./session-manager.ts";

const OWNER = {
  arn: "arn",
  lifecycle: { idleSeconds: 900, lifetimeSeconds: 28_800 },
  hasMemory: true,
};

function dataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "spanline-data-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs a turn with the session's id as the prompt. Returns the number of earlier messages. */
function turn(all: SessionManager, id: string): Promise<number> {
  return all.useSession(OWNER, id, async (session) => {
    const before = session.messages.length;
    const open = await session.startTurn([{ role: "user", content: [{ text: id }] }], () => {});
    await open.finish([{ role: "assistant", content: [{ text: "ok" }] }], null);
    return before;
  });
}

const ids = Array.from({ length: 1000 }, (_, number) => `session-${number}`);

describe("Sessions with files", () => {
  it("Idle sessions are evicted from memory except the last, and are loaded again on use", async () => {
    const clock = createFakeClock();
    const dataDirectory = dataFolder();
    const all = createSessionManager({ clock, switches: parseSwitches(), dataDirectory });
    for (const id of ids) await turn(all, id);
    expect(all.heldCount).toBe(MAX_IDLE_SESSIONS);
    // An evicted session has no timer.
    expect(clock.pending).toBe(MAX_IDLE_SESSIONS);
    expect(readdirSync(join(dataDirectory, "sessions"))).toHaveLength(ids.length);
    expect(await turn(all, "session-0")).toBe(2);
    expect(await turn(all, "session-999")).toBe(2);
    await all.close();
    expect(clock.pending).toBe(0);
  });

  it("Busy sessions are not evicted, however many there are", async () => {
    const all = createSessionManager({
      clock: createFakeClock(),
      switches: parseSwitches(),
      dataDirectory: dataFolder(),
    });
    const busy = ids.slice(0, MAX_IDLE_SESSIONS + 50);
    const opened = await Promise.all(
      busy.map((id) => all.useSession(OWNER, id, (session) => session.startTurn([], () => {}))),
    );
    expect(all.heldCount).toBe(busy.length);
    for (const open of opened) await open.finish([], null);
    expect(all.heldCount).toBe(MAX_IDLE_SESSIONS);
    await all.close();
  });

  it("Concurrent users of a session share the same object", async () => {
    const all = createSessionManager({
      clock: createFakeClock(),
      switches: parseSwitches(),
      dataDirectory: dataFolder(),
    });
    await all.useSession(OWNER, "session-0", async (session) => {
      for (const id of ids.slice(1, MAX_IDLE_SESSIONS + 50)) await turn(all, id);
      await all.useSession(OWNER, "session-0", async (other) => expect(other).toBe(session));
    });
    await all.close();
  });
});

describe("Sessions without files", () => {
  it("All sessions stay in memory until they end", async () => {
    const clock = createFakeClock();
    const all = createSessionManager({ clock, switches: parseSwitches() });
    for (const id of ids) await turn(all, id);
    expect(all.heldCount).toBe(ids.length);
    clock.advance(900_000);
    await eventually(() => expect(all.heldCount).toBe(0));
    expect(clock.pending).toBe(0);
    await all.close();
  });

  it("A stopped session and an unknown session are removed from memory", async () => {
    const all = createSessionManager({ clock: createFakeClock(), switches: parseSwitches() });
    await turn(all, "session-0");
    expect(await all.stop("arn", "session-0")).toBe("now");
    expect(await all.stop("arn", "session-1")).toBe("unknown");
    expect(all.heldCount).toBe(0);
    await all.close();
  });

  it("An ended session stays in memory if its messages can be restored", async () => {
    const clock = createFakeClock();
    const switches = parseSwitches({ reviveWithMemory: "remember" });
    const all = createSessionManager({ clock, switches });
    await turn(all, "session-0");
    clock.advance(900_000);
    expect(await turn(all, "session-0")).toBe(2);
    await all.close();
  });
});
