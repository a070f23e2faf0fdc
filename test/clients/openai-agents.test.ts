import {
  Agent,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  Runner,
  tool,
  type AgentInputItem,
} from "@openai/agents";
import { OpenAI } from "openai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { AgentScript } from "../responses/support/agent-script.ts";
import { startServed } from "../responses/support/start-server.ts";
import type { Target } from "../responses/support/target.ts";
import {
  AGENT_TOOL,
  CLIENT_TOOL,
  HANGS,
  HEARD,
  HEARD_RESULT,
  RETOLD,
  TALK,
  agentCalled,
  heardBy,
} from "../responses/clients/scripts.ts";

const runner = new Runner({ tracingDisabled: true });

const getWeather = tool({
  name: "get_weather",
  description: "The weather at a place",
  parameters: z.object({ location: z.string() }),
  execute: async ({ location }) => (location === "Paris" ? "18 degrees" : "unknown"),
});

describe.each([
  ["responses", OpenAIResponsesModel],
  ["chat", OpenAIChatCompletionsModel],
])("@openai/agents %s", (api, Model) => {
  function agentAt({ baseUrl, apiKey, model }: Target, headers = {}) {
    // The package has a separate copy of openai; only the types differ.
    const client = new OpenAI({ baseURL: baseUrl, apiKey, defaultHeaders: headers }) as never;
    return new Agent({ name: "Assistant", model: new Model(client, model) });
  }

  async function connected(script: AgentScript, headers = {}) {
    const served = await startServed(script);
    return { served, agent: agentAt(served, headers) };
  }

  async function finalOutput(agent: Agent, input: string | AgentInputItem[], isStreamed: boolean) {
    if (!isStreamed) return runner.run(agent, input);
    const result = await runner.run(agent, input, { stream: true });
    await result.completed;
    return result;
  }

  it.each([false, true])(
    "The client continues a conversation by its history (streamed: %s) [OR-80] [OR-32]",
    async (isStreamed) => {
      const { served, agent } = await connected(TALK);
      const first = await finalOutput(agent, "I am Alice.", isStreamed);
      const input = [...first.history, { role: "user", content: "Who am I?" } as const];
      const second = await finalOutput(agent, input, isStreamed);
      expect([first.finalOutput, second.finalOutput]).toEqual(["Hello Alice.", "You are Alice."]);
      // From a chat stream, the client keeps only the text; from a whole response, all fields of the message.
      expect(heardBy(served)).toEqual(api === "chat" && isStreamed ? RETOLD : HEARD);
    },
  );

  it.each([false, true])(
    "The client runs its tool and sends the result (streamed: %s) [OR-53]",
    async (isStreamed) => {
      const { served, agent } = await connected(CLIENT_TOOL);
      const able = agent.clone({ tools: [getWeather] });
      const result = await finalOutput(able, "How warm is it in Paris?", isStreamed);
      expect(result.finalOutput).toBe("It is 18 degrees in Paris.");
      expect(heardBy(served)).toEqual(HEARD_RESULT);
    },
  );

  it.each([false, true])(
    "The client ends its turn after an agent tool (streamed: %s) [OR-58]",
    async (isStreamed) => {
      const { served, agent } = await connected(AGENT_TOOL);
      const result = await finalOutput(agent, "Any shoes?", isStreamed);
      expect(result.finalOutput).toBe("No shoes were found.");
      expect(heardBy(served)).toHaveLength(1);
    },
  );

  it("The client gets a 404 error for an unknown model [OR-70]", async () => {
    const served = await startServed(TALK);
    const responsePromise = runner.run(agentAt({ ...served, model: "nobody" }), "Hello?");
    await expect(responsePromise).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    expect(served.agentCalls()).toEqual([]);
  });

  it("The agent stops if the client aborts the request [OR-47]", async () => {
    const { served, agent } = await connected(HANGS);
    const controller = new AbortController();
    const responsePromise = runner.run(agent, "Go", { signal: controller.signal });
    const failed = responsePromise.catch(() => "aborted");
    await agentCalled(served);
    controller.abort();
    expect(await failed).toBe("aborted");
    await expect(served.interrupted()).resolves.toBeUndefined();
  });
});

describe("@openai/agents responses", () => {
  it.each(["previousResponseId", "conversationId"])(
    "The client continues a conversation by %s [OR-27] [OR-32]",
    async (by) => {
      const served = await startServed(TALK);
      const { baseUrl, apiKey, model } = served;
      const client = new OpenAI({ baseURL: baseUrl, apiKey }) as never;
      const agent = new Agent({
        name: "Assistant",
        model: new OpenAIResponsesModel(client, model),
      });
      const { lastResponseId } = await runner.run(agent, "I am Alice.");
      const [{ sessionId: conversationId } = { sessionId: "" }] = served.agentCalls();
      const carried =
        by === "conversationId" ? { conversationId } : { previousResponseId: lastResponseId ?? "" };
      await runner.run(agent, "Who am I?", carried);
      expect(heardBy(served)).toEqual(HEARD);
    },
  );
});
