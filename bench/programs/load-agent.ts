import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { defineAgent } from "../../src/bridge/agent/define-agent.ts";
import type { SessionEvent } from "../../src/domain/events/session-event.ts";
import { systemClock } from "../../src/platform/clock.ts";
import type { Provider } from "../../src/providers/provider.ts";
import { createSessions } from "../../src/session/runtime/create-sessions.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { serveAcp } from "../../src/surfaces/acp/connection/serve-acp.ts";

/**
 * Creates a session of 10,000 messages, loads it twice over ACP, and reports the longest tick of the event loop per
 * load.
 */
const TURNS = 5000;
const DELTA_TEXT = "Some words of an answer ";
const principal = { id: "bench", rights: ["prompt", "approve", "control"] } as const;

const folder = mkdtempSync(join(tmpdir(), "spanline-bench-"));
const file = join(folder, "sessions.db");
const provider: Provider = {
  name: "none",
  injectionPoints: ["turn-start"],
  effectFree: true,
  open: () => ({
    id: "none",
    invoke: () => Promise.reject(new Error("This provider is never invoked")),
  }),
};
const agents = [defineAgent({ name: "none", provider })];
const sessionId = await createStoredSession();
const store = await openSqliteStore({ file });
const sessions = createSessions({ store, agents, clock: systemClock, owner: "bench" });
const input = new PassThrough();
const output = new PassThrough();
const service = serveAcp({ sessions, input, output, principal, log: () => {} });
await sendRequest(1, "initialize", { protocolVersion: 1, clientCapabilities: {} });
const first = await measureLoad(2);
const again = await measureLoad(3);
input.end();
await service;
await sessions.close();
await store.close();
rmSync(folder, { recursive: true, force: true });
process.send?.({ first, again }, () => process.exit());

async function measureLoad(id: number): Promise<number> {
  let longest = 0;
  let last = readCpuMs();
  let isOver = false;
  const tick = (): void => {
    const now = readCpuMs();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  await sendRequest(id, "session/load", { sessionId, cwd: "/", mcpServers: [] });
  isOver = true;
  return longest;
}

/** CPU milliseconds of all threads of this process. Other programs do not affect the value. */
function readCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Resolves at the response. Notifications before the response are read and ignored. */
function sendRequest(id: number, method: string, params: object): Promise<void> {
  const resultMarker = `"id":${id},"result"`;
  return new Promise((resolve) => {
    let tail = "";
    const read = (chunk: Buffer): void => {
      const text = tail + chunk.toString("latin1");
      tail = text.slice(-resultMarker.length);
      if (!text.includes(resultMarker)) return;
      output.off("data", read);
      resolve();
    };
    output.on("data", read);
    input.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  });
}

async function createStoredSession(): Promise<string> {
  const pastStore = await openSqliteStore({ file });
  const pastSessions = createSessions({
    store: pastStore,
    agents,
    clock: systemClock,
    owner: "past",
  });
  const opened = await pastSessions.open({ principal });
  await pastSessions.close();
  const leaseOptions = { owner: "past", now: 0, durationMs: 1, takeOver: true };
  const { lease, head } = await pastStore.acquire(opened.sessionId, leaseOptions);
  let { seq } = head;
  for (let turn = 0; turn < TURNS; turn += 100) {
    const turnEvents = Array.from({ length: 100 }, (_, at) => createTurnEvents(turn + at)).flat();
    const events = turnEvents.map((event) => ({ at: 0, visibility: "public", event }) as const);
    await pastStore.append(lease, seq, { events, sync: false });
    seq += events.length;
  }
  await pastStore.close();
  return opened.sessionId;
}

/** A prompt, and a response in twenty deltas. */
function createTurnEvents(count: number): SessionEvent[] {
  const turnId = `turn_${count}`;
  const promptId = `prompt_${count}`;
  const invocationId = `call_${count}`;
  const messageId = `msg_${count}`;
  const content = [{ type: "text", text: `What about number ${count}?` }] as const;
  const block = { messageId, block: 0 };
  const end = { outcome: "completed", reason: "end_turn", usage: null } as const;
  return [
    { type: "prompt.accepted", promptId, content },
    { type: "turn.started", turnId, promptId },
    { type: "message.sent", messageId: `${messageId}_q`, content, origin: "prompt", promptId },
    { type: "invocation.started", invocationId, upstreamId: "spanline-bench", purpose: "prompt" },
    { type: "message.started", messageId, role: "assistant" },
    ...Array.from(
      { length: 20 },
      () => ({ type: "text.delta", ...block, text: DELTA_TEXT }) as const,
    ),
    { type: "text.finished", ...block, text: DELTA_TEXT.repeat(20) },
    { type: "message.finished", messageId, reason: "end_turn" },
    { type: "invocation.finished", invocationId, ...end },
    { type: "turn.finished", turnId, ...end, steps: 1 },
  ];
}
