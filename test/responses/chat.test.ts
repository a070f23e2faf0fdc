import { describe, expect, it } from "vitest";
import {
  breaks,
  createTurnEnd,
  generateMessage,
  refuses,
  says,
  wants,
  type ProviderScript,
} from "../support/session/scripted-provider.ts";
import { dataOf, send, serveAnswers, type Headers } from "./support/serve-answers.ts";

const CHAT = ["POST", "/chat/completions"] as const;
const userMessage = { role: "user", content: "I am Alice." };
const next = { role: "user", content: "Who am I?" };
const TALK = [says("Hello Alice."), says("You are Alice.")];
const KEYS = [
  { name: "ada", key: "key-of-ada-0123456789" },
  { name: "eve", key: "key-of-eve-0123456789" },
];
const WEATHER = {
  type: "function",
  function: { name: "get_weather", parameters: { type: "object", properties: {} } },
};

/** Texts sent to the agent, grouped by invocation. */
function listReceivedTexts({ provider }: Awaited<ReturnType<typeof serveAnswers>>) {
  return provider.invocations.map(({ input }) => input.texts ?? []);
}

describe("Chat completions", () => {
  it("A non-streamed chat completion has one message with the session id, and the usage [OR-34] [OR-66] [OR-67]", async () => {
    const usage = {
      inputTokens: 10,
      outputTokens: 5,
      cacheReadTokens: 2,
      cacheWriteTokens: 0,
      totalTokens: 17,
    };
    const served = await serveAnswers([says("Hello Alice.", { usage })]);
    const { status, headers, json } = await send(served, CHAT, {
      body: { messages: [userMessage] },
    });
    const session_id = headers.get("x-spanline-session");
    expect(status).toBe(200);
    expect(json).toEqual({
      id: expect.stringMatching(/^chatcmpl_ses_[0-9a-f]{32}_\d+$/),
      object: "chat.completion",
      created: expect.any(Number),
      model: "scripted",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "Hello Alice.", refusal: null, session_id },
          logprobs: null,
          finish_reason: "stop",
        },
      ],
      usage: {
        prompt_tokens: 12,
        completion_tokens: 5,
        total_tokens: 17,
        prompt_tokens_details: { cached_tokens: 2 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
    });
  });

  it("A streamed chat completion begins with role and session id and ends with its usage [OR-65] [OR-34]", async () => {
    const served = await serveAnswers(TALK);
    const body = { messages: [userMessage], stream: true, stream_options: { include_usage: true } };
    const { headers, text } = await send(served, CHAT, { body });
    const data = dataOf(text);
    expect(data.at(-1)).toBe("[DONE]");
    const chunks = data.slice(0, -1).map((one) => JSON.parse(one));
    const session_id = headers.get("x-spanline-session");
    expect(headers.get("content-type")).toMatch(/^text\/event-stream/);
    expect(chunks[0].choices).toEqual([
      {
        index: 0,
        delta: { role: "assistant", content: "", session_id },
        logprobs: null,
        finish_reason: null,
      },
    ]);
    const ends = chunks.flatMap(({ choices }) => choices).map(({ finish_reason }) => finish_reason);
    expect(ends.filter((reason) => reason !== null)).toEqual(["stop"]);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 0 } });
    expect(text).not.toMatch(/^event:/m);
  });

  it("A streamed chat completion has no usage unless the request includes it [OR-65]", async () => {
    const served = await serveAnswers(TALK);
    const { text } = await send(served, CHAT, { body: { messages: [userMessage], stream: true } });
    expect(text).not.toContain("usage");
  });

  it.each(["/v1", ""])(
    "Chat completions are served below the prefix %j [OR-69]",
    async (prefix) => {
      const served = await serveAnswers(TALK);
      const baseUrl = served.baseUrl.replace(/\/v1$/, prefix);
      const { status } = await send({ ...served, baseUrl }, CHAT, {
        body: { messages: [userMessage] },
      });
      expect(status).toBe(200);
    },
  );

  it.each<[Parameters<typeof createTurnEnd>[0], string]>([
    [{ outcome: "limited", reason: "max_tokens" }, "length"],
    [{ outcome: "limited", reason: "content_filtered" }, "content_filter"],
    [{ outcome: "completed", reason: "stop_sequence" }, "stop"],
  ])("A turn that ends with %j has the finish_reason %s [OR-67]", async (end, reason) => {
    const answer: ProviderScript = async function* () {
      yield* generateMessage(
        [{ type: "text.end", message: 0, block: 0, text: "Well" }],
        end.reason ?? "",
      );
      yield createTurnEnd(end);
    };
    const served = await serveAnswers([answer]);
    const { json } = await send(served, CHAT, { body: { messages: [userMessage] } });
    expect(json.choices).toMatchObject([{ finish_reason: reason, message: { content: "Well" } }]);
  });

  it("An image reaches the agent, and audio is refused [OR-62]", async () => {
    const served = await serveAnswers(TALK);
    const pixel =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const content = [
      { type: "text", text: "What is it?" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${pixel}` } },
    ];
    await send(served, CHAT, { body: { messages: [{ role: "user", content }] } });
    expect(listReceivedTexts(served)).toEqual([
      ["What is it?", expect.stringContaining("image/png")],
    ]);
    const audio = [{ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }];
    const body = { messages: [{ role: "user", content: audio }] };
    const { status, json } = await send(served, CHAT, { body });
    expect([status, json.error.code]).toEqual([400, "unsupported_content"]);
  });

  it("Ignored fields are listed in a header, and fields that cannot be ignored are refused [OR-63]", async () => {
    const served = await serveAnswers(TALK);
    const body = { messages: [userMessage], temperature: 0, seed: 7, unheard_of: true };
    const { headers } = await send(served, CHAT, { body });
    expect(headers.get("x-spanline-ignored")).toBe("temperature, seed, unheard_of");
    for (const [field, value] of [
      ["n", 2],
      ["functions", []],
      ["tool_choice", "required"],
    ] as const) {
      const refused = await send(served, CHAT, {
        body: { messages: [userMessage], [field]: value },
      });
      expect([refused.status, refused.json.error.param]).toEqual([400, field]);
    }
    expect(served.provider.invocations).toHaveLength(1);
  });
});

describe("The session of a chat completion", () => {
  const answer = { role: "assistant", content: "Hello Alice." };
  const carriers: [string, (session: string) => { body?: object; headers?: Headers }][] = [
    ["a header", (session) => ({ headers: { "x-spanline-session": session } })],
    ["a field", (session) => ({ body: { session_id: session } })],
    ["metadata", (session) => ({ body: { metadata: { session_id: session } } })],
    [
      "a message",
      (session) => ({
        body: { messages: [userMessage, { ...answer, session_id: session }, next] },
      }),
    ],
    [
      "a part of a message",
      (session) => {
        const content = [{ type: "text", text: "Hello Alice.", session_id: session }];
        return { body: { messages: [userMessage, { ...answer, content }, next] } };
      },
    ],
  ];

  it.each(carriers)(
    "A session is found by %s alone, and only the new message is sent to the agent [OR-32] [OR-37]",
    async (_, carry) => {
      const served = await serveAnswers(TALK);
      const first = await send(served, CHAT, { body: { messages: [userMessage] } });
      const { body = {}, headers = {} } = carry(first.json.choices[0].message.session_id);
      const second = await send(served, CHAT, { body: { messages: [next], ...body }, headers });
      expect(second.status).toBe(200);
      expect(listReceivedTexts(served)).toEqual([["I am Alice."], ["Who am I?"]]);
      expect(new Set(served.provider.invocations.map(({ sessionId }) => sessionId)).size).toBe(1);
    },
  );

  it.each([false, true])(
    "Fields attached to the last assistant message are returned with the next one (streamed: %s) [OR-68]",
    async (stream) => {
      const served = await serveAnswers(TALK);
      const first = await send(served, CHAT, { body: { messages: [userMessage] } });
      const attached = { cursor: { at: 7 }, token: "t", parsed: null };
      const answered = { ...first.json.choices[0].message, ...attached };
      const body = { messages: [userMessage, answered, next], stream };
      const second = await send(served, CHAT, { body });
      const message = stream
        ? JSON.parse(dataOf(second.text)[0] ?? "").choices[0].delta
        : second.json.choices[0].message;
      const { session_id } = answered;
      expect(message).toMatchObject({
        role: "assistant",
        cursor: { at: 7 },
        token: "t",
        session_id,
      });
      expect(message).not.toHaveProperty("parsed");
      expect(listReceivedTexts(served)).toEqual([["I am Alice."], ["Who am I?"]]);
    },
  );

  it("Two different session ids, or an invalid session id, are refused [OR-33] [OR-35]", async () => {
    const served = await serveAnswers(TALK);
    const [one, other] = ["a".repeat(36), "b".repeat(36)];
    const conflicting = {
      messages: [userMessage],
      session_id: one,
      metadata: { session_id: other },
    };
    for (const [body, code] of [
      [conflicting, "conflicting_session"],
      [{ messages: [userMessage], session_id: "ses_1" }, "invalid_session_id"],
      [{ messages: [userMessage], session_id: 7 }, "invalid_type"],
    ] as const) {
      const { status, json } = await send(served, CHAT, { body });
      expect([status, json.error.code]).toEqual([400, code]);
    }
    expect(served.provider.invocations).toEqual([]);
  });

  it("A session cannot be continued with the key of another principal [OR-36]", async () => {
    const served = await serveAnswers(TALK, { keys: KEYS });
    const first = await send(served, CHAT, { body: { messages: [userMessage] } });
    const { session_id } = first.json.choices[0].message;
    const headers = { authorization: "Bearer key-of-eve-0123456789" };
    const body = { messages: [next], session_id };
    const { status, json } = await send(served, CHAT, { body, headers });
    expect([status, json.error.code]).toEqual([404, "session_not_found"]);
    expect(served.provider.invocations).toHaveLength(1);
  });

  it("A conversation from elsewhere is imported into a new session, and the response says so [OR-38] [SD-5]", async () => {
    const served = await serveAnswers(TALK);
    const { headers } = await send(served, CHAT, {
      body: { messages: [userMessage, answer, next] },
    });
    expect(headers.get("x-spanline-history")).toBe("replayed");
    expect(served.provider.invocations).toMatchObject([
      {
        input: { texts: ["Who am I?"] },
        history: [
          { role: "user", blocks: [{ text: "I am Alice." }] },
          { role: "assistant", blocks: [{ text: "Hello Alice." }] },
        ],
      },
    ]);
  });

  it("A conversation from elsewhere is ignored or rejected if the configuration says so [OR-38]", async () => {
    const body = { messages: [userMessage, answer, next] };
    const ignoring = await serveAnswers(TALK, { settings: { foreignHistory: "ignore" } });
    const { headers } = await send(ignoring, CHAT, { body });
    expect(headers.get("x-spanline-history")).toBe("ignored");
    expect(ignoring.provider.invocations[0]?.history).toEqual([]);
    const rejecting = await serveAnswers(TALK, { settings: { foreignHistory: "reject" } });
    const { status, json } = await send(rejecting, CHAT, { body });
    expect([status, json.error.code]).toEqual([400, "unknown_history"]);
    expect(rejecting.provider.invocations).toEqual([]);
  });
});

describe("Client tools", () => {
  const ask = { messages: [userMessage], tools: [WEATHER] };
  const CALLS = wants(
    { id: "tooluse_1", name: "get_weather" },
    { id: "tooluse_2", name: "get_weather" },
  );

  it("A turn continues with the results of client tools, found by the ids of their tool calls [OR-53] [OR-68] [OR-32]", async () => {
    const served = await serveAnswers([CALLS, says("It is warm.")]);
    const { json } = await send(served, CHAT, { body: ask });
    const [{ message, finish_reason }] = json.choices;
    expect(finish_reason).toBe("tool_calls");
    expect(message.tool_calls).toHaveLength(2);
    // The request as `runTools` of openai 6 and 7 sends it: only the ids of the tool calls identify the session.
    const { role, content, tool_calls } = message;
    const results = tool_calls.map(({ id }: { id: string }) => ({
      role: "tool",
      tool_call_id: id,
      content: "18 degrees",
    }));
    const echoed = { ...ask, messages: [userMessage, { role, content, tool_calls }, ...results] };
    const missing = await send(served, CHAT, {
      body: { ...echoed, messages: echoed.messages.slice(0, -1) },
    });
    expect([missing.status, missing.json.error.code]).toEqual([400, "missing_result"]);
    const ended = await send(served, CHAT, { body: echoed });
    expect(ended.json.choices).toMatchObject([
      { finish_reason: "stop", message: { content: "It is warm." } },
    ]);
    expect(served.provider.invocations.map(({ input }) => input.type)).toEqual([
      "prompt",
      "results",
    ]);
  });

  it("A new message is refused while results of tool calls are missing [OR-53]", async () => {
    const served = await serveAnswers([CALLS]);
    const { json } = await send(served, CHAT, { body: ask });
    const { session_id } = json.choices[0].message;
    const body = { messages: [next], session_id };
    const refused = await send(served, CHAT, { body });
    expect([refused.status, refused.json.error]).toMatchObject([
      400,
      { code: "missing_result", param: "messages" },
    ]);
  });
});

describe("Failed turns", () => {
  it("A turn that fails before any output is an HTTP error with x-should-retry [OR-22] [OR-46] [OR-51]", async () => {
    const throttled = await serveAnswers([refuses("throttled")]);
    for (const stream of [false, true]) {
      const { status, headers, json } = await send(throttled, CHAT, {
        body: { messages: [userMessage], stream },
      });
      expect([status, headers.get("x-should-retry")]).toEqual([429, "true"]);
      expect(json.error).toMatchObject({ code: "throttled", type: "too_many_requests" });
    }
  });

  it("A turn that fails after some output is an HTTP error with the partial message, and is not to be retried [OR-46] [SD-15]", async () => {
    const served = await serveAnswers([breaks("service_failed")]);
    const { status, headers, json } = await send(served, CHAT, {
      body: { messages: [userMessage] },
    });
    expect([status, headers.get("x-should-retry")]).toEqual([502, "false"]);
    expect(json).toEqual({
      error: {
        message: expect.stringMatching(/./),
        type: "server_error",
        param: null,
        code: "service_failed",
      },
      partial: {
        role: "assistant",
        content: "Half of",
        refusal: null,
        session_id: headers.get("x-spanline-session"),
      },
    });
  });

  it("A streamed turn that fails ends with an error event [OR-22]", async () => {
    const served = await serveAnswers([breaks("service_failed")]);
    const { status, text } = await send(served, CHAT, {
      body: { messages: [userMessage], stream: true },
    });
    const data = dataOf(text);
    expect(status).toBe(200);
    expect(text).toContain("Half of");
    expect(JSON.parse(data.at(-2) ?? "")).toMatchObject({ error: { code: "service_failed" } });
    expect(data.at(-1)).toBe("[DONE]");
  });
});

describe("Retried requests", () => {
  it.each<[string, Headers, Headers]>([
    ["has a retry count", {}, { "x-stainless-retry-count": "1" }],
    ["has the same key", { "idempotency-key": "k-1" }, { "idempotency-key": "k-1" }],
  ])(
    "A repeated request that %s gets the stored response, streamed or not [OR-45] [SD-12]",
    async (_, first, again) => {
      const served = await serveAnswers(TALK);
      const body = { messages: [userMessage] };
      const one = await send(served, CHAT, { body, headers: first });
      const two = await send(served, CHAT, { body, headers: again });
      expect(two.text).toBe(one.text);
      expect(two.headers.get("idempotent-replayed")).toBe("true");
      const streamed = await send(served, CHAT, {
        body: { ...body, stream: true },
        headers: again,
      });
      expect(streamed.text).toContain(one.json.id);
      expect(served.provider.invocations).toHaveLength(1);
    },
  );
});
