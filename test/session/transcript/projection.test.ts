import { describe, expect, it } from "vitest";
import { defineAgent } from "../../../src/bridge/agent/define-agent.ts";
import type { ModelMessage } from "../../../src/domain/model/model-request.ts";
import type { ProviderEvent } from "../../../src/domain/provider/provider-event.ts";
import type { ProjectionSpec } from "../../../src/domain/transcript/projection.ts";
import { defineTool } from "../../../src/tools/define-tool.ts";
import {
  createScriptedProvider,
  createTurnEnd,
  generateCallBlocks,
  generateMessage,
  says,
  wants,
  type ProviderScript,
  type ScriptedProvider,
} from "../../support/session/scripted-provider.ts";
import { openWorld, type SessionWorld } from "../../support/session/session-world.ts";

const STATELESS = { keepsHistory: false, effectFree: true } as const;
const KEY = `AKIA${"ABCDEFGH".repeat(2)}`;

/** Fails while its argument says so, and returns the argument `output` otherwise. */
const look = defineTool({
  name: "look",
  description: "Looks",
  input: { type: "object" },
  async run(input) {
    if (input["fails"] === true) throw new Error("Not found");
    return typeof input["output"] === "string" ? input["output"] : "seen";
  },
});

async function openConversation(
  scripts: readonly ProviderScript[],
  projection: ProjectionSpec,
): Promise<{ world: SessionWorld; provider: ScriptedProvider }> {
  const provider = createScriptedProvider(scripts, STATELESS);
  const agent = defineAgent({
    name: "demo",
    provider,
    tools: [look],
    approvals: { allow: ["*"] },
    projection,
  });
  return { world: await openWorld(agent), provider };
}

async function talk(world: SessionWorld, texts: readonly string[]): Promise<void> {
  const before = (await world.listEvents("turn.finished")).length;
  for (const [index, text] of texts.entries()) {
    await world.prompt(text);
    await world.waitForEvent("turn.finished", before + index + 1);
  }
}

function formatBlocks(messages: readonly ModelMessage[] = []): string[] {
  return messages.flatMap(({ blocks }) =>
    blocks.map((block) => {
      if (block.type === "text") return block.text;
      if (block.type === "tool-call") return `call ${block.toolCall.id}`;
      if (block.type !== "tool-result") return block.type;
      const [part] = block.result.parts;
      return `${block.result.toolCallId}: ${part?.type === "text" ? part.text : ""}`;
    }),
  );
}

function lastRequest({ invocations }: ScriptedProvider): string[] {
  const { history, input } = invocations.at(-1) ?? {};
  return [...formatBlocks(history), ...(input?.texts ?? [])];
}

/** A response with signed reasoning and a tool call. */
function reasons(id: string, input: object): ProviderScript {
  return async function* (): AsyncGenerator<ProviderEvent> {
    const call = { id, name: "look", input: JSON.parse(JSON.stringify(input)) };
    yield* generateMessage(
      [
        { type: "reasoning.delta", message: 0, block: 0, text: "Hm" },
        { type: "reasoning.end", message: 0, block: 0, text: "Hm", signature: "sig" },
        ...generateCallBlocks([call]),
      ],
      "tool_use",
    );
    yield createTurnEnd({ outcome: "action-required", reason: "tool_use", openToolCallIds: [id] });
  };
}

const FAILS = { id: "c1", name: "look", input: { fails: true } };
const WORKS = { id: "c2", name: "look" };

describe("Redaction of a compaction", () => {
  it("A summary and a tokenizer receive no secret, also from messages with signed reasoning", async () => {
    const leak = { output: `key ${KEY}` };
    const scripted = createScriptedProvider(
      [reasons("c1", leak), says("A0"), says("A1"), says("Summary")],
      STATELESS,
    );
    const counted: unknown[] = [];
    const countTokens = async (messages: readonly ModelMessage[]) => {
      counted.push(messages);
      return 100;
    };
    const agent = defineAgent({
      name: "demo",
      provider: { ...scripted, countTokens },
      tools: [look],
      approvals: { allow: ["*"] },
      projection: { redact: ["hunter\\d"], redactSecrets: true },
      compaction: { keepLast: 2 },
    });
    const world = await openWorld(agent);
    await talk(world, ["My password is hunter2", "Again"]);
    await world.send({ type: "compact" });
    const { receipt } = await world.waitForEvent("transcript.compacted");
    expect(receipt.recap).toBe("Summary");
    const [prompt = ""] = scripted.invocations.at(-1)?.input.texts ?? [];
    expect(prompt).toContain("My password is [redacted]");
    expect(prompt).toContain('Tool call look: {"output":"key [redacted]"}');
    expect(prompt).toContain("Tool result: key [redacted]");
    expect(JSON.stringify([prompt, counted])).not.toMatch(/hunter2|AKIA/);
  });
});

describe("Projection of the transcript", () => {
  it("Failed tool calls are left out once a later call has a result, and the log keeps them [B-040]", async () => {
    const { world, provider } = await openConversation(
      [wants(FAILS), wants(WORKS), says("Done"), says("Bye")],
      { policy: "squash_failed_calls" },
    );
    await talk(world, ["Go", "More"]);
    expect(lastRequest(provider)).toEqual([
      "Go",
      "Let me see.",
      "Let me see.",
      "call c2",
      "c2: seen",
      "Done",
      "More",
    ]);
    const projected = await world.listEvents("transcript.projected");
    expect(projected).toEqual([
      {
        type: "transcript.projected",
        invocationId: expect.any(String),
        projection: {
          policy: "squash_failed_calls",
          reason: "policy",
          prefixHash: expect.stringMatching(/^[0-9a-f]{64}$/),
          keptCount: 6,
          droppedCount: 2,
          providerSafetyBlocked: false,
          redactedCount: 0,
          reclaimedTokens: expect.any(Number),
          rootsConsulted: null,
          redactionPointers: [],
        },
      },
    ]);
    expect(projected[0]?.projection.reclaimedTokens).toBeGreaterThan(0);
    expect(await world.listEvents("tool.finished")).toHaveLength(2);
  });

  it("Calls with invalid arguments are left out after their repair, and other failed calls stay", async () => {
    const invalid = { id: "c0", name: "look", inputText: "{" };
    const { world, provider } = await openConversation(
      [wants(invalid), wants(FAILS), wants(WORKS), says("Done"), says("Bye")],
      { policy: "clean_tool_repair" },
    );
    await talk(world, ["Go", "More"]);
    const request = lastRequest(provider);
    expect(request).not.toContain("call c0");
    expect(request).toContain("call c1");
    expect(request).toContain("call c2");
  });

  it("A projection which would change a message with signed reasoning is abandoned [B-040]", async () => {
    const { world, provider } = await openConversation(
      [reasons("c1", { fails: true }), wants(WORKS), says("Done"), says("Bye")],
      { policy: "squash_failed_calls" },
    );
    await talk(world, ["Go", "More"]);
    expect(lastRequest(provider)).toContain("call c1");
    expect(await world.listEvents("transcript.projected")).toMatchObject([
      {
        projection: {
          providerSafetyBlocked: true,
          reason: "signed_reasoning",
          droppedCount: 0,
          reclaimedTokens: 0,
        },
      },
    ]);
  });

  it("Old tool output to which the last messages do not refer is replaced by a note", async () => {
    const output = "long ".repeat(200);
    const first = { id: "c1", name: "look", input: { path: "src/first.ts", output } };
    const second = { id: "c2", name: "look", input: { path: "src/second.ts", output } };
    const { world, provider } = await openConversation(
      [wants(first), says("Read"), wants(second), says("Read"), says("A"), says("B"), says("C")],
      { policy: "reachability_gc", rootWindow: 3 },
    );
    await talk(world, ["One", "Two", "Three", "Back to src/second.ts", "Now"]);
    const request = lastRequest(provider);
    expect(request.find((text) => text.startsWith("c1:"))).toContain("was left out");
    expect(request.find((text) => text.startsWith("c2:"))).toBe(`c2: ${output}`);
    expect((await world.listEvents("transcript.projected")).at(-1)).toMatchObject({
      projection: { droppedCount: 1, rootsConsulted: 3, policy: "reachability_gc" },
    });
  });

  it("Configured patterns and well-known secrets are replaced in everything which is sent to the model", async () => {
    const { world, provider } = await openConversation(
      [
        wants({ id: "c1", name: "look", input: { output: `key ${KEY}` } }),
        says("It is hunter2"),
        says("Bye"),
      ],
      { redact: ["hunter\\d"], redactSecrets: true },
    );
    await talk(world, ["My password is hunter2", "Again"]);
    // The progress of the turn is for the guards of the loop; no model receives it.
    const sent = provider.invocations.map(({ history, input }) => [
      history,
      input.texts,
      input.type === "results" ? [input.turn.messages, input.results] : [],
    ]);
    expect(JSON.stringify(sent)).not.toContain("hunter2");
    expect(JSON.stringify(sent)).not.toContain(KEY);
    expect(lastRequest(provider)).toEqual([
      "My password is [redacted]",
      "Let me see.",
      "call c1",
      "c1: key [redacted]",
      "It is [redacted]",
      "Again",
    ]);
    const log = JSON.stringify(await world.readLog());
    expect(log).toContain("My password is hunter2");
    expect((await world.listEvents("transcript.projected")).at(-1)?.projection).toMatchObject({
      policy: "raw",
      reason: "redaction",
      redactedCount: 4,
      redactionPointers: [
        "/messages/0/blocks/0",
        "/messages/1/blocks/1",
        "/messages/2/blocks/0",
        "/messages/3/blocks/0",
      ],
    });
  });

  it("A secret in a message with signed reasoning stays, because the provider wrote it, and the receipt says so", async () => {
    const { world, provider } = await openConversation(
      [reasons("c1", { output: "hunter2" }), says("Done"), says("Bye")],
      { redact: ["hunter2"] },
    );
    await talk(world, ["Go", "More"]);
    expect(lastRequest(provider)).toContain("c1: [redacted]");
    expect((await world.listEvents("transcript.projected")).at(-1)?.projection).toMatchObject({
      providerSafetyBlocked: true,
      redactedCount: 1,
    });
  });

  it("An agent without a projection logs none, and a projection without an effect logs none", async () => {
    for (const projection of [{}, { policy: "squash_failed_calls" }] as const) {
      const { world } = await openConversation(
        [wants(WORKS), says("Done"), says("Bye")],
        projection,
      );
      await talk(world, ["Go", "More"]);
      expect(await world.listEvents("transcript.projected")).toEqual([]);
    }
  });
});
