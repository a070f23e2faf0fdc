import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { eventually } from "../support/eventually.ts";
import { pause } from "../../src/async/pause.ts";
import type { BridgeOptions } from "../../src/bridge/bridge-options.ts";
import { deleteSession } from "../../src/bridge/owner/delete-session.ts";
import { lockOrJoin } from "../../src/bridge/owner/lock-or-join.ts";
import { openBridge, type Bridge } from "../../src/bridge/open-bridge.ts";
import { startSessions } from "../../src/bridge/start-sessions.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { acquireOwnerLock } from "../../src/store/sqlite/file/owner-lock.ts";
import { says, createScriptedProvider } from "../support/session/scripted-provider.ts";
import { createAgent, ME } from "../support/session/session-world.ts";
import { tamper, temporaryFolder } from "../store/sqlite-support.ts";

function optionsFor(directory: string, more: Partial<BridgeOptions> = {}): BridgeOptions {
  const agents = [createAgent({ provider: createScriptedProvider([says("Hello")]) })];
  return {
    directory,
    version: "1",
    clock: systemClock,
    agents: async () => ({ agents, close: async () => {} }),
    report() {},
    ...more,
  };
}

function bridgeOn(directory: string, more: Partial<BridgeOptions> = {}): Bridge {
  const bridge = openBridge(optionsFor(directory, more));
  onTestFinished(() => bridge.close());
  return bridge;
}

const { signal: never } = new AbortController();
const PROMPT = { type: "prompt", content: [{ type: "text", text: "Hi" }] } as const;
const SENDER = { principal: ME };

async function logOf(directory: string, sessionId: string): Promise<readonly string[]> {
  const store = await openSqliteStore({ file: join(directory, "sessions.db"), readOnly: true });
  const events = await store.read(sessionId, 0, 1000);
  await store.close();
  return events.map(({ event }) => event.type);
}

describe.skipIf(process.platform === "win32")("the socket of an owner", () => {
  it("The owner's socket can be opened by its user only", async () => {
    const directory = temporaryFolder();
    await bridgeOn(directory).getOwnership();
    const { address } = JSON.parse(await readFile(join(directory, "bridge.json"), "utf8"));
    expect((statSync(address).mode & 0o777).toString(8)).toBe("600");
  });
});

describe("an owner whose disk fails", () => {
  it("lets go, and a joined process does what it was asked, once", async () => {
    const directory = temporaryFolder();
    const reports: unknown[] = [];
    let isFailing = false;
    const failing = bridgeOn(directory, {
      report: (error) => reports.push(error),
      async datasync(wal) {
        if (isFailing) throw new Error("EIO: i/o error, fdatasync");
        await wal.datasync();
      },
    });
    const { sessionId } = await failing.sessions.open({ principal: ME });
    const other = bridgeOn(directory);
    expect(await other.getOwnership()).toMatchObject({ isOwner: false, pid: process.pid });
    isFailing = true;
    const reply = await other.sessions.command(sessionId, PROMPT, SENDER);
    expect([reply.status, (await other.getOwnership()).isOwner]).toEqual(["accepted", true]);
    expect(String(reports[0])).toMatch(
      /^SpanlineError: The sessions in .* can no longer be written here and are let go, .*EIO/,
    );
    // The one that let go is now joined itself.
    const again = await failing.sessions.command(sessionId, PROMPT, SENDER);
    expect([again.status, (await failing.getOwnership()).isOwner]).toEqual(["accepted", false]);
    const types = await logOf(directory, sessionId);
    expect(types.filter((type) => type === "prompt.accepted")).toHaveLength(2);
  });

  it("goes on with the next owner, whatever configuration that has", async () => {
    const directory = temporaryFolder();
    const file = join(temporaryFolder(), "spanline.config.json");
    await writeFile(file, "{}");
    let isFailing = false;
    const failing = bridgeOn(directory, {
      config: { file, isExplicit: true },
      async datasync(wal) {
        if (isFailing) throw new Error("EIO: i/o error, fdatasync");
        await wal.datasync();
      },
    });
    const { sessionId } = await failing.sessions.open({ principal: ME });
    const other = bridgeOn(directory);
    await other.getOwnership();
    isFailing = true;
    await other.sessions.command(sessionId, PROMPT, SENDER);
    rmSync(file);
    const again = await failing.sessions.command(sessionId, PROMPT, SENDER);
    expect([again.status, (await failing.getOwnership()).isOwner]).toEqual(["accepted", false]);
  });

  it("names the configuration that its agents were really made of", async () => {
    const directory = temporaryFolder();
    const file = join(temporaryFolder(), "spanline.config.json");
    await writeFile(file, "{}");
    const used = { file, digest: "of the text that was read" };
    const agents = async () => ({ ...(await optionsFor(directory).agents()), config: used });
    const bridge = bridgeOn(directory, { config: { file, isExplicit: true }, agents });
    expect((await bridge.getOwnership()).config).toEqual(used);
    const { config } = JSON.parse(await readFile(join(directory, "bridge.json"), "utf8"));
    expect(config).toEqual(used);
  });

  it("says why to whoever asks, as long as nobody can write", async () => {
    let isFailing = false;
    const bridge = bridgeOn(temporaryFolder(), {
      async datasync(wal) {
        if (isFailing) throw new Error("ENOSPC");
        await wal.datasync();
      },
    });
    const { sessionId } = await bridge.sessions.open({ principal: ME });
    isFailing = true;
    await expect(bridge.sessions.command(sessionId, PROMPT, SENDER)).rejects.toMatchObject({
      code: "store_failed",
    });
    isFailing = false;
    const reply = await bridge.sessions.command(sessionId, PROMPT, SENDER);
    expect(reply.status).toBe("accepted");
  });
});

describe("an owner that goes", () => {
  it("is followed by a joined process also when nobody looks at a session there", async () => {
    const directory = temporaryFolder();
    const first = openBridge(optionsFor(directory));
    await first.getOwnership();
    let starts = 0;
    const second = bridgeOn(directory, {
      agents: async () => {
        starts += 1;
        return { agents: [], close: async () => {} };
      },
    });
    await second.getOwnership();
    await first.close();
    await eventually(() => expect(starts).toBe(1));
  });

  it("is closed when it had only begun to start", async () => {
    const directory = temporaryFolder();
    const close = vi.fn<() => Promise<void>>(async () => {});
    let go = (): void => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    const agents = vi.fn<BridgeOptions["agents"]>(async () => {
      await gate;
      return { agents: [], close };
    });
    const bridge = openBridge(optionsFor(directory, { agents }));
    const joined = bridge.getOwnership().catch(() => {});
    await eventually(() => expect(agents).toHaveBeenCalled());
    const closed = bridge.close();
    go();
    await Promise.all([joined, closed]);
    expect(close).toHaveBeenCalledTimes(1);
    const lock = await acquireOwnerLock(join(directory, "owner.lock"));
    expect(lock).toBeDefined();
    lock?.release();
  });

  it("lets go of a directory whose lock somebody removed", async () => {
    const directory = temporaryFolder();
    const agents = () => Promise.resolve({ agents: [], close: () => Promise.resolve() });
    const first = openBridge(optionsFor(directory, { agents }));
    onTestFinished(() => first.close());
    expect(await first.getOwnership()).toMatchObject({ isOwner: true });
    rmSync(join(directory, "owner.lock"));
    const second = openBridge(optionsFor(directory, { agents }));
    onTestFinished(() => second.close());
    expect(await second.getOwnership()).toMatchObject({ isOwner: true });
    await eventually(async () =>
      expect(await first.getOwnership()).toMatchObject({ isOwner: false }),
    );
  });
});

describe("an owner that accepts and does not answer", () => {
  it("is waited for, and that is said", async () => {
    const directory = temporaryFolder();
    const address = join(directory, "silent.sock");
    const lock = await acquireOwnerLock(join(directory, "owner.lock"));
    const server = createServer((socket) => void socket.on("error", () => {}));
    server.listen(address);
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const file = { address, token: "t", version: "1", pid: 1 };
    await writeFile(join(directory, "bridge.json"), JSON.stringify(file));
    const told: unknown[] = [];
    // Its time passes ten times as fast.
    const clock = {
      ...systemClock,
      monotonic: () => systemClock.monotonic() * 10,
      schedule: (milliseconds: number, run: () => void) =>
        systemClock.schedule(milliseconds / 10, run),
    };
    const onWaiting = (owner: unknown): void => void told.push(owner);
    const { signal } = new AbortController();
    const locked = lockOrJoin({ directory, version: "1", clock, signal, onWaiting });
    await eventually(() => expect(told).toEqual([file]));
    lock?.release();
    const { lock: mine } = await locked;
    expect([told.length, mine?.isHeld()]).toEqual([1, true]);
    mine?.release();
  });
});

describe("an owner that has just taken over", () => {
  it("is joined also by one that had read where the owner before was", async () => {
    const directory = temporaryFolder();
    await bridgeOn(directory).getOwnership();
    const file = join(directory, "bridge.json");
    const written = await readFile(file, "utf8");
    await writeFile(file, JSON.stringify({ ...JSON.parse(written), token: "of the one before" }));
    const joined = bridgeOn(directory).getOwnership();
    await Promise.race([joined, pause(systemClock, 200, never)]);
    await writeFile(file, written);
    expect(await joined).toMatchObject({ isOwner: false });
  });
});

describe("deleting where nobody runs the sessions", () => {
  it("listens nowhere, and whoever comes meanwhile runs them afterwards", async () => {
    const directory = temporaryFolder();
    const first = openBridge(optionsFor(directory));
    const opened = [
      await first.sessions.open({ principal: ME }),
      await first.sessions.open({ principal: ME }),
    ];
    await first.close();
    // What would have to be written to be found.
    mkdirSync(join(directory, "bridge.json"));
    const [one, two] = opened.map(({ sessionId }) => sessionId);
    expect(await deleteSession(one ?? "", optionsFor(directory))).toBe(true);
    expect(readdirSync(directory).filter((name) => name.endsWith(".sock"))).toEqual([]);
    rmSync(join(directory, "bridge.json"), { recursive: true });
    const [isDeleted, session] = await Promise.all([
      deleteSession(two ?? "", optionsFor(directory)),
      bridgeOn(directory).sessions.open({ principal: ME }),
    ]);
    expect([isDeleted, session.agent]).toEqual([true, "demo"]);
    expect(await bridgeOn(directory).sessions.find(two ?? "")).toBeUndefined();
  });
});

describe("sessions that cannot be started", () => {
  /** A store that was closed has nothing left in the file beside it. */
  const isClosed = (directory: string): boolean => {
    const wal = statSync(join(directory, "sessions.db-wal"), { throwIfNoEntry: false });
    return wal === undefined || wal.size === 0;
  };

  it("leave no store behind when their agents cannot be", async () => {
    const directory = temporaryFolder();
    const options = optionsFor(directory, { agents: () => Promise.reject(new Error("no agents")) });
    await expect(startSessions(options, () => {})).rejects.toThrow("no agents");
    expect(isClosed(directory)).toBe(true);
  });

  it("leave neither store nor agents behind when they cannot be taken up", async () => {
    const directory = temporaryFolder();
    const begun = await startSessions(optionsFor(directory), () => {});
    await begun.sessions.open({ principal: ME });
    await begun.close();
    await tamper(join(directory, "sessions.db"), (database) =>
      database.exec("UPDATE sessions SET state = 'lost'"),
    );
    const close = vi.fn<() => Promise<void>>(async () => {});
    const options = optionsFor(directory, { agents: async () => ({ agents: [], close }) });
    await expect(startSessions(options, () => {})).rejects.toMatchObject({
      code: "store_damaged",
    });
    expect([close.mock.calls.length, isClosed(directory)]).toEqual([1, true]);
  });
});
