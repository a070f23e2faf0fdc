import { describe, expect, it, onTestFinished } from "vitest";
import { isObject, type JsonObject } from "../../../src/data/json.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import type { Agent } from "../../../src/session/runtime/agent/agent.ts";
import { createSessions } from "../../../src/session/runtime/create-sessions.ts";
import { createRuntimeTools } from "../../../src/tools/runtime/runtime-tools.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import { readText, type AcpPeer, type Message } from "../../support/acp/acp-client.ts";
import { openSession, readUpdate, submit, TRANSPORTS } from "../../support/acp/steering-world.ts";
import { eventually } from "../../support/eventually.ts";
import {
  breaks,
  createScriptedProvider,
  hangs,
  says,
  wants,
  type ProviderScript,
} from "../../support/session/scripted-provider.ts";
import { createAgent, createTool, type AgentParts } from "../../support/session/session-world.ts";
import { createBoss, delegates } from "../../support/session/worker-world.ts";

type Connect = (typeof TRANSPORTS)[number][1];

const AUDITED = {
  mutationScope: "apply_workspace",
  approvals: { deny: [], ask: ["edit_*"], allow: ["look", "delegate"], default: "ask" },
} as const;

function createHelper(script: readonly ProviderScript[], parts: Partial<AgentParts> = {}): Agent {
  const provider = createScriptedProvider(script);
  return createAgent({ name: "helper", provider, ...AUDITED, ...parts });
}

/** Connects hosts of the bridge protocol to sessions of an agent with workers. */
function createWorld(connect: Connect, boss: Agent, helper: Agent) {
  const agents = [boss, helper];
  const store = createMemoryStore();
  const sessions = createSessions({ store, agents, clock: systemClock, owner: "test" });
  onTestFinished(() => sessions.close());
  const connectHost = async (): Promise<AcpPeer> => {
    const client = await connect(sessions, systemClock);
    const clientCapabilities = { _meta: { harn: {} } };
    await client.requestResult("initialize", { protocolVersion: 1, clientCapabilities });
    return client;
  };
  return { sessions, connectHost };
}

function readHarn(update: JsonObject): JsonObject {
  const meta = update["_meta"];
  return isObject(meta) && isObject(meta["harn"]) ? meta["harn"] : {};
}

function listWorkerUpdates({ messages }: Pick<AcpPeer, "messages">): readonly JsonObject[] {
  return messages
    .map(readUpdate)
    .filter(({ sessionUpdate }) => sessionUpdate === "worker_update")
    .map(readHarn);
}

async function waitForStatus(host: AcpPeer, status: string, nth = 1): Promise<JsonObject> {
  return eventually(() => {
    const found = listWorkerUpdates(host).filter((update) => update["status"] === status);
    const update = found[nth - 1];
    if (update === undefined) throw new Error(`No worker_update with ${status}`);
    return update;
  });
}

function listLives(host: AcpPeer): readonly string[] {
  return listWorkerUpdates(host).map(
    ({ event, status, terminal }) => `${readText(event)} ${readText(status)} ${terminal === true}`,
  );
}

function isPermissionRequest({ method }: Message): boolean {
  return method === "session/request_permission";
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;

describe.each(TRANSPORTS)("Worker updates over %s", (_, connect) => {
  it("A foreground worker sends exactly one update per transition, with every documented field [B-038] [B-118] [B-119] [B-122] [B-126] [B-129] [B-130] [ACP-129] [W-23]", async () => {
    const boss = createBoss([
      delegates({ task: "Review PR #42", name: "review_captain" }),
      says("Ok."),
    ]);
    const { connectHost, sessions } = createWorld(connect, boss, createHelper([says("Fine.")]));
    const host = await connectHost();
    const sessionId = await openSession(host);
    await submit(host, sessionId, "Go");
    await waitForStatus(host, "completed");
    expect(listLives(host)).toEqual([
      "WorkerSpawned running false",
      "WorkerCompleted completed true",
    ]);
    const [spawned, completed] = listWorkerUpdates(host);
    const workerId = readText(spawned?.["workerId"]);
    const childId = workerId.replace("worker_", "ses_");
    const audit = {
      session_id: childId,
      parent_session_id: sessionId,
      run_id: childId,
      worker_id: workerId,
      execution_kind: "worker",
      mutation_scope: "apply_workspace",
      approval_policy: {
        auto_approve: ["look", "delegate"],
        auto_deny: [],
        require_approval: ["edit_*"],
        write_path_allowlist: ["**"],
      },
    };
    const metadata = {
      task: "Review PR #42",
      mode: "delegated_stage",
      started_at: expect.stringMatching(ISO),
      finished_at: null,
      awaiting_started_at: null,
      child_run_id: childId,
      child_run_path: `spanline://sessions/${childId}`,
      snapshot_path: `spanline://sessions/${sessionId}/workers/${workerId}`,
      audit,
      error: null,
      request: {
        task: "Review PR #42",
        name: "review_captain",
        agent: "helper",
        mode: "delegated_stage",
        background: false,
        retriggerable: false,
      },
      provenance: {
        parent_session_id: sessionId,
        tool_call_id: workerId.replace("worker_", "tool_"),
        turn_id: expect.stringMatching(/^turn_/),
      },
      created_at: expect.stringMatching(ISO),
      artifact_count: 0,
      has_transcript: true,
      parent_worker_id: null,
      parent_stage_id: null,
      execution: { agent: "helper", cycle: 1, depth: 1, root_session_id: sessionId },
    };
    expect(spawned).toEqual({
      workerId,
      workerName: "review_captain",
      workerTask: "Review PR #42",
      workerMode: "delegated_stage",
      event: "WorkerSpawned",
      status: "running",
      terminal: false,
      metadata,
      audit,
    });
    expect(completed).toEqual({
      ...spawned,
      event: "WorkerCompleted",
      status: "completed",
      terminal: true,
      metadata: { ...metadata, finished_at: expect.stringMatching(ISO) },
    });
    expect(await sessions.find(childId)).toMatchObject({ lineage: { workerId } });
  });

  it("A retriggerable worker progresses to its next cycle with session/worker_trigger, and ends with session/close_agent [B-120] [B-121] [B-125] [B-128] [ACP-129]", async () => {
    const boss = createBoss([
      delegates({ task: "Watch", background: true, retriggerable: true }),
      says("Started."),
    ]);
    const { connectHost } = createWorld(connect, boss, createHelper([says("One."), says("Two.")]));
    const host = await connectHost();
    const sessionId = await openSession(host);
    await submit(host, sessionId, "Go");
    const waiting = await waitForStatus(host, "awaiting_input");
    expect(waiting["metadata"]).toMatchObject({
      awaiting_started_at: expect.stringMatching(ISO),
      finished_at: null,
    });
    const { workerId = null } = waiting;
    const triggered = await host.requestResult("session/worker_trigger", {
      sessionId,
      workerId,
      payload: { file: "b.ts" },
    });
    expect(triggered).toEqual({ workerId, status: "running" });
    await waitForStatus(host, "awaiting_input", 2);
    await host.requestResult("session/close_agent", { sessionId, workerId });
    await waitForStatus(host, "cancelled");
    expect(listLives(host)).toEqual([
      "WorkerSpawned running false",
      "WorkerWaitingForInput awaiting_input false",
      "WorkerProgressed progressed false",
      "WorkerSpawned running false",
      "WorkerWaitingForInput awaiting_input false",
      "WorkerCancelled cancelled true",
    ]);
    expect(new Set(listWorkerUpdates(host).map((update) => update["workerId"])).size).toBe(1);
  });

  it("A failed worker reports its error in the metadata [B-123]", async () => {
    const boss = createBoss([delegates({ task: "Count" }), says("Oh.")]);
    const helper = createHelper([breaks("service_failed")]);
    const { connectHost } = createWorld(connect, boss, helper);
    const host = await connectHost();
    await submit(host, await openSession(host), "Go");
    const failed = await waitForStatus(host, "failed");
    expect(failed).toMatchObject({
      event: "WorkerFailed",
      terminal: true,
      metadata: { error: { code: "service_failed", message: "It ended with service_failed" } },
    });
  });

  it("A worker which emits a handoff ends as stopped [B-124] [ACP-129]", async () => {
    const boss = createBoss([delegates({ task: "Merge", retriggerable: true }), says("Ok.")]);
    const input = {
      task: "Review the patch",
      reason: "Needs review",
      target_persona_or_human: "ada",
    };
    const script = [wants({ id: "h", name: "emit_handoff", input }), says("Handed over.")];
    const helper = createHelper(script, {
      tools: createRuntimeTools(["emit_handoff"]),
      approvals: { deny: [], ask: [], allow: ["*"], default: "ask" },
    });
    const { connectHost } = createWorld(connect, boss, helper);
    const host = await connectHost();
    await submit(host, await openSession(host), "Go");
    const stopped = await waitForStatus(host, "stopped");
    expect(stopped).toMatchObject({
      event: "WorkerStopped",
      terminal: true,
      metadata: { error: null, finished_at: expect.stringMatching(ISO), artifact_count: 1 },
    });
    expect(listLives(host)).toEqual(["WorkerSpawned running false", "WorkerStopped stopped true"]);
  });

  it("A host starts a worker with session/delegate and lists it with session/workers", async () => {
    const boss = createBoss([says("Hello.")]);
    const { connectHost } = createWorld(connect, boss, createHelper([hangs()]));
    const host = await connectHost();
    const sessionId = await openSession(host);
    const { workerId = null } = await host.requestResult("_harn/session/delegate", {
      sessionId,
      task: "Wait",
      name: "waiter",
    });
    await waitForStatus(host, "running");
    expect(await host.requestResult("session/workers", { sessionId })).toMatchObject({
      workers: [{ workerId, workerName: "waiter", status: "running", terminal: false }],
    });
    await host.requestResult("session/close_agent", { sessionId, workerId });
    await waitForStatus(host, "cancelled");
  });

  it("A request of a worker arrives under the root session with the worker as its principal, and the audit record is the same in all messages [B-072] [B-073] [B-076] [B-077] [B-080]", async () => {
    const runs: string[] = [];
    const edit = createTool({ name: "edit_file" }, () => {
      runs.push("edited");
      return "edited";
    });
    const boss = createBoss([delegates({ task: "Edit" }), says("Done.")]);
    const script = [wants({ id: "e", name: "edit_file" }), says("Edited.")];
    const helper = createHelper(script, { tools: [edit] });
    const { connectHost } = createWorld(connect, boss, helper);
    const host = await connectHost();
    const sessionId = await openSession(host);
    const turn = submit(host, sessionId, "Go");
    const { id, params } = await host.waitForMessage(isPermissionRequest);
    const { workerId, audit } = await waitForStatus(host, "running");
    const childId = readText(workerId).replace("worker_", "ses_");
    expect(params).toMatchObject({
      sessionId,
      approvalRequest: { principal: workerId, action: "edit_file" },
      mutation: audit,
    });
    const watcher = await connectHost();
    await watcher.requestResult("session/load", {
      sessionId: childId,
      cwd: "/work",
      mcpServers: [],
    });
    host.send({ jsonrpc: "2.0", id: id ?? null, result: { outcome: { outcome: "selected" } } });
    await turn;
    expect(runs).toEqual(["edited"]);
    await eventually(() => {
      const calls = watcher.messages
        .map(readUpdate)
        .filter(({ sessionUpdate }) => readText(sessionUpdate).startsWith("tool_call"));
      const kinds = new Set(calls.map(({ sessionUpdate }) => sessionUpdate));
      expect(kinds).toEqual(new Set(["tool_call", "tool_call_update"]));
      for (const update of calls) expect(readHarn(update)["audit"]).toEqual(audit);
      expect(calls.at(-1)?.["status"]).toBe("completed");
    });
    expect((await waitForStatus(host, "completed"))["audit"]).toEqual(audit);
    expect(host.messages.filter(isPermissionRequest)).toHaveLength(1);
  });

  it("The text of a worker reaches no client of the parent as the parent's text", async () => {
    const boss = createBoss([delegates({ task: "Count" }), says("Four.")]);
    const helper = createHelper([says("The worker's own words")]);
    const { connectHost } = createWorld(connect, boss, helper);
    const host = await connectHost();
    await submit(host, await openSession(host), "Go");
    const chunks = host.messages
      .map(readUpdate)
      .filter(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk");
    expect(JSON.stringify(chunks)).not.toContain("The worker's own words");
  });

  it("Without a mutation scope, the updates have no audit record [B-079]", async () => {
    const boss = createBoss([delegates({ task: "Count" }), says("Four.")]);
    const provider = createScriptedProvider([says("Fine.")]);
    const helper = createAgent({ name: "helper", provider });
    const { connectHost } = createWorld(connect, boss, helper);
    const host = await connectHost();
    await submit(host, await openSession(host), "Go");
    const completed = await waitForStatus(host, "completed");
    expect(Object.hasOwn(completed, "audit")).toBe(false);
    expect(completed["metadata"]).toMatchObject({ audit: null });
  });
});
