import { createOpenResponses } from "@ai-sdk/open-responses";
import { createOpenAI } from "@ai-sdk/openai";
import { APICallError, generateText, isStepCount, streamText, tool, type ModelMessage } from "ai";
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

type Headers = { readonly [name: string]: string };

const openResponses = ({ baseUrl, apiKey }: Target, headers: Headers) =>
  createOpenResponses({ name: "spanline", url: `${baseUrl}/responses`, apiKey, headers });
const openai = ({ baseUrl, apiKey }: Target, headers: Headers) =>
  createOpenAI({ baseURL: baseUrl, apiKey, headers });

const userMessage: ModelMessage = { role: "user", content: "I am Alice." };
const next: ModelMessage = { role: "user", content: "Who am I?" };

describe.each([
  [
    "@ai-sdk/open-responses",
    (at: Target, model: string, headers: Headers) => openResponses(at, headers)(model),
  ],
  [
    "@ai-sdk/openai responses",
    (at: Target, model: string, headers: Headers) => openai(at, headers).responses(model),
  ],
  [
    "@ai-sdk/openai chat",
    (at: Target, model: string, headers: Headers) => openai(at, headers).chat(model),
  ],
])("%s", (name, modelAt) => {
  const isChat = name.endsWith("chat");

  async function connected(script: AgentScript, headers: Headers = {}) {
    const served = await startServed(script);
    return { served, model: modelAt(served, served.model, headers) };
  }

  it.each([false, true])(
    "The client continues a conversation by its history (streamed: %s) [OR-80] [OR-32]",
    async (isStreamed) => {
      const { served, model } = await connected(TALK);
      const ask = async (messages: ModelMessage[]) => {
        const result = isStreamed
          ? streamText({ model, messages })
          : await generateText({ model, messages });
        return { text: await result.text, messages: await result.responseMessages };
      };
      const first = await ask([userMessage]);
      const second = await ask([userMessage, ...first.messages, next]);
      expect([first.text, second.text]).toEqual(["Hello Alice.", "You are Alice."]);
      expect(heardBy(served)).toEqual(isChat ? RETOLD : HEARD);
    },
  );

  it.each([false, true])(
    "The client runs its tool and sends the result (streamed: %s) [OR-53]",
    async (isStreamed) => {
      const { served, model } = await connected(CLIENT_TOOL);
      const get_weather = tool({
        inputSchema: z.object({ location: z.string() }),
        execute: async ({ location }) => (location === "Paris" ? "18 degrees" : "unknown"),
      });
      const request = {
        model,
        prompt: "How warm is it in Paris?",
        tools: { get_weather },
        stopWhen: isStepCount(3),
      };
      const { text } = isStreamed ? streamText(request) : await generateText(request);
      expect(await text).toBe("It is 18 degrees in Paris.");
      expect(heardBy(served)).toEqual(HEARD_RESULT);
    },
  );

  it.each([false, true])(
    "The client ends its turn after an agent tool (streamed: %s) [OR-58]",
    async (isStreamed) => {
      const { model } = await connected(AGENT_TOOL);
      const request = { model, prompt: "Any shoes?" };
      const result = isStreamed ? streamText(request) : await generateText(request);
      const { text, finishReason, content } = result;
      expect([await text, await finishReason]).toEqual(["No shoes were found.", "stop"]);
      const failed = (await content).filter(({ type }) => type === "tool-error");
      expect(failed).toEqual([]);
    },
  );

  it("The client gets a 404 error for an unknown model [OR-70]", async () => {
    const served = await startServed(TALK);
    const model = modelAt(served, "nobody", {});
    const error = await generateText({ model, prompt: "Hello?" }).catch(
      (thrown: unknown) => thrown,
    );
    expect(APICallError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ statusCode: 404, isRetryable: false });
    expect(served.agentCalls()).toEqual([]);
  });

  it("The agent stops if the client aborts the request [OR-47]", async () => {
    const { served, model } = await connected(HANGS);
    const controller = new AbortController();
    const request = { model, prompt: "Go", abortSignal: controller.signal };
    const { textStream } = streamText({ ...request, onError: () => {} });
    const read = (async () => {
      for await (const text of textStream) if (text !== "") controller.abort();
    })();
    await agentCalled(served);
    await expect(served.interrupted()).resolves.toBeUndefined();
    await read;
  });
});
