import { describe, expect, it } from "vitest";
import type { Model } from "../../../src/models/model.ts";
import { modelFromName } from "../../../src/models/model-from-name.ts";
import { localProvider } from "../../../src/providers/local/local-provider.ts";
import {
  DIALECTS,
  hangs,
  says,
  startModelServer,
  wants,
  type ModelServerRequest,
  type ScriptedResponse,
} from "../../support/server/model-server.ts";
import { createAgent, createTool, openWorld } from "../../support/session/session-world.ts";

/**
 * A real model: SPANLINE_TEST_MODEL=openai:gpt-5-mini with OPENAI_API_KEY, and OPENAI_BASE_URL for a server other than
 * OpenAI; or anthropic:, bedrock: or ollama: with their own variables. Costs a few requests.
 */
const REAL = process.env["SPANLINE_TEST_MODEL"];

const WORD = "marmalade";

/** Responds as any attentive model would in this conversation. */
function listener({ messages }: ModelServerRequest): ScriptedResponse {
  const jsonText = JSON.stringify(messages);
  const last = JSON.stringify(messages.at(-1));
  if (last.includes("Count") && !last.includes("Never mind")) return hangs("1, ");
  if (last.includes("secret word of the day") && !last.includes(WORD)) {
    return wants({ id: "c1", name: "secret_word", input: { day: "today" } });
  }
  return says(jsonText.includes(WORD) ? `It is ${WORD}.` : "I do not know.");
}

/** Returns how the turns ended, how often the tool ran, and the remembered word before and after a restart. */
async function conversation(model: Model) {
  let runs = 0;
  const schema = { type: "object", properties: { day: { type: "string" } }, required: ["day"] };
  const description = "Gives the secret word of a day";
  const secret = createTool({ name: "secret_word", description, schema }, () => {
    runs += 1;
    return WORD;
  });
  const system = "You are a test. Answer in one short sentence. Use your tools where they help.";
  const provider = localProvider({ model, system, maxTokens: 4000 });
  const agent = createAgent({ provider, tools: [secret], onLost: "resend" });
  const world = await openWorld(agent);
  const lastText = async (): Promise<string> =>
    (await world.listEvents("text.finished")).at(-1)?.text ?? "";

  await world.prompt(
    "Ask your tool for the secret word of the day for today, and tell me the word.",
  );
  await world.waitForEvent("turn.finished");
  const before = await lastText();

  const messages = (await world.listEvents("message.started")).length;
  await world.prompt("Count from 1 to 400, in words, one number on each line.");
  await world.waitForEvent("message.started", messages + 1);
  await world.cancel();

  const next = await world.restart(agent);
  await next.prompt("Never mind. Which word did your tool give you before? Say only that word.");
  await next.waitForEvent("turn.finished", 3);
  const outcomes = (await next.listEvents("turn.finished")).map(({ outcome }) => outcome);
  return { outcomes, runs, before, after: await lastText() };
}

const EXPECTED = {
  outcomes: ["completed", "cancelled", "completed"],
  runs: 1,
  before: expect.stringMatching(new RegExp(WORD, "i")),
  after: expect.stringMatching(new RegExp(WORD, "i")),
};

describe("A conversation with a tool, a cancel and a restart", () => {
  it.each(DIALECTS)(
    "The conversation completes over a scripted model with the dialect %s",
    async (dialect) => {
      const server = await startModelServer(dialect, listener);
      expect(await conversation(server.createModel())).toEqual(EXPECTED);
    },
  );

  it.skipIf(REAL === undefined)(
    `The conversation completes over a real model (${REAL ?? "skipped: SPANLINE_TEST_MODEL is not set"})`,
    async () => {
      expect(await conversation(modelFromName(REAL ?? "", process.env))).toEqual(EXPECTED);
    },
    180_000,
  );
});
