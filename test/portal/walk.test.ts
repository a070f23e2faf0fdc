import { describe, expect, it, onTestFinished } from "vitest";
import { emulate, TEST_CREDENTIALS } from "../../src/emulator/index.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { harnessProvider } from "../../src/providers/agentcore/harness-provider.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import { createAgent, openSessions, createTool } from "../support/session/session-world.ts";
import { servedPortal, withToken, type ServedPortal } from "./start-portal.ts";
import { sseClient, type Seen } from "./sse-client.ts";

/** The portal over real sessions with the emulator's demo agent. */
async function started(): Promise<ServedPortal> {
  const emulator = await emulate();
  onTestFinished(() => emulator.close());
  const provider = harnessProvider({
    harnessArn: emulator.demoArn,
    endpoint: emulator.url,
    credentials: TEST_CREDENTIALS,
  });
  const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const facts = { name: "weather", description: "Tells the weather of a city", schema };
  const approvals = { deny: [], ask: ["weather"], allow: [], default: "deny" } as const;
  const agent = createAgent({ provider, tools: [createTool(facts, () => "sunny")], approvals });
  const sessions = openSessions(createMemoryStore(), agent);
  onTestFinished(() => sessions.close());
  const portal = await servedPortal(sessions, { clock: systemClock });
  onTestFinished(() => portal.close());
  return portal;
}

function eventOf({ data }: Seen): { readonly type: string; readonly [name: string]: unknown } {
  return JSON.parse(data).event;
}

describe("The portal with a real session", () => {
  it("The portal submits a prompt, shows the approval, accepts the decision and returns the turn to the waiting client", async () => {
    const portal = await started();
    const { json } = await portal.post("/api/sessions", {});
    const path = `/api/sessions/${Object(json).sessionId}`;
    const watcher = await sseClient(portal, `${path}/events`);
    const waiting = portal.post(`${path}/prompt`, {
      text: "What is the weather in Paris?",
      wait: true,
    });
    const seen: Seen[] = [];
    const until = async (type: string): Promise<ReturnType<typeof eventOf>> => {
      for (;;) {
        const [next] = await watcher.take(1);
        if (next === undefined) throw new Error("No event came");
        seen.push(next);
        if (eventOf(next).type === type) return eventOf(next);
      }
    };

    const { approvalId } = await until("approval.requested");
    const answer = { type: "answer", approvalId, decision: "allow" };
    expect((await portal.post(`${path}/commands`, answer)).status).toBe(403);
    expect(await portal.post(`${path}/commands`, answer, withToken)).toMatchObject({
      status: 200,
      json: { status: "accepted" },
    });
    expect(await portal.post(`${path}/commands`, answer, withToken)).toMatchObject({
      status: 409,
      json: { error: { code: "conflict" } },
    });
    await until("turn.finished");
    expect(await waiting).toMatchObject({
      status: 200,
      json: {
        outcome: "completed",
        text: expect.stringContaining("sunny"),
        toolCalls: [{ name: "weather", input: { city: "Paris" }, ending: "succeeded" }],
        pendingApprovals: [],
      },
    });

    const late = await sseClient(portal, `${path}/events`);
    expect(await late.take(seen.length)).toEqual(seen);
    const middle = seen.findIndex((one) => eventOf(one).type === "approval.requested");
    const resumed = await sseClient(portal, `${path}/events`, {
      "last-event-id": seen[middle]?.id ?? "",
    });
    expect(await resumed.take(seen.length - middle - 1)).toEqual(seen.slice(middle + 1));
    for (const client of [watcher, late, resumed]) client.close();
  });

  it("A repeated command gets the reply of the first one", async () => {
    const portal = await started();
    const { json } = await portal.post("/api/sessions", {});
    const path = `/api/sessions/${Object(json).sessionId}/commands`;
    const once = { "idempotency-key": "once" };
    const first = await portal.post(path, { type: "prompt", text: "Hello" }, once);
    expect(first.status).toBe(200);
    const second = await portal.post(path, { type: "prompt", text: "Hello" }, once);
    expect(second.json).toEqual(first.json);
  });
});
