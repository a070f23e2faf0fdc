import { mkdtempSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent } from "../../src/bridge/agent/define-agent.ts";
import { emulate } from "../../src/emulator/emulate-agentcore.ts";
import { TEST_CREDENTIALS } from "../../src/emulator/emulator-options.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { harnessProvider } from "../../src/providers/agentcore/harness-provider.ts";
import { createSessions } from "../../src/session/runtime/create-sessions.ts";
import type { Sessions } from "../../src/session/sessions.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { computeMedian } from "../measure.ts";
import type { Row } from "../report.ts";

const PROMPTS = 60;
const principal = { id: "bench", rights: ["prompt", "approve", "control"] } as const;

/**
 * Time from a prompt to its first delta: directly from the provider, and through a session with its log on the disk.
 */
export async function measureFirstDelta(): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), "spanline-bench-"));
  const emulator = await emulate({
    brain: "echo",
    brains: { echo: { respond: () => Promise.resolve({ type: "steps", steps: STEPS }) } },
  });
  const provider = harnessProvider({
    harnessArn: emulator.demoArn,
    endpoint: emulator.url,
    credentials: TEST_CREDENTIALS,
  });
  const store = await openSqliteStore({ file: join(folder, "sessions.db") });
  const agents = [defineAgent({ name: "echo", provider })];
  const sessions = createSessions({ store, agents, clock: systemClock, owner: "bench" });
  const straight: number[] = [];
  const through: number[] = [];
  const synced: number[] = [];
  try {
    const { sessionId } = await sessions.open({ principal });
    for (let round = 0; round < PROMPTS; round++) {
      straight.push(await measureDirectDelta(provider));
      through.push(await measureSessionDelta(sessions, sessionId));
      synced.push(await measureSync(join(folder, "synced")));
    }
  } finally {
    await sessions.close();
    await store.close();
    await emulator.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return {
    title: "from a prompt to its first delta, through the log",
    unit: "ms",
    measured: [
      { name: "straight from the provider", rounds: straight.slice(10) },
      { name: "through a session on SQLite, synced", rounds: through.slice(10) },
      { name: "one sync of this disk", rounds: synced.slice(10) },
    ],
    growth: [],
    ratios: [
      {
        text: "session ÷ straight",
        value: computeMedian(through.slice(10)) / computeMedian(straight.slice(10)),
        target: 2,
        bound: "at most",
      },
    ],
  };
}

const STEPS = [
  { type: "start", role: "assistant" },
  { type: "text", text: "Hello" },
  { type: "stop", reason: "end_turn" },
] as const;

/** Appends a page and syncs it: an invocation starts only after its first event is on the disk. */
async function measureSync(path: string): Promise<number> {
  const file = await open(path, "a");
  const start = performance.now();
  await file.write(Buffer.alloc(4096));
  await file.datasync();
  const elapsed = performance.now() - start;
  await file.close();
  return elapsed;
}

/** Milliseconds from the invocation to its delta, without a session. */
async function measureDirectDelta(provider: ReturnType<typeof harnessProvider>): Promise<number> {
  const { signal } = new AbortController();
  const start = performance.now();
  let first = Number.NaN;
  const call = await provider.open().invoke({ type: "prompt", texts: ["Hi"] }, { signal });
  for await (const event of call) {
    if (event.type === "text.delta") first = performance.now() - start;
  }
  return first;
}

/** Milliseconds from the prompt command to its delta in the session's log. */
async function measureSessionDelta(sessions: Sessions, sessionId: string): Promise<number> {
  const end = new AbortController();
  const head = (await sessions.find(sessionId)) ?? { incarnation: "", seq: 0 };
  const stream = sessions.subscribe(sessionId, head, end.signal);
  const start = performance.now();
  const content = [{ type: "text", text: "Hi" }] as const;
  void sessions.command(sessionId, { type: "prompt", content }, { principal });
  let first = Number.NaN;
  for await (const { events } of stream) {
    for (const { event } of events) {
      if (event.type === "text.delta") first = performance.now() - start;
      if (event.type === "turn.finished") end.abort();
    }
  }
  return first;
}
