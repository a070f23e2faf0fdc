import { describe, expect, it } from "vitest";
import { isObject, type JsonObject } from "../../../src/data/json.ts";
import { readText, type AcpPeer } from "../../support/acp/acp-client.ts";
import {
  connectLines,
  createSteeringWorld,
  openSession,
  readAgentText,
  readUpdate,
  submit,
  TRANSPORTS,
} from "../../support/acp/steering-world.ts";
import {
  createScriptedProvider,
  refuses,
  says,
  wants,
} from "../../support/session/scripted-provider.ts";
import { createTool, readUntil } from "../../support/session/session-world.ts";
import type { Envelope } from "../../../src/domain/events/envelope.ts";
import { formatSortedJson } from "../../support/sorted-json.ts";

const SCRIPT = [says("A0"), says("A1"), says("The summary"), says("A2")];

/** An agent whose conversation is sent with each request. */
function createStateless() {
  const provider = createScriptedProvider(SCRIPT, { keepsHistory: false, effectFree: true });
  return { provider, compaction: { keepLast: 2, thresholdTokens: 9000 } };
}

function isCompacted(message: Parameters<typeof readUpdate>[0]): boolean {
  return readUpdate(message)["sessionUpdate"] === "transcript_compacted";
}

async function talkTwice(host: AcpPeer): Promise<string> {
  const sessionId = await openSession(host);
  await submit(host, sessionId, "Q0");
  await submit(host, sessionId, "Q1");
  return sessionId;
}

function readHarn(update: JsonObject): JsonObject {
  const meta = update["_meta"];
  const harn = isObject(meta) ? meta["harn"] : undefined;
  return isObject(harn) ? harn : {};
}

describe.each(TRANSPORTS)("session/compact over %s", (_, connect) => {
  it("A host compacts a session and receives all ten fields of the update, below _meta.harn only [B-039] [B-022] [B-033]", async () => {
    const parts = createStateless();
    const { connectHost } = createSteeringWorld(connect, SCRIPT, parts);
    const host = await connectHost();
    const sessionId = await talkTwice(host);
    const result = await host.requestResult("session/compact", { sessionId });
    const compactionId = readText(result["compactionId"]);
    expect(result).toEqual({ compactionId: expect.any(String), status: "accepted" });
    const update = readUpdate(await host.waitForMessage(isCompacted));
    expect(formatSortedJson(update)).toBe(
      formatSortedJson({
        sessionUpdate: "transcript_compacted",
        _meta: {
          harn: {
            mode: "manual",
            reason: "command",
            strategy: "hybrid",
            archivedMessages: 2,
            estimatedTokensBefore: 20,
            estimatedTokensAfter: 23,
            snapshotAssetId: `blob_${compactionId}`,
            instructionMode: "default",
            instructionSource: "default",
            compactionPolicy: {
              receipt_id: compactionId,
              schema_version: 1,
              engine_strategy: "llm",
              requested_strategy: "hybrid",
              resolved_threshold_tokens: 9000,
              threshold_source: "agent",
              hard_limit_tokens: null,
              keep_last: 2,
              source_measurement: "estimate",
              result_measurement: "estimate",
            },
          },
        },
      }),
    );
    await submit(host, sessionId, "Q2");
    const { history = [] } = parts.provider.invocations.at(-1) ?? {};
    expect(history.map(({ blocks }) => blocks.length)).toEqual([2, 1]);
  });
});

describe("A projected request", () => {
  it("A host receives all ten fields of the update, below _meta.harn only [B-040] [B-033]", async () => {
    const failing = createTool({ name: "look" }, () => {
      throw new Error("Not found");
    });
    const provider = createScriptedProvider(
      [
        wants({ id: "c1", name: "look" }),
        wants({ id: "c2", name: "look" }),
        says("Done"),
        says("Bye"),
      ],
      { keepsHistory: false, effectFree: true },
    );
    const projection = { policy: "squash_failed_calls" } as const;
    const parts = { provider, projection, tools: [failing] };
    const { connectHost, sessions } = createSteeringWorld(connectLines, [], parts);
    const host = await connectHost();
    const sessionId = await openSession(host);
    await submit(host, sessionId, "Go");
    await submit(host, sessionId, "More");
    const update = readUpdate(
      await host.waitForMessage(
        (message) => readUpdate(message)["sessionUpdate"] === "transcript_projected",
      ),
    );
    const isLogged = ({ event }: Envelope): boolean => event.type === "transcript.projected";
    const event = (await readUntil(sessions, sessionId, isLogged)).at(-1)?.event;
    const prefixHash = event?.type === "transcript.projected" ? event.projection.prefixHash : "";
    expect(prefixHash).toMatch(/^[0-9a-f]{64}$/);
    expect(formatSortedJson(update)).toBe(
      formatSortedJson({
        sessionUpdate: "transcript_projected",
        _meta: {
          harn: {
            policy: "squash_failed_calls",
            reason: "policy",
            prefixHash,
            keptCount: 6,
            droppedCount: 2,
            providerSafetyBlocked: false,
            redactedCount: 0,
            reclaimedTokens: 16,
            rootsConsulted: null,
            redactionPointers: [],
          },
        },
      }),
    );
  });
});

describe("session/compact", () => {
  it("The names of both updates are advertised in initialize before they are sent [B-023] [B-020]", async () => {
    const { connectHost } = createSteeringWorld(connectLines, SCRIPT, createStateless());
    const host = await connectHost();
    const result = await host.requestResult("initialize", {
      protocolVersion: 1,
      clientCapabilities: { _meta: { harn: {} } },
    });
    const capabilities = JSON.stringify(result["agentCapabilities"]);
    expect(capabilities).toContain('"transcript_compacted"');
    expect(capabilities).toContain('"transcript_projected"');
  });

  it("Options of the request override the agent, under the name with the prefix too", async () => {
    const { connectHost } = createSteeringWorld(connectLines, SCRIPT, createStateless());
    const host = await connectHost();
    const sessionId = await talkTwice(host);
    const options = { strategy: "truncate", keepLast: 2 };
    await host.requestResult("_harn/session/compact", { sessionId, ...options });
    const harn = readHarn(readUpdate(await host.waitForMessage(isCompacted)));
    expect(harn).toMatchObject({
      strategy: "truncate",
      instructionMode: null,
      instructionSource: null,
      compactionPolicy: { engine_strategy: "truncate", keep_last: 2 },
    });
  });

  it("An unknown strategy is refused and nothing is compacted", async () => {
    const { connectHost } = createSteeringWorld(connectLines, SCRIPT, createStateless());
    const host = await connectHost();
    const sessionId = await talkTwice(host);
    const reply = await host.request("session/compact", { sessionId, strategy: "forget" });
    expect(JSON.stringify(reply)).toContain("strategy");
    expect(reply["error"]).toMatchObject({ code: -32602 });
    expect(host.messages.some(isCompacted)).toBe(false);
  });

  it("A stock client compacts with a slash command and receives no vendor update", async () => {
    const parts = createStateless();
    const { connectStock, sessions } = createSteeringWorld(connectLines, SCRIPT, parts);
    const client = await connectStock();
    const sessionId = await talkTwice(client);
    await submit(client, sessionId, "/compact Only name files.");
    expect(readAgentText(client)).toContain("will be compacted");
    await submit(client, sessionId, "Q2");
    expect(client.messages.some(isCompacted)).toBe(false);
    const { agent } = await sessions.status(sessionId);
    expect(agent.compaction).toEqual(parts.compaction);
    expect(parts.provider.invocations[2]?.input.texts?.[0]).toMatch(/^Only name files\./);
  });

  it("A client with the capability session.compaction receives the start, the summary and the failure of a compaction", async () => {
    const provider = createScriptedProvider(
      [says("A0"), says("A1"), says("The summary"), says("A2"), refuses("throttled")],
      { keepsHistory: false, effectFree: true },
    );
    const parts = { provider, compaction: { keepLast: 1 } };
    const { connectStock } = createSteeringWorld(connectLines, [], parts);
    const client = await connectStock();
    await client.requestResult("initialize", {
      protocolVersion: 1,
      clientCapabilities: { session: { compaction: {} } },
    });
    const sessionId = await talkTwice(client);
    const listCompactions = () =>
      client.messages
        .map(readUpdate)
        .filter(({ sessionUpdate }) => sessionUpdate === "compaction_update");
    const isEnded = (status: string) => (message: Parameters<typeof readUpdate>[0]) =>
      readUpdate(message)["status"] === status;
    await submit(client, sessionId, "/compact");
    await client.waitForMessage(isEnded("completed"));
    await submit(client, sessionId, "Q2");
    await submit(client, sessionId, "/compact");
    await client.waitForMessage(isEnded("failed"));
    const [first, , third] = listCompactions().map(({ compactionId }) => compactionId);
    expect(first).not.toBe(third);
    const update = { sessionUpdate: "compaction_update" };
    const summary = [{ type: "text", text: "The summary" }];
    expect(listCompactions()).toEqual([
      { ...update, compactionId: first, status: "in_progress" },
      { ...update, compactionId: first, status: "completed", summary },
      { ...update, compactionId: third, status: "in_progress" },
      {
        ...update,
        compactionId: third,
        status: "failed",
        error: expect.stringContaining("the summary failed"),
      },
    ]);
  });

  it("A host which loads the session later receives the update in the replay", async () => {
    const { connectHost } = createSteeringWorld(connectLines, SCRIPT, createStateless());
    const host = await connectHost();
    const sessionId = await talkTwice(host);
    await host.requestResult("session/compact", { sessionId });
    const first = readUpdate(await host.waitForMessage(isCompacted));
    const late = await connectHost();
    await late.requestResult("session/load", { sessionId, cwd: "/work", mcpServers: [] });
    const replayed = readUpdate(await late.waitForMessage(isCompacted));
    expect(formatSortedJson(replayed)).toBe(formatSortedJson(first));
    const texts = readAgentText(late);
    expect(texts).toContain("A0");
  });
});
