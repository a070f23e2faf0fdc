import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { defineAgent } from "../src/bridge/define-agent.ts";
import type { AgentEvent } from "../src/domain/agent-event.ts";
import { systemClock } from "../src/platform/clock.ts";
import type { Provider } from "../src/providers/provider.ts";
import { createSessions } from "../src/session/create-sessions.ts";
import { openSqliteStore } from "../src/store/sqlite/open-sqlite-store.ts";
import { serveAcp } from "../src/surfaces/acp/serve-acp.ts";

/** Makes a session of 10,000 messages, loads it twice over ACP, and tells the longest turn of the loop of each load. */
const TURNS = 5000;
const WORDS = "Some words of an answer ";
const principal = { id: "bench", rights: ["prompt", "approve", "control"] } as const;

const folder = mkdtempSync(join(tmpdir(), "spanline-bench-"));
const file = join(folder, "sessions.db");
const provider: Provider = {
  name: "none",
  seams: ["turn-start"],
  effectFree: true,
  open: () => ({ id: "none", call: () => Promise.reject(new Error("Nobody calls it")) }),
};
const agents = [defineAgent({ name: "none", provider })];
const sessionId = await filled();
const store = await openSqliteStore({ file });
const sessions = createSessions({ store, agents, clock: systemClock, owner: "bench" });
const input = new PassThrough();
const output = new PassThrough();
const served = serveAcp({ sessions, input, output, principal, log: () => {} });
await asked(1, "initialize", { protocolVersion: 1, clientCapabilities: {} });
const first = await loaded(2);
const again = await loaded(3);
input.end();
await served;
await sessions.close();
await store.close();
rmSync(folder, { recursive: true, force: true });
process.send?.({ first, again }, () => process.exit());

async function loaded(id: number): Promise<number> {
  let longest = 0;
  let last = spent();
  let isOver = false;
  const turn = (): void => {
    const now = spent();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await asked(id, "session/load", { sessionId, cwd: "/", mcpServers: [] });
  isOver = true;
  return longest;
}

/** Milliseconds of processor time, of all threads: other programs have no part in it. */
function spent(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Resolves with the answer; what is told before is read, and passed over. */
function asked(id: number, method: string, params: object): Promise<void> {
  const words = `"id":${id},"result"`;
  return new Promise((resolve) => {
    let tail = "";
    const read = (chunk: Buffer): void => {
      const text = tail + chunk.toString("latin1");
      tail = text.slice(-words.length);
      if (!text.includes(words)) return;
      output.off("data", read);
      resolve();
    };
    output.on("data", read);
    input.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  });
}

async function filled(): Promise<string> {
  const past = await openSqliteStore({ file });
  const before = createSessions({ store: past, agents, clock: systemClock, owner: "past" });
  const opened = await before.open({ principal });
  await before.close();
  const wanted = { owner: "past", now: 0, forMs: 1, takeOver: true };
  const { lease, head } = await past.acquire(opened.sessionId, wanted);
  let { seq } = head;
  for (let turn = 0; turn < TURNS; turn += 100) {
    const said = Array.from({ length: 100 }, (_, at) => turnOf(turn + at)).flat();
    const events = said.map((event) => ({ at: 0, visibility: "public", event }) as const);
    await past.append(lease, seq, { events, sync: false });
    seq += events.length;
  }
  await past.close();
  return opened.sessionId;
}

/** A question, and an answer in twenty pieces. */
function turnOf(count: number): AgentEvent[] {
  const turnId = `turn_${count}`;
  const promptId = `prompt_${count}`;
  const callId = `call_${count}`;
  const messageId = `msg_${count}`;
  const content = [{ type: "text", text: `What about number ${count}?` }] as const;
  const place = { messageId, block: 0 };
  const end = { outcome: "completed", reason: "end_turn", usage: null } as const;
  return [
    { type: "prompt.accepted", promptId, content },
    { type: "turn.started", turnId, promptId },
    { type: "message.sent", messageId: `${messageId}_q`, content, origin: "prompt", promptId },
    { type: "call.started", callId, upstreamId: "spanline-bench", purpose: "prompt" },
    { type: "message.started", messageId, role: "assistant" },
    ...Array.from({ length: 20 }, () => ({ type: "text.delta", ...place, text: WORDS }) as const),
    { type: "text.finished", ...place, text: WORDS.repeat(20) },
    { type: "message.finished", messageId, reason: "end_turn" },
    { type: "call.finished", callId, ...end },
    { type: "turn.finished", turnId, ...end, steps: 1 },
  ];
}
