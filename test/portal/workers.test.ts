import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../src/platform/clock.ts";
import { createSessions } from "../../src/session/runtime/create-sessions.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import { startAcpServer, TOKEN } from "../support/acp/acp-server.ts";
import { LOCAL } from "../support/acp/steering-world.ts";
import { createScriptedProvider, hangs, says } from "../support/session/scripted-provider.ts";
import { createAgent } from "../support/session/session-world.ts";
import { createBoss } from "../support/session/worker-world.ts";

async function startApi() {
  const provider = createScriptedProvider([hangs()]);
  const agents = [createBoss([says("Hello.")]), createAgent({ name: "helper", provider })];
  const store = createMemoryStore();
  const sessions = createSessions({ store, agents, clock: systemClock, owner: "test" });
  onTestFinished(() => sessions.close());
  const { url } = await startAcpServer(sessions);
  const { sessionId } = await sessions.open({ principal: LOCAL });
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const send = async (body: object) => {
    const path = `${url}/api/sessions/${sessionId}/commands`;
    const request = { method: "POST", headers, body: JSON.stringify(body) };
    const response = await fetch(path, request);
    return { status: response.status, body: JSON.parse(await response.text()) };
  };
  const list = async (query: string): Promise<readonly string[]> => {
    const response = await fetch(`${url}/api/sessions${query}`, { headers });
    const { sessions: listed } = JSON.parse(await response.text());
    return listed.map((entry: { readonly sessionId: string }) => entry.sessionId);
  };
  return { sessions, sessionId, send, list };
}

describe("Workers over /api", () => {
  it("A caller starts and closes a worker, whose session is listed with its parent only", async () => {
    const { sessionId, send, list, sessions } = await startApi();
    const started = await send({ type: "delegate", task: "Wait", name: "waiter" });
    expect(started).toMatchObject({ status: 200, body: { workerStatus: "running" } });
    const { workerId } = started.body;
    const childId = workerId.replace("worker_", "ses_");
    await expect.poll(() => sessions.find(childId)).toBeDefined();
    expect(await list("")).toEqual([sessionId]);
    expect(await list(`?parent=${sessionId}`)).toEqual([childId]);
    const trigger = { type: "trigger-worker", workerId, payload: "again" };
    expect(await send(trigger)).toMatchObject({ status: 409 });
    expect(await send({ type: "close-worker", workerId })).toMatchObject({ status: 200 });
    expect(await send({ type: "delegate", task: "" })).toMatchObject({ status: 400 });
    expect(await send({ type: "trigger-worker", workerId })).toMatchObject({ status: 400 });
  });
});
