import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { defineAgent } from "../../src/bridge/agent/define-agent.ts";
import type { Agent } from "../../src/session/runtime/agent/agent.ts";
import { createSessions, type RunningSessions } from "../../src/session/runtime/create-sessions.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import type { Store } from "../../src/store/store.ts";
import type { StdioServerSettings } from "../../src/tools/mcp/mcp-server-settings.ts";
import { bundleInto } from "../support/bundle-program.ts";
import { createFakeClock, type FakeClock } from "../support/fake-clock.ts";
import { eventually } from "../support/eventually.ts";
import { expectGone, isAlive } from "../support/processes.ts";
import { says, createScriptedProvider, wants } from "../support/session/scripted-provider.ts";
import { ME, readUntil } from "../support/session/session-world.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "spanline-mcp-sessions-")));
const pidFile = join(folder, "pid");
let program = "";

beforeAll(async () => {
  program = await bundleInto(folder, "hostile-server.ts");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** An agent which requests its server's process id in every turn. */
function agentWith(
  mode: string,
  clock: FakeClock,
  more: Partial<StdioServerSettings> = {},
): { readonly agent: Agent; readonly reports: unknown[] } {
  rmSync(pidFile, { force: true });
  const reports: unknown[] = [];
  const turn = (id: string) => [wants({ id, name: "h__pid", input: {} }), says("Done.")];
  const server = {
    type: "stdio",
    name: "h",
    command: process.execPath,
    args: [program, mode],
    env: { PID_FILE: pidFile },
    ...more,
  } as const;
  const agent = defineAgent({
    name: "a",
    provider: createScriptedProvider([...turn("c1"), ...turn("c2"), ...turn("c3")]),
    approvals: { allow: ["*"] },
    mcp: {
      servers: [server],
      version: "1",
      clock,
      environment: { PATH: process.env["PATH"] },
      report: (error) => void reports.push(error),
    },
  });
  return { agent, reports };
}

function running(
  agent: Agent,
  clock: FakeClock,
  store: Store = createMemoryStore(),
): RunningSessions {
  const sessions = createSessions({ store, agents: [agent], clock, owner: "test" });
  onTestFinished(() => sessions.close());
  return sessions;
}

const startedPid = (): Promise<number> =>
  eventually(() => {
    const pid = Number(readFileSync(pidFile, "utf8"));
    expect(pid).toBeGreaterThan(0);
    return pid;
  });

describe("Sessions whose server does not answer yet", () => {
  it("Closing all sessions aborts the opening session at once and ends its server", async () => {
    const clock = createFakeClock();
    const { agent, reports } = agentWith("silent", clock);
    const sessions = running(agent, clock);
    const opening = sessions.open({ principal: ME, sessionId: "s" });
    const refused = opening.catch((error: unknown) => error);
    const pid = await startedPid();
    // The clock does not advance, so waiting for the server's time limit would never end.
    await sessions.close();
    expect(await refused).toMatchObject({ code: "aborted" });
    await expectGone(pid);
    expect(reports).toEqual([]);
  });

  it("Deleting a session aborts its opening at once", async () => {
    const clock = createFakeClock();
    const store = createMemoryStore();
    const { spec, digest, provider, tools } = agentWith("", clock).agent;
    const before = running({ spec, digest, provider, tools }, clock, store);
    await before.open({ principal: ME, sessionId: "s" });
    await before.close();
    const sessions = running(agentWith("silent", clock).agent, clock, store);
    const prompt = { type: "prompt", content: [{ type: "text", text: "Hello" }] } as const;
    const refused = sessions
      .command("s", prompt, { principal: ME })
      .catch((error: unknown) => error);
    const pid = await startedPid();
    await sessions.delete("s");
    expect(await refused).toMatchObject({ code: "aborted" });
    await expectGone(pid);
    expect(await sessions.find("s")).toBe(undefined);
  });
});

describe("Idle sessions", () => {
  /** Submits a prompt and returns the server's process id. */
  async function pidOf(sessions: RunningSessions, turns: number): Promise<number> {
    const content = [{ type: "text", text: "Who are you?" }] as const;
    await sessions.command("s", { type: "prompt", content }, { principal: ME });
    let ended = 0;
    const seen = await readUntil(sessions, "s", ({ event }) => {
      if (event.type === "turn.finished") ended += 1;
      return ended === turns;
    });
    const results = seen.flatMap(({ event }) => (event.type === "tool.finished" ? [event] : []));
    const [part] = results.at(-1)?.result.parts ?? [];
    return Number(part?.type === "text" ? part.text : Number.NaN);
  }

  async function passMinutes(clock: FakeClock, minutes: number): Promise<void> {
    for (let at = 0; at < minutes; at += 1) {
      clock.advance(60_000);
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
  }

  it("An idle session keeps its server for 15 minutes and starts it again on its next use", async () => {
    const clock = createFakeClock();
    const sessions = running(agentWith("", clock).agent, clock);
    await sessions.open({ principal: ME, sessionId: "s" });
    const first = await pidOf(sessions, 1);
    await passMinutes(clock, 14);
    expect(isAlive(first)).toBe(true);
    expect(await pidOf(sessions, 2)).toBe(first);
    await passMinutes(clock, 16);
    await expectGone(first);
    const next = await pidOf(sessions, 3);
    expect(isAlive(next)).toBe(true);
    expect(next).not.toBe(first);
  });

  it("An idle session keeps its server as long as idleMs says", async () => {
    const clock = createFakeClock();
    const sessions = running(agentWith("", clock, { idleMs: 120_000 }).agent, clock);
    await sessions.open({ principal: ME, sessionId: "s" });
    const pid = await pidOf(sessions, 1);
    await passMinutes(clock, 1);
    expect(isAlive(pid)).toBe(true);
    await passMinutes(clock, 2);
    await expectGone(pid);
  });
});
