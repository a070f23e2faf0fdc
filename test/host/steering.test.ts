import { describe, expect, it, onTestFinished } from "vitest";
import type { ClientOptions, IdleWait, SessionUpdate } from "../../src/host/index.ts";
import { createHost } from "../../src/host/index.ts";
import { createHostClient } from "../support/acp/host-client.ts";
import { eventually } from "../support/eventually.ts";
import { createGate } from "../support/gate.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import {
  createScriptedProvider,
  says,
  wants,
  type ProviderScript,
} from "../support/session/scripted-provider.ts";
import {
  createAgent,
  createTool,
  openSessions,
  type AgentParts,
} from "../support/session/session-world.ts";

const PLACE = { workingDirectory: "/work" };

/** A client of an agent. The agent's tool `look` runs until the gate opens. */
async function startClient(
  answers: readonly ProviderScript[],
  parts: Partial<AgentParts> = {},
  options: ClientOptions = {},
) {
  const gate = createGate();
  const provider = createScriptedProvider(answers);
  const look = createTool({ name: "look" }, async () => {
    await gate.pass();
    return "seen";
  });
  const agent = createAgent({ provider, tools: [look], ...parts });
  const sessions = openSessions(createMemoryStore(), agent);
  onTestFinished(async () => {
    gate.open();
    await sessions.close();
  });
  const updates: SessionUpdate[] = [];
  const { client, sockets } = createHostClient(sessions, {
    onUpdate: ({ update }) => void updates.push(update),
    ...options,
  });
  const { sessionId } = await client.newSession(PLACE);
  const isRunning = (update: SessionUpdate): boolean =>
    update.type === "tool" && update.status === "in_progress";
  return {
    client,
    sockets,
    provider,
    gate,
    updates,
    sessionId,
    startTurn: async () => {
      const { result } = client.prompt(sessionId, "Go");
      await eventually(() => expect(updates.some(isRunning)).toBe(true));
      return { result };
    },
  };
}

const looks = wants({ id: "c1", name: "look" });

function userTexts(updates: readonly SessionUpdate[]): readonly string[] {
  return updates.flatMap((update) =>
    update.type === "user-text" ? [`${update.messageId} ${update.text}`] : [],
  );
}

describe("Steering with the host client", () => {
  it("A program steers a turn, changes and revokes messages, and sees the delivery [B-165] [B-168] [B-172] [B-174]", async () => {
    const { client, sessionId, gate, updates, provider, startTurn } = await startClient([
      looks,
      says("Done."),
    ]);
    const turn = await startTurn();
    const steered = await client.inject(sessionId, "Use feet");
    expect(steered).toEqual({
      messageId: expect.stringMatching(/^msg_inj_/),
      deliveredAs: "steer",
    });
    await client.replaceInject(sessionId, steered.messageId, [
      { type: "text", text: "Use metric units" },
    ]);
    const other = await client.inject(sessionId, { content: "Never", mode: "queue" });
    expect(other.deliveredAs).toBe("queue");
    const reminderId = await client.remind(sessionId, {
      body: "Read src/lib.rs again",
      tags: ["workspace"],
      dedupeKey: "workspace",
      ttlTurns: 2,
      metadata: { harn: { origin: "watcher" } },
    });
    expect(await client.pendingInjections(sessionId)).toEqual([
      { kind: "user", messageId: steered.messageId, mode: "steer", text: "Use metric units" },
      { kind: "user", messageId: other.messageId, mode: "queue", text: "Never" },
      {
        kind: "reminder",
        reminderId,
        mode: "finish_step",
        body: "Read src/lib.rs again",
        tags: ["workspace"],
        dedupeKey: "workspace",
        ttlTurns: 2,
        roleHint: "system",
        source: "bridge",
      },
    ]);
    expect(await client.revokeInject(sessionId, other.messageId)).toBe(true);
    expect(await client.revokeInject(sessionId, other.messageId)).toBe(false);
    expect(await client.revokeReminder(sessionId, reminderId)).toBe(true);
    expect(await client.revokeReminder(sessionId, reminderId)).toBe(false);
    gate.open();
    await turn.result;
    expect(userTexts(updates)).toEqual([`${steered.messageId} Use metric units`]);
    expect(provider.invocations[1]?.input).toMatchObject({ texts: ["Use metric units"] });
    await expect(client.revokeInject(sessionId, steered.messageId)).rejects.toMatchObject({
      code: "conflict",
      details: { reason: "already_delivered" },
    });
  });

  it("A message whose response is lost is sent again and delivered once [W-48]", async () => {
    const { client, sessionId, gate, sockets, provider, startTurn } = await startClient([
      looks,
      says("Done."),
    ]);
    const turn = await startTurn();
    const injected = client.inject(sessionId, "Once");
    sockets[0]?.destroy();
    const { messageId } = await injected;
    expect(await client.pendingInjections(sessionId)).toMatchObject([{ messageId, text: "Once" }]);
    expect(sockets.length).toBeGreaterThan(1);
    gate.open();
    await turn.result;
    expect(provider.invocations[1]?.input).toMatchObject({ texts: ["Once"] });
  });

  it("A program cancels a tool call, and the turn continues [R-005]", async () => {
    const { client, sessionId, updates, provider, startTurn } = await startClient([
      looks,
      says("Understood."),
    ]);
    const turn = await startTurn();
    const call = updates.find((update) => update.type === "tool");
    const toolCallId = call?.type === "tool" ? call.toolCallId : "";
    expect(await client.cancelToolCall(sessionId, toolCallId, "Too slow")).toBe("cancelled");
    expect(await turn.result).toMatchObject({ reason: "end_turn" });
    expect(JSON.stringify(provider.invocations[1]?.input)).toContain("Too slow");
    expect(await client.cancelToolCall(sessionId, toolCallId)).toBe("already_cancelled");
  });

  it("A prompt with a budget requests an approval when its turn reaches the budget", async () => {
    const actions: string[] = [];
    const host = createHost({
      permission: ({ approval }) => {
        actions.push(approval.action);
        return "deny";
      },
    });
    const { client, sessionId, gate, provider } = await startClient(
      [looks, says("Done.")],
      {},
      { host },
    );
    gate.open();
    const run = client.prompt(sessionId, "Go", { budget: { invocations: 1 } });
    expect(await run.result).toMatchObject({ reason: "max_turn_requests" });
    expect(actions).toEqual([
      "This turn has used 1 of 1 invocation; continue with 1 more invocation?",
    ]);
    expect(provider.invocations).toHaveLength(1);
    await expect(
      client.prompt(sessionId, "Go", { budget: { tokens: 0 } }).result,
    ).rejects.toMatchObject({ code: "validation_failed" });
  });

  it("The idle callback runs for every wait of an idle daemon, and can wake the daemon [B-161] [B-163] [ACP-132]", async () => {
    const waits: IdleWait[] = [];
    const { client, sessionId, provider } = await startClient(
      [says("Done.")],
      { daemon: {} },
      { onIdle: (wait) => void waits.push(wait) },
    );
    await client.prompt(sessionId, "Go").result;
    await eventually(() => expect(waits.length).toBeGreaterThan(1));
    expect(waits.slice(0, 2)).toEqual([
      { sessionId: null, iteration: 1, backoffMs: 100 },
      { sessionId: null, iteration: 2, backoffMs: 500 },
    ]);
    await client.resume(sessionId);
    await eventually(() => expect(provider.invocations).toHaveLength(2));
  });

  it("A host compacts a session, and a request whose response is lost compacts once [B-039] [W-48]", async () => {
    const compaction = { strategy: "truncate", keepLast: 2 } as const;
    const { client, sessionId, sockets, updates } = await startClient(
      [says("A0"), says("A1"), says("A2")],
      { compaction },
    );
    await client.prompt(sessionId, "Q0").result;
    await client.prompt(sessionId, "Q1").result;
    const compacted = client.compact(sessionId);
    sockets[0]?.destroy();
    const compactionId = await compacted;
    const isCompacted = (update: SessionUpdate): boolean =>
      update.type === "extension" && update.name === "transcript_compacted";
    await eventually(() => expect(updates.some(isCompacted)).toBe(true));
    expect(updates.filter(isCompacted)).toMatchObject([
      { fields: { archivedMessages: 2, compactionPolicy: { receipt_id: compactionId } } },
    ]);
  });

  it("A resume of an agent that is not a daemon rejects with the reason [B-163]", async () => {
    const { client, sessionId } = await startClient([says("Done.")]);
    await expect(client.resume(sessionId)).rejects.toMatchObject({
      details: { reason: "not_a_daemon" },
    });
  });
});
