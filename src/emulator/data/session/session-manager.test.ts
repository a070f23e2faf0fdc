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

/** A turn of a session that asks its name; gives back how many messages there were before. */
function turn(all: SessionManager, id: string): Promise<number> {
  return all.useSession(OWNER, id, async (session) => {
    const before = session.messages.length;
    const open = await session.startTurn([{ role: "user", content: [{ text: id }] }], () => {});
    await open.finish([{ role: "assistant", content: [{ text: "ok" }] }], null);
    return before;
  });
}

const ids = Array.from({ length: 1000 }, (_, number) => `session-${number}`);

describe("sessions with files behind them", () => {
  it("are let go from memory but for the last, and are found again", async () => {
    const clock = createFakeClock();
    const dataDirectory = dataFolder();
    const all = createSessionManager({ clock, switches: parseSwitches(), dataDirectory });
    for (const id of ids) await turn(all, id);
    expect(all.heldCount).toBe(MAX_IDLE_SESSIONS);
    // Those that were let go wait for nothing any more.
    expect(clock.pending).toBe(MAX_IDLE_SESSIONS);
    expect(readdirSync(join(dataDirectory, "sessions"))).toHaveLength(ids.length);
    expect(await turn(all, "session-0")).toBe(2);
    expect(await turn(all, "session-999")).toBe(2);
    await all.close();
    expect(clock.pending).toBe(0);
  });

  it("stay while something runs in them, however many they are", async () => {
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

  it("are the same one for all who use it at once", async () => {
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

describe("sessions without files", () => {
  it("are all held until they end, and none after", async () => {
    const clock = createFakeClock();
    const all = createSessionManager({ clock, switches: parseSwitches() });
    for (const id of ids) await turn(all, id);
    expect(all.heldCount).toBe(ids.length);
    clock.advance(900_000);
    await eventually(() => expect(all.heldCount).toBe(0));
    expect(clock.pending).toBe(0);
    await all.close();
  });

  it("are let go when they are stopped, and by a stop of what nobody started", async () => {
    const all = createSessionManager({ clock: createFakeClock(), switches: parseSwitches() });
    await turn(all, "session-0");
    expect(await all.stop("arn", "session-0")).toBe("now");
    expect(await all.stop("arn", "session-1")).toBe("unknown");
    expect(all.heldCount).toBe(0);
    await all.close();
  });

  it("are kept where memory brings them back", async () => {
    const clock = createFakeClock();
    const switches = parseSwitches({ reviveWithMemory: "remember" });
    const all = createSessionManager({ clock, switches });
    await turn(all, "session-0");
    clock.advance(900_000);
    expect(await turn(all, "session-0")).toBe(2);
    await all.close();
  });
});
