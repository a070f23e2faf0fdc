import { describe, expect, it, onTestFinished } from "vitest";
import type { SessionUpdate } from "../../src/host/index.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createSessions } from "../../src/session/runtime/create-sessions.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import { createHostClient } from "../support/acp/host-client.ts";
import { eventually } from "../support/eventually.ts";
import { createScriptedProvider, hangs, says } from "../support/session/scripted-provider.ts";
import { createAgent } from "../support/session/session-world.ts";
import { createBoss } from "../support/session/worker-world.ts";

type WorkerUpdate = Extract<SessionUpdate, { readonly type: "worker" }>;

/**
 * A client of an agent with workers. The first turn of the worker ends at once, and each later turn of the worker runs
 * until its cancellation.
 */
async function startClient() {
  const provider = createScriptedProvider([says("One."), hangs()]);
  const agents = [createBoss([says("Hello.")]), createAgent({ name: "helper", provider })];
  const store = createMemoryStore();
  const sessions = createSessions({ store, agents, clock: systemClock, owner: "test" });
  onTestFinished(() => sessions.close());
  // Updates of the session itself are left out.
  const updates: WorkerUpdate[] = [];
  const { client } = createHostClient(sessions, {
    onUpdate: ({ update }) => void (update.type === "worker" && updates.push(update)),
  });
  const { sessionId } = await client.newSession({ workingDirectory: "/work" });
  return { client, updates, sessionId };
}

describe("Workers in the host SDK", () => {
  it("A program starts, lists, triggers and closes a worker, and receives typed updates", async () => {
    const { client, updates, sessionId } = await startClient();
    const task = { task: "Watch", name: "watcher", retriggerable: true };
    const { workerId, status } = await client.delegate(sessionId, task);
    expect(status).toBe("running");
    await eventually(() => expect(updates.at(-1)?.status).toBe("awaiting_input"));
    expect(updates[0]).toMatchObject({
      type: "worker",
      workerId,
      name: "watcher",
      task: "Watch",
      event: "WorkerSpawned",
      isTerminal: false,
      sessionId: workerId.replace("worker_", "ses_"),
    });
    expect(await client.workers(sessionId)).toMatchObject([
      { workerId, status: "awaiting_input", name: "watcher", agent: "helper" },
    ]);
    expect(await client.triggerWorker(sessionId, workerId, { next: 1 })).toEqual({
      workerId,
      status: "running",
    });
    // The second cycle never ends by itself.
    await client.closeWorker(sessionId, workerId);
    await eventually(() => expect(updates.at(-1)?.isTerminal).toBe(true));
    expect(updates.map(({ event }) => event)).toEqual([
      "WorkerSpawned",
      "WorkerWaitingForInput",
      "WorkerProgressed",
      "WorkerSpawned",
      "WorkerCancelled",
    ]);
  });

  it("A trigger of a worker which does not exist rejects with its reason", async () => {
    const { client, sessionId } = await startClient();
    await expect(client.triggerWorker(sessionId, "worker_x", "go")).rejects.toMatchObject({
      code: "not_found",
    });
  });
});
