import { OpenAI } from "openai";
import { describe, expect, it } from "vitest";
import type { AgentScript } from "../support/agent-script.ts";
import { startServed } from "../support/start-server.ts";
import { HANGS, HEARD, TALK, agentCalled, heardBy } from "./scripts.ts";
import { waitUntil } from "../../support/with-deadline.ts";

async function connected(script: AgentScript) {
  const served = await startServed(script);
  const { baseUrl, apiKey, model } = served;
  return { served, model, client: new OpenAI({ baseURL: baseUrl, apiKey }) };
}

/** A promise which the test resolves by calling `open`. */
function gate() {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => void (open = resolve));
  return { opened, open };
}

const thrown = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);
const codeOf = (error: unknown) => (error instanceof OpenAI.APIError ? error.code : error);

describe("Stored responses", () => {
  it("A stored response is identical each time it is retrieved [OR-6]", async () => {
    const { client, model } = await connected(TALK);
    const created = await client.responses.create({ model, input: "I am Alice." });
    expect(await client.responses.retrieve(created.id)).toEqual(created);
  });

  it("A stored response can be streamed again from its beginning [OR-48]", async () => {
    const { client, model } = await connected(TALK);
    const created = await client.responses.create({ model, input: "I am Alice." });
    const stream = client.responses.stream({ response_id: created.id });
    const types: string[] = [];
    for await (const { type } of stream) types.push(type);
    expect([types[0], types.at(-1)]).toEqual(["response.created", "response.completed"]);
    expect((await stream.finalResponse()).output).toMatchObject(created.output);
  });

  it("The input items of a stored response contain the prompt [OR-6]", async () => {
    const { client, model } = await connected(TALK);
    const { id } = await client.responses.create({ model, input: "I am Alice." });
    const { data } = await client.responses.inputItems.list(id);
    expect(data).toMatchObject([{ role: "user" }]);
    expect(JSON.stringify(data)).toContain("I am Alice.");
  });

  it("A deleted response is not found and cannot be continued [OR-42]", async () => {
    const { served, client, model } = await connected(TALK);
    const { id } = await client.responses.create({ model, input: "I am Alice." });
    await client.responses.delete(id);
    expect(await thrown(client.responses.retrieve(id))).toBeInstanceOf(OpenAI.NotFoundError);
    const next = { model, input: "Who am I?", previous_response_id: id };
    const refused = await thrown(client.responses.create(next));
    expect(codeOf(refused)).toBe("previous_response_not_found");
    expect(served.agentCalls()).toHaveLength(1);
  });

  it("A response with store false is not found and cannot be continued [OR-39]", async () => {
    const { served, client, model } = await connected(TALK);
    const { id } = await client.responses.create({ model, input: "I am Alice.", store: false });
    expect(await thrown(client.responses.retrieve(id))).toBeInstanceOf(OpenAI.NotFoundError);
    const next = { model, input: "Who am I?", previous_response_id: id };
    const refused = await thrown(client.responses.create(next));
    expect(codeOf(refused)).toBe("previous_response_not_found");
    expect(served.agentCalls()).toHaveLength(1);
  });
});

describe("Background responses", () => {
  it("A background response is returned at once and completes later [OR-48]", async () => {
    const { client, model } = await connected(TALK);
    const begun = await client.responses.create({ model, input: "I am Alice.", background: true });
    expect(["queued", "in_progress"]).toContain(begun.status);
    let found = begun;
    await waitUntil(async () => {
      found = await client.responses.retrieve(begun.id);
      return found.status === "completed";
    });
    expect(found.output_text).toBe("Hello Alice.");
  });

  it("A background response can be cancelled repeatedly with the same result [OR-49]", async () => {
    const { served, client, model } = await connected(HANGS);
    const { id } = await client.responses.create({ model, input: "Go", background: true });
    await agentCalled(served);
    const first = await client.responses.cancel(id);
    await served.interrupted();
    const second = await client.responses.cancel(id);
    expect([first.status, second.status]).toEqual(["cancelled", "cancelled"]);
  });

  it("A response that does not run in the background cannot be cancelled [OR-49]", async () => {
    const { client, model } = await connected(TALK);
    const { id } = await client.responses.create({ model, input: "I am Alice." });
    expect(await thrown(client.responses.cancel(id))).toBeInstanceOf(OpenAI.BadRequestError);
  });
});

describe("Deduplicated turns", () => {
  it.each([
    ["an Idempotency-Key", { "Idempotency-Key": "once" }, { "Idempotency-Key": "once" }],
    ["a retry count of the client", {}, { "x-stainless-retry-count": "1" }],
  ])("A turn submitted twice runs once, recognized by %s [OR-45]", async (_, headers, again) => {
    const { served, client, model } = await connected(TALK);
    const request = { model, input: "I am Alice." };
    const first = await client.responses.create(request, { headers });
    const second = await client.responses.create(request, { headers: again });
    expect(second).toEqual(first);
    expect(served.agentCalls()).toHaveLength(1);
  });
});

describe("Concurrent turns", () => {
  it("Turns of one session run one after the other [OR-43]", async () => {
    const { opened, open } = gate();
    const [hello = {}, you = {}] = Array.isArray(TALK) ? TALK : [];
    const script = [hello, { ...you, waits: opened }, { says: "Still Alice." }];
    const { served, client, model } = await connected(script);
    const first = await client.responses.create({ model, input: "I am Alice." });
    const conversation = first.conversation?.id ?? "";
    const ask = (input: string) => client.responses.create({ model, input, conversation });
    const second = ask("Who am I?");
    await agentCalled(served, 2);
    const third = ask("And now?");
    await client.responses.retrieve(first.id);
    expect(heardBy(served)).toEqual(HEARD);
    open();
    const texts = (await Promise.all([second, third])).map(({ output_text: text }) => text);
    expect(texts).toEqual(["You are Alice.", "Still Alice."]);
  });

  it("Concurrent turns of forty sessions do not mix [OR-44]", async () => {
    const { served, client, model } = await connected(({ texts }) => ({
      says: `You: ${texts.join()}`,
    }));
    const inputs = Array.from({ length: 40 }, (_, index) => `I am number ${index}.`);
    const answers = await Promise.all(
      inputs.map((input) => client.responses.stream({ model, input }).finalResponse()),
    );
    const texts = answers.map(({ output_text: text }) => text);
    expect(texts).toEqual(inputs.map((input) => `You: ${input}`));
    expect(new Set(served.agentCalls().map(({ sessionId }) => sessionId)).size).toBe(40);
  });

  it("A client that disconnects ends only its own turn [OR-50]", async () => {
    const { opened, open } = gate();
    const { served, client, model } = await connected(({ texts }) =>
      texts.includes("Go")
        ? { says: "Well, let me", hangs: true }
        : { says: "Done.", waits: opened },
    );
    const controller = new AbortController();
    const { signal } = controller;
    const abortedRequest = thrown(client.responses.create({ model, input: "Go" }, { signal }));
    const stays = client.responses.create({ model, input: "Stay" });
    await agentCalled(served, 2);
    controller.abort();
    await served.interrupted();
    open();
    expect(await abortedRequest).toBeInstanceOf(OpenAI.APIUserAbortError);
    expect((await stays).output_text).toBe("Done.");
  });
});
