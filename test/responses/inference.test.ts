import { describe, expect, it } from "vitest";
import { defineAgent } from "../../src/bridge/agent/define-agent.ts";
import { harnessProvider } from "../../src/providers/agentcore/harness-provider.ts";
import { encodeAwsFrame, startEventStream, startPeer } from "../support/server/scripted-peer.ts";
import { HARNESS_ARN } from "../support/session/provider-session.ts";
import {
  breaks,
  createTurnEnd,
  generateMessage,
  refuses,
  says,
  type ProviderScript,
} from "../support/session/scripted-provider.ts";
import { SEED_TURN } from "./support/seed.ts";
import { serveSessions } from "./support/serve-sessions.ts";
import { send, serveAnswers } from "./support/serve-answers.ts";

const INFER = ["POST", "/inference"] as const;
const SESSION = "550e8400-e29b-41d4-a716-446655440000";

/** A real provider on a harness which streams the same events in every turn. */
async function harness(turn = SEED_TURN) {
  const peer = await startPeer((response) => {
    startEventStream(response);
    for (const [name, payload] of turn) response.write(encodeAwsFrame(name, payload));
    response.end();
  });
  const provider = harnessProvider({
    harnessArn: HARNESS_ARN,
    endpoint: peer.url,
    credentials: { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "example-secret-key" },
  });
  const agent = defineAgent({ name: "shop", provider });
  return { ...(await serveSessions({ agents: [agent] })), peer };
}

function sentTo(peer: Awaited<ReturnType<typeof startPeer>>) {
  return peer.requests.map(({ headers, body }) => ({
    session: headers["x-amzn-bedrock-agentcore-runtime-session-id"],
    ...JSON.parse(String(body)),
  }));
}

describe("POST /inference, as in the tutorial", () => {
  it("The first turn returns its trace and one message with the session id [OR-74] [SD-34]", async () => {
    const served = await harness();
    const body = JSON.parse(`{
      "messages": [
        { "role": "user", "content": "Search the catalog for shoes." }
      ]
    }`);
    const { status, headers, json } = await send(served, INFER, { body });
    const session_id = headers.get("x-spanline-session");
    expect(status).toBe(200);
    expect(json).toEqual({
      items: [
        {
          id: expect.stringMatching(/^fc_/),
          type: "function_call",
          call_id: "tooluse_01",
          name: "search_products",
          arguments: '{"query": "shoes"}',
          status: "completed",
        },
        {
          id: expect.stringMatching(/^fco_/),
          type: "function_call_output",
          call_id: "tooluse_01",
          output: "[]",
          status: "completed",
        },
        {
          id: expect.stringMatching(/^msg_/),
          type: "message",
          status: "completed",
          role: "assistant",
          content: [{ type: "output_text", text: "I couldn't find any shoes...", annotations: [] }],
          session_id,
        },
      ],
      usage: { num_prompt_tokens: 201, num_completion_tokens: 22 },
    });
    expect(session_id?.length).toBeGreaterThanOrEqual(33);
    expect(sentTo(served.peer)).toEqual([
      {
        session: session_id,
        messages: [{ role: "user", content: [{ text: "Search the catalog for shoes." }] }],
      },
    ]);
  });

  it("The next turn continues the echoed session and sends only the new message [OR-37] [SD-6] [SD-7]", async () => {
    const served = await harness();
    const body = JSON.parse(`{
      "messages": [
        { "role": "user", "content": "Hello!" },
        { "role": "assistant", "content": "Hello! How can I assist you today?",
          "session_id": "550e8400-e29b-41d4-a716-446655440000" },
        { "role": "user", "content": "What is my session id?" }
      ]
    }`);
    const { json } = await send(served, INFER, { body });
    expect(json.items.at(-1).session_id).toBe(SESSION);
    expect(sentTo(served.peer)).toEqual([
      {
        session: SESSION,
        messages: [{ role: "user", content: [{ text: "What is my session id?" }] }],
      },
    ]);
  });
});

describe("A conversation of AI GO!", () => {
  interface Message {
    readonly role: string;
    readonly content: unknown;
    readonly [field: string]: unknown;
  }

  it("The echoed messages alone identify the session and keep attached state [OR-74] [SD-6] [OR-32]", async () => {
    const served = await serveAnswers([says("One"), says("Two"), says("Three")]);
    const messages: Message[] = [];
    const replies: Message[] = [];
    for (const [nth, content] of ["first", "second", "third"].entries()) {
      messages.push({ role: "user", content });
      const body = { model: "scripted", messages };
      const { json } = await send(served, INFER, { body });
      const reply = json.items.at(-1) as Message;
      replies.push(reply);
      // An intermediary attached a cursor to the first message.
      messages.push(nth === 0 ? { ...reply, cursor: { at: 7 } } : reply);
    }
    expect(served.provider.invocations.map(({ input }) => input.texts)).toEqual([
      ["first"],
      ["second"],
      ["third"],
    ]);
    expect(new Set(served.provider.invocations.map(({ sessionId }) => sessionId)).size).toBe(1);
    expect(new Set(replies.map(({ session_id }) => session_id)).size).toBe(1);
    expect(replies.map(({ cursor }) => cursor)).toEqual([undefined, { at: 7 }, { at: 7 }]);
  });

  it("A repeated turn is not submitted to the agent again [SD-12] [OR-45]", async () => {
    const served = await serveAnswers([says("One"), says("Two")]);
    const first = await send(served, INFER, {
      body: { messages: [{ role: "user", content: "Go" }] },
    });
    const messages = [
      { role: "user", content: "Go" },
      first.json.items[0],
      { role: "user", content: "On" },
    ];
    const second = await send(served, INFER, { body: { messages } });
    const again = await send(served, INFER, { body: { messages } });
    expect(again.text).toBe(second.text);
    expect(served.provider.invocations).toHaveLength(2);
  });

  it("All messages since the last assistant message are sent, part by part, with the system message [SD-3] [SD-4] [SD-8]", async () => {
    const served = await serveAnswers([says("Well")]);
    const content = [
      { type: "text", text: "One" },
      { type: "text", text: "Two" },
    ];
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content },
      { role: "user", content: "Three" },
    ];
    await send(served, INFER, { body: { messages } });
    expect(served.provider.invocations).toMatchObject([
      { input: { texts: ["One\nTwo", "Three"] }, options: { instructions: "Be brief." } },
    ]);
  });

  it("Fields that have no effect are listed in the response [SD-10] [OR-63]", async () => {
    const served = await serveAnswers([says("Well")]);
    const messages = [{ role: "user", content: "Go" }];
    const body = { messages, temperature: 0, response_format: { type: "json_object" } };
    const { json, headers } = await send(served, INFER, { body });
    expect(json.items.at(-1).ignored).toEqual(["temperature", "response_format"]);
    expect(headers.get("x-spanline-ignored")).toBe("temperature, response_format");
  });

  it.each<[string, readonly object[], string]>([
    [
      "it has no user message [SD-1]",
      [{ role: "system", content: "Be brief." }],
      "missing_user_message",
    ],
    [
      "the assistant's message is the last one [SD-2]",
      [
        { role: "user", content: "Go" },
        { role: "assistant", content: "Gone", session_id: SESSION },
      ],
      "no_new_message",
    ],
    ["the user message is empty [SD-9]", [{ role: "user", content: " " }], "empty_message"],
    [
      "a session id is invalid [SD-7]",
      [
        { role: "assistant", content: "Hi", session_id: "short" },
        { role: "user", content: "Go" },
      ],
      "invalid_session_id",
    ],
    [
      "it names two sessions [SD-6]",
      [
        { role: "assistant", content: "Hi", session_id: SESSION },
        { role: "assistant", content: "Hi", session_id: `${SESSION}0` },
        { role: "user", content: "Go" },
      ],
      "conflicting_session",
    ],
    [
      "it contains audio [SD-8]",
      [{ role: "user", content: [{ type: "input_audio", input_audio: {} }] }],
      "unsupported_content",
    ],
  ])("A request is refused before it reaches the agent if %s", async (_, messages, code) => {
    const served = await serveAnswers([says("Well")]);
    const { status, json } = await send(served, INFER, { body: { messages } });
    expect([status, json.error.code]).toEqual([400, code]);
    expect(served.provider.invocations).toEqual([]);
  });
});

describe("Credentials in a request", () => {
  it.each([
    { AWS_SECRET_ACCESS_KEY: "hush-hush" },
    { environment: { AWS_REGION: "eu-central-1", AWS_ACCESS_KEY_ID: "hush-hush" } },
    { config: [{ "session-token": "hush-hush" }] },
    { api_key: "hush-hush" },
  ])(
    "Credentials in a request are refused by name, and their values are not repeated: %j",
    async (fields) => {
      const served = await serveAnswers([says("Well")]);
      const body = { messages: [{ role: "user", content: "Go" }], ...fields };
      const { status, json, text } = await send(served, INFER, { body });
      expect([status, json.error.code]).toEqual([400, "credentials_not_accepted"]);
      expect(json.error.param).toMatch(/key|token/i);
      expect(text).not.toContain("hush-hush");
      expect(served.provider.invocations).toEqual([]);
    },
  );

  it("Credentials may be mentioned in a message or carried as state", async () => {
    const served = await serveAnswers([says("Well")]);
    const messages = [
      { role: "user", content: "My password is lost." },
      { role: "assistant", content: "Oh", session_id: SESSION, session_token: "abc" },
      { role: "user", content: "Go" },
    ];
    const { json } = await send(served, INFER, { body: { messages } });
    expect(json.items.at(-1)).toMatchObject({ session_token: "abc" });
  });
});

describe("Turns of /inference that do not complete", () => {
  const body = { messages: [{ role: "user", content: "Go" }] };

  it("A turn that breaks off keeps its partial output and is marked incomplete [SD-15] [SD-32]", async () => {
    const served = await serveAnswers([breaks("service_failed")]);
    const { status, json } = await send(served, INFER, { body });
    expect([status, json.items]).toMatchObject([
      200,
      [
        {
          status: "incomplete",
          content: [{ text: "Half of" }],
          error: { code: "service_failed" },
        },
      ],
    ]);
  });

  it("A turn that fails without output is an HTTP error [OR-51]", async () => {
    const served = await serveAnswers([refuses("throttled")]);
    const { status, json } = await send(served, INFER, { body });
    expect([status, json.error.code]).toEqual([429, "throttled"]);
  });

  it("A turn that ends at a limit is marked incomplete [SD-31]", async () => {
    const answer: ProviderScript = async function* () {
      yield* generateMessage(
        [{ type: "text.end", message: 0, block: 0, text: "Half" }],
        "max_tokens",
      );
      yield createTurnEnd({ outcome: "limited", reason: "max_tokens" });
    };
    const served = await serveAnswers([answer]);
    const { json } = await send(served, INFER, { body });
    expect(json.items).toMatchObject([
      { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } },
    ]);
  });
});
