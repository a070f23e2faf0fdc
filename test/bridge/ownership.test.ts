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

describe.skipIf(process.platform === "win32")("Socket of an owner", () => {
  it("The owner's socket can be opened by its user only", async () => {
    const directory = temporaryFolder();
    await bridgeOn(directory).getOwnership();
    const { address } = JSON.parse(await readFile(join(directory, "bridge.json"), "utf8"));
    expect((statSync(address).mode & 0o777).toString(8)).toBe("600");
  });
});

describe("Owner with a failing disk", () => {
  it("The owner releases the directory, and a joined process runs the command once", async () => {
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
      /^SpanlineError: This process can no longer write the sessions in .* and releases them .*EIO/,
    );
    // The former owner is now a joined process.
    const again = await failing.sessions.command(sessionId, PROMPT, SENDER);
    expect([again.status, (await failing.getOwnership()).isOwner]).toEqual(["accepted", false]);
    const types = await logOf(directory, sessionId);
    expect(types.filter((type) => type === "prompt.accepted")).toHaveLength(2);
  });

  it("A former owner continues with the next owner, whatever its configuration", async () => {
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

  it("The ownership names the configuration that the agents were built from", async () => {
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

  it("A command fails with the reason while the disk fails, and works afterwards", async () => {
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

describe("Owner that exits", () => {
  it("A joined process becomes the owner even without a request", async () => {
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

  it("A bridge closed during its start closes its agents and releases the lock", async () => {
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

  it("The owner releases a directory whose lock file was removed", async () => {
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

describe("Owner that accepts connections and does not respond", () => {
  it("A process waits for the owner and reports it", async () => {
    const directory = temporaryFolder();
    const address = join(directory, "silent.sock");
    const lock = await acquireOwnerLock(join(directory, "owner.lock"));
    const server = createServer((socket) => void socket.on("error", () => {}));
    server.listen(address);
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const file = { address, token: "t", version: "1", pid: 1 };
    await writeFile(join(directory, "bridge.json"), JSON.stringify(file));
    const reportedErrors: unknown[] = [];
    // This clock runs ten times as fast.
    const clock = {
      ...systemClock,
      monotonic: () => systemClock.monotonic() * 10,
      schedule: (milliseconds: number, run: () => void) =>
        systemClock.schedule(milliseconds / 10, run),
    };
    const onWaiting = (owner: unknown): void => void reportedErrors.push(owner);
    const { signal } = new AbortController();
    const locked = lockOrJoin({ directory, version: "1", clock, signal, onWaiting });
    await eventually(() => expect(reportedErrors).toEqual([file]));
    lock?.release();
    const { lock: mine } = await locked;
    expect([reportedErrors.length, mine?.isHeld()]).toEqual([1, true]);
    mine?.release();
  });
});

describe("New owner", () => {
  it("A process that read the previous owner's address joins the new owner", async () => {
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

describe("Delete without an owner", () => {
  it("A delete opens no socket, and a process that starts meanwhile becomes the owner afterwards", async () => {
    const directory = temporaryFolder();
    const first = openBridge(optionsFor(directory));
    const opened = [
      await first.sessions.open({ principal: ME }),
      await first.sessions.open({ principal: ME }),
    ];
    await first.close();
    // A folder in place of the file makes publishing an address fail.
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

describe("Sessions that cannot start", () => {
  /** A closed store has an empty or no write-ahead log. */
  const isClosed = (directory: string): boolean => {
    const wal = statSync(join(directory, "sessions.db-wal"), { throwIfNoEntry: false });
    return wal === undefined || wal.size === 0;
  };

  it("The store is closed if the agents cannot start", async () => {
    const directory = temporaryFolder();
    const options = optionsFor(directory, { agents: () => Promise.reject(new Error("no agents")) });
    await expect(startSessions(options, () => {})).rejects.toThrow("no agents");
    expect(isClosed(directory)).toBe(true);
  });

  it("The store and the agents are closed if the sessions cannot be resumed", async () => {
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
