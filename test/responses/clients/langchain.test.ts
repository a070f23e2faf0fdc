import {
  HumanMessage,
  ToolMessage,
  type AIMessage,
  type BaseMessage,
} from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { AgentScript } from "../support/agent-script.ts";
import { startServed } from "../support/start-server.ts";
import type { Target } from "../support/target.ts";
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
} from "./scripts.ts";

const getWeather = tool(({ location }) => (location === "Paris" ? "18 degrees" : "unknown"), {
  name: "get_weather",
  schema: z.object({ location: z.string() }),
});

describe.each(["responses", "chat"])("@langchain/openai %s", (api) => {
  const isChat = api === "chat";

  function modelAt({ baseUrl, apiKey, model }: Target, headers = {}): ChatOpenAI {
    const configuration = { baseURL: baseUrl, defaultHeaders: headers };
    return new ChatOpenAI({
      model,
      apiKey,
      useResponsesApi: !isChat,
      maxRetries: 0,
      configuration,
    });
  }

  async function connected(script: AgentScript, headers = {}) {
    const served = await startServed(script);
    return { served, model: modelAt(served, headers) };
  }

  it.each([false, true])(
    "LangChain continues a conversation by its history (streamed: %s) [OR-80] [OR-32]",
    async (isStreamed) => {
      const { served, model } = await connected(TALK);
      const ask = async (messages: BaseMessage[]): Promise<AIMessage> =>
        isStreamed ? joined(await model.stream(messages)) : model.invoke(messages);
      const userMessage = new HumanMessage("I am Alice.");
      const first = await ask([userMessage]);
      const second = await ask([userMessage, first, new HumanMessage("Who am I?")]);
      expect([first.text, second.text]).toEqual(["Hello Alice.", "You are Alice."]);
      expect(heardBy(served)).toEqual(isChat ? RETOLD : HEARD);
    },
  );

  it.each([false, true])(
    "LangChain runs its tool and sends the result (streamed: %s) [OR-53]",
    async (isStreamed) => {
      const { served, model } = await connected(CLIENT_TOOL);
      const bound = model.bindTools([getWeather]);
      const ask = async (messages: BaseMessage[]): Promise<AIMessage> =>
        isStreamed ? joined(await bound.stream(messages)) : bound.invoke(messages);
      const userQuestion = new HumanMessage("How warm is it in Paris?");
      const first = await ask([userQuestion]);
      const call = first.tool_calls?.[0];
      expect(call).toMatchObject({ name: "get_weather", args: { location: "Paris" } });
      const content = await getWeather.invoke({ location: String(call?.args["location"]) });
      const result = new ToolMessage({ content, tool_call_id: call?.id ?? "" });
      const second = await ask([userQuestion, first, result]);
      expect(second.text).toBe("It is 18 degrees in Paris.");
      expect(heardBy(served)).toEqual(HEARD_RESULT);
    },
  );

  it.each([false, true])(
    "LangChain gets no tool call to run for a tool of the agent (streamed: %s) [OR-58]",
    async (isStreamed) => {
      const { model } = await connected(AGENT_TOOL);
      const questionMessages = [new HumanMessage("Any shoes?")];
      const answer = isStreamed
        ? await joined(await model.stream(questionMessages))
        : await model.invoke(questionMessages);
      expect([answer.text, answer.tool_calls]).toEqual(["No shoes were found.", []]);
    },
  );

  it("LangChain gets a 404 error for an unknown model [OR-70]", async () => {
    const served = await startServed(TALK);
    const responsePromise = modelAt({ ...served, model: "nobody" }).invoke("Hello?");
    await expect(responsePromise).rejects.toMatchObject({ status: 404, code: "model_not_found" });
    expect(served.agentCalls()).toEqual([]);
  });

  it("The agent stops if LangChain aborts the request [OR-47]", async () => {
    const { served, model } = await connected(HANGS);
    const controller = new AbortController();
    const responsePromise = model.invoke("Go", { signal: controller.signal });
    const failed = responsePromise.catch(() => "aborted");
    await agentCalled(served);
    controller.abort();
    expect(await failed).toBe("aborted");
    await expect(served.interrupted()).resolves.toBeUndefined();
  });
});

describe("@langchain/openai responses", () => {
  it("LangChain continues a conversation by previous_response_id [OR-27] [OR-37]", async () => {
    const served = await startServed(TALK);
    const { baseUrl, apiKey, model } = served;
    const configuration = { baseURL: baseUrl };
    const chat = new ChatOpenAI({ model, apiKey, useResponsesApi: true, configuration });
    const first = await chat.invoke("I am Alice.");
    const { id } = first.response_metadata as { id: string };
    await chat.invoke("Who am I?", { previous_response_id: id });
    expect(heardBy(served)).toEqual(HEARD);
  });
});

async function joined<Chunk extends { concat(next: Chunk): Chunk } & AIMessage>(
  chunks: AsyncIterable<Chunk>,
): Promise<AIMessage> {
  let whole: Chunk | undefined;
  for await (const chunk of chunks) whole = whole?.concat(chunk) ?? chunk;
  if (whole === undefined) throw new Error("The stream was empty");
  return whole;
}
