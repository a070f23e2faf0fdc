import { OpenAI } from "openai";
import { ResponsesWS } from "openai/resources/responses/ws";
import { VERSION } from "openai/version";
import { describe, expect, it } from "vitest";
import type { AgentScript } from "../support/agent-script.ts";
import { startServed } from "../support/start-server.ts";
import {
  AGENT_TOOL,
  CLIENT_TOOL,
  HANGS,
  HEARD,
  HEARD_RESULT,
  TALK,
  agentCalled,
  heardBy,
} from "./scripts.ts";

const parameters = { type: "object", properties: { location: { type: "string" } } };
const WEATHER = { type: "function", name: "get_weather", parameters, strict: null } as const;

describe(`openai ${VERSION}`, () => {
  async function connected(script: AgentScript, headers = {}) {
    const served = await startServed(script);
    const { baseUrl, apiKey, model } = served;
    const client = new OpenAI({ baseURL: baseUrl, apiKey, defaultHeaders: headers });
    return { served, client, model };
  }

  describe("Responses", () => {
    it("The client continues a conversation by previous_response_id [OR-80] [OR-27] [OR-37]", async () => {
      const { served, client, model } = await connected(TALK);
      const first = await client.responses.create({ model, input: "I am Alice." });
      const previous_response_id = first.id;
      const request = { model, input: "Who am I?", previous_response_id };
      const second = await client.responses.create(request);
      expect([first.output_text, second.output_text]).toEqual(["Hello Alice.", "You are Alice."]);
      expect(heardBy(served)).toEqual(HEARD);
    });

    it("The client continues a conversation by the previous_response_id of a stream [OR-80] [OR-27] [OR-28]", async () => {
      const { served, client, model } = await connected(TALK);
      const first = await client.responses.stream({ model, input: "I am Alice." }).finalResponse();
      const request = { model, input: "Who am I?", previous_response_id: first.id };
      const second = await client.responses.stream(request).finalResponse();
      expect([first.output_text, second.output_text]).toEqual(["Hello Alice.", "You are Alice."]);
      expect(heardBy(served)).toEqual(HEARD);
    });

    it.each(["a string", "an object"])(
      "The client continues a conversation by its id as %s [OR-32] [OR-34]",
      async (form) => {
        const { served, client, model } = await connected(TALK);
        const first = await client.responses.create({ model, input: "I am Alice." });
        const id = first.conversation?.id ?? "";
        const conversation = form === "a string" ? id : { id };
        await client.responses.create({ model, input: "Who am I?", conversation });
        expect(heardBy(served)).toEqual(HEARD);
      },
    );

    it("The client continues a conversation by echoing the output items [OR-32] [OR-37] [OR-61]", async () => {
      const { served, client, model } = await connected(TALK);
      const userMessage = { role: "user", content: "I am Alice." } as const;
      const first = await client.responses.create({ model, input: [userMessage] });
      const input = [
        userMessage,
        ...echoed(first.output),
        { role: "user", content: "Who am I?" } as const,
      ];
      await client.responses.create({ model, input });
      expect(heardBy(served)).toEqual(HEARD);
    });

    it.each([false, true])(
      "The client runs its tool and sends the result (streamed: %s) [OR-53]",
      async (isStreamed) => {
        const { served, client, model } = await connected(CLIENT_TOOL);
        const ask = (body: {
          input: OpenAI.Responses.ResponseInput;
          previous_response_id?: string;
        }) => {
          const whole = { model, tools: [WEATHER], ...body };
          return isStreamed
            ? client.responses.stream(whole).finalResponse()
            : client.responses.create(whole);
        };
        const input = [{ role: "user", content: "How warm is it in Paris?" } as const];
        const first = await ask({ input });
        const call = first.output.find((item) => item.type === "function_call");
        expect(call).toMatchObject({ name: "get_weather", arguments: '{"location":"Paris"}' });
        const call_id = call?.type === "function_call" ? call.call_id : "";
        const output = { type: "function_call_output", call_id, output: "18 degrees" } as const;
        const second = await ask({ input: [output], previous_response_id: first.id });
        expect(second.output_text).toBe("It is 18 degrees in Paris.");
        expect(heardBy(served)).toEqual(HEARD_RESULT);
      },
    );

    it.each([
      [
        "pairs",
        { "x-spanline-trace": "pairs" },
        ["function_call", "function_call_output", "message"],
      ],
      ["mcp by default", {}, ["mcp_call", "message"]],
      ["none", { "x-spanline-trace": "none" }, ["message"]],
    ])(
      "The client sees tools that ran on the agent's side as %s [OR-58]",
      async (_mode, headers, types) => {
        const { client, model } = await connected(AGENT_TOOL, headers);
        const response = await client.responses
          .stream({ model, input: "Any shoes?" })
          .finalResponse();
        expect(response.output.map(({ type }) => type)).toEqual(types);
        expect(response.output_text).toBe("No shoes were found.");
      },
    );

    it("The client gets a 404 error for an unknown model and does not retry [OR-70] [OR-46]", async () => {
      const { served, client } = await connected(TALK);
      const responsePromise = client.responses.create({ model: "nobody", input: "Hello?" });
      const error = await responsePromise.catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(OpenAI.NotFoundError);
      expect(error).toMatchObject({ code: "model_not_found", param: "model" });
      expect(error).toHaveProperty("requestID", expect.stringMatching(/./));
      expect(served.agentCalls()).toEqual([]);
    });

    it("The agent stops if the client stops reading the stream [OR-47]", async () => {
      const { served, client, model } = await connected(HANGS);
      const stream = await client.responses.create({ model, input: "Go", stream: true });
      for await (const event of stream) if (event.type === "response.output_text.delta") break;
      await expect(served.interrupted()).resolves.toBeUndefined();
    });

    it("The agent stops if the client aborts the request [OR-47]", async () => {
      const { served, client, model } = await connected(HANGS);
      const controller = new AbortController();
      const { signal } = controller;
      const responsePromise = client.responses.create({ model, input: "Go" }, { signal });
      await agentCalled(served);
      controller.abort();
      await expect(responsePromise).rejects.toBeInstanceOf(OpenAI.APIUserAbortError);
      await expect(served.interrupted()).resolves.toBeUndefined();
    });
  });

  describe("Chat completions", () => {
    const userMessage = { role: "user", content: "I am Alice." } as const;
    const next = { role: "user", content: "Who am I?" } as const;

    it("The client continues a conversation by echoing the message [OR-32] [OR-68]", async () => {
      const { served, client, model } = await connected(TALK);
      const first = await client.chat.completions.create({ model, messages: [userMessage] });
      const message = first.choices[0]?.message ?? userMessage;
      await client.chat.completions.create({ model, messages: [userMessage, message, next] });
      expect(heardBy(served)).toEqual(HEARD);
    });

    it("The client continues a conversation by echoing the message of a stream [OR-32] [OR-65]", async () => {
      const { served, client, model } = await connected(TALK);
      const first = await client.chat.completions
        .stream({ model, messages: [userMessage], stream_options: { include_usage: true } })
        .finalChatCompletion();
      expect(first.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 5 });
      const message = first.choices[0]?.message ?? userMessage;
      await client.chat.completions.create({ model, messages: [userMessage, message, next] });
      expect(heardBy(served)).toEqual(HEARD);
    });

    it.each([false, true])(
      "`runTools` of the client runs its own tools (streamed: %s) [OR-53] [OR-68]",
      async (stream) => {
        const { served, client, model } = await connected(CLIENT_TOOL);
        const ran: unknown[] = [];
        const run = (input: unknown) => {
          ran.push(input);
          return "18 degrees";
        };
        const tool = {
          type: "function",
          function: { name: "get_weather", parameters, parse: JSON.parse, function: run },
        } as const;
        const messages = [{ role: "user", content: "How warm is it in Paris?" } as const];
        // The types have separate overloads for streamed and whole responses; the runner is the same.
        const request = { model, messages, tools: [tool], stream } as never;
        const runner = client.chat.completions.runTools(request);
        expect(await runner.finalContent()).toBe("It is 18 degrees in Paris.");
        expect(ran).toEqual([{ location: "Paris" }]);
        expect(heardBy(served)).toEqual(HEARD_RESULT);
      },
    );

    it("Tools that ran on the agent's side are listed next to the message, never as tool calls [OR-66]", async () => {
      const { client, model } = await connected(AGENT_TOOL);
      const messages = [{ role: "user", content: "Any shoes?" } as const];
      const { choices } = await client.chat.completions.create({ model, messages });
      expect(choices).toMatchObject([
        { finish_reason: "stop", message: { content: "No shoes were found." } },
      ]);
      expect(choices[0]?.message.tool_calls).toBeUndefined();
      expect(JSON.stringify(choices)).toContain("look_up");
    });

    it("The client gets a 404 error for an unknown model in a chat [OR-70]", async () => {
      const { client } = await connected(TALK);
      const responsePromise = client.chat.completions.create({
        model: "nobody",
        messages: [userMessage],
      });
      await expect(responsePromise).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    });

    it("The agent stops if the client stops reading a chat stream [OR-47]", async () => {
      const { served, client, model } = await connected(HANGS);
      const body = { model, messages: [userMessage], stream: true as const };
      const stream = await client.chat.completions.create(body);
      for await (const { choices } of stream) if (choices.length > 0) break;
      await expect(served.interrupted()).resolves.toBeUndefined();
    });
  });
});

describe(`openai ${VERSION} over a WebSocket`, () => {
  it("The client continues by the previous_response_id of a response that was not stored [OR-76] [OR-39]", async () => {
    const served = await startServed(TALK);
    const { baseUrl, apiKey, model } = served;
    const socket = new ResponsesWS(new OpenAI({ baseURL: baseUrl, apiKey }));
    const ask = (body: object): Promise<string> =>
      new Promise((resolve, reject) => {
        socket.on("error", reject);
        socket.on("response.completed", ({ response }) => resolve(response.id));
        socket.send({ type: "response.create", model, store: false, ...body });
      });
    const previous_response_id = await ask({ input: "I am Alice." });
    await ask({ input: "Who am I?", previous_response_id });
    socket.close();
    expect(heardBy(served)).toEqual(HEARD);
  });
});

/** The types of openai 7 do not accept an output item as input; the API does. */
function echoed(output: readonly OpenAI.Responses.ResponseOutputItem[]) {
  return output as unknown as OpenAI.Responses.ResponseInputItem[];
}
