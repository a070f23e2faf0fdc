import { describe, expect, it } from "vitest";
import type { ModelMessage } from "../../../src/domain/model/model-request.ts";
import type { Provider } from "../../../src/providers/provider.ts";
import {
  createScriptedProvider,
  createTurnEnd,
  generateCallBlocks,
  generateMessage,
  says,
  type ProviderScript,
} from "../../support/session/scripted-provider.ts";
import { createAgent, createTool, openWorld } from "../../support/session/session-world.ts";

const STATELESS = { keepsHistory: false, effectFree: true } as const;
const IMAGE = { type: "image", mediaType: "image/png", base64: "iVBORw0KGgo=" } as const;

/** A response with reasoning, text and a call of `look`. */
const thinksAndLooks: ProviderScript = async function* () {
  yield* generateMessage(
    [
      { type: "reasoning.delta", message: 0, block: 0, text: "r".repeat(40) },
      { type: "reasoning.end", message: 0, block: 0, text: "r".repeat(40) },
      ...generateCallBlocks([{ id: "c1", name: "look", input: { path: "abcdef" } }]),
    ],
    "tool_use",
  );
  yield createTurnEnd({ outcome: "action-required", openToolCallIds: ["c1"] });
};

/** The tokens of the conversation before the second invocation of its second turn. */
const TOKENS = {
  // "Question" and "Answer 0".
  firstTurn: 4 + 2 + (4 + 2),
  // The image, and a document as text.
  prompt: 4 + 1600 + 100,
  response: 4 + 10,
  toolCall: 1 + 5,
  result: 4 + 50,
};
const TOTAL = Object.values(TOKENS).reduce((sum, tokens) => sum + tokens, 0);

async function openConversation(thresholdTokens: number, countTokens?: Provider["countTokens"]) {
  const scripted = createScriptedProvider(
    [says("Answer 0"), thinksAndLooks, says("Summary"), says("Done.")],
    STATELESS,
  );
  const provider = countTokens === undefined ? scripted : { ...scripted, countTokens };
  const look = createTool({ name: "look" }, () => ({ text: "x".repeat(189) }));
  const compaction = { strategy: "truncate", thresholdTokens, keepLast: 1 } as const;
  const world = await openWorld(
    createAgent({ provider, tools: [look], compaction, images: "send" }),
  );
  await world.prompt("Question");
  await world.waitForEvent("turn.finished");
  const document = "d".repeat(400);
  await world.send({ type: "prompt", content: [IMAGE, { type: "text", text: document }] });
  await world.waitForEvent("turn.finished", 2);
  return world;
}

describe("Tokens of a conversation", () => {
  it("Text, images, reasoning, tool calls, results and documents count in a running session [W-44]", async () => {
    const below = await openConversation(TOTAL);
    expect(await below.listEvents("compaction.requested")).toEqual([]);
    const above = await openConversation(TOTAL - 1);
    const { receipt } = await above.waitForEvent("transcript.compacted");
    expect(receipt.before).toEqual({ source: "estimate", tokens: TOTAL });
  });

  it("A tokenizer of the provider receives every block, with the bytes of images [W-44]", async () => {
    const received: (readonly ModelMessage[])[] = [];
    const world = await openConversation(TOTAL - 1, async (messages) => {
      received.push(messages);
      return 5000.2;
    });
    const { receipt } = await world.waitForEvent("transcript.compacted");
    expect([receipt.before, receipt.after]).toEqual([
      { source: "tokenizer", tokens: 5001 },
      { source: "tokenizer", tokens: 5001 },
    ]);
    expect(received[0]?.map(({ blocks }) => blocks.map(({ type }) => type))).toEqual([
      ["text"],
      ["text"],
      ["image", "text"],
      ["reasoning", "tool-call"],
      ["tool-result"],
    ]);
    expect(received[0]?.[2]?.blocks[0]).toEqual(IMAGE);
  });

  it.each<readonly [name: string, countTokens: () => unknown]>([
    ["fails", () => Promise.reject(new Error("The tokenizer is offline"))],
    [
      "throws",
      () => {
        throw new Error("The tokenizer is offline");
      },
    ],
    ["returns no number", () => Promise.resolve("many")],
    ["returns a negative number", () => Promise.resolve(-1)],
    ["returns NaN", () => Promise.resolve(Number.NaN)],
    ["returns Infinity", () => Promise.resolve(Infinity)],
  ])(
    "A tokenizer which %s is replaced by the estimate, and is reported [W-44]",
    async (_, count) => {
      const world = await openConversation(
        TOTAL - 1,
        count as NonNullable<Provider["countTokens"]>,
      );
      const { receipt } = await world.waitForEvent("transcript.compacted");
      expect(receipt.before).toEqual({ source: "estimate", tokens: TOTAL });
      expect(receipt.after).toMatchObject({ source: "estimate" });
      expect(String(world.reports[0])).toMatch(/offline|countTokens returned/);
    },
  );
});
