import { describe, expect, it, onTestFinished } from "vitest";
import { queryModel } from "../../src/aigo/query-model.ts";
import { runInference } from "../../src/aigo/run-inference.ts";
import { emulate, type EmulateOptions, type Emulator } from "../../src/emulator/index.ts";
import { localProvider } from "../../src/providers/local/local-provider.ts";
import { convertModelOutput } from "../../src/wire/aigo/model-output.ts";
import { startModelServer, says } from "../support/server/model-server.ts";
import {
  encodeAwsFrame,
  startEventStream,
  startPeer,
  encodeTextDelta,
  encodeTextTurn,
} from "../support/server/scripted-peer.ts";
import { HARNESS_ARN } from "../support/session/provider-session.ts";

const KEYS = { AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "example-secret-key" };
const SESSION = "550e8400-e29b-41d4-a716-446655440000";

async function emulator(options: EmulateOptions = {}): Promise<Emulator> {
  const started = await emulate(options);
  onTestFinished(() => started.close());
  return started;
}

interface Message {
  readonly role: string;
  readonly [field: string]: unknown;
}

/** Drives an agent as AI GO! does: the whole conversation in each request, assistant messages echoed unchanged. */
function conversation(environment: { readonly [name: string]: string }, options = {}) {
  const messages: Message[] = [];
  return async (content: string, fields: object = {}) => {
    messages.push({ role: "user", content });
    const text = await runInference(JSON.stringify({ messages, ...fields }), environment, options);
    const output = JSON.parse(text) as {
      readonly items: readonly Message[];
      readonly usage: unknown;
    };
    const reply = output.items.at(-1) ?? { role: "" };
    const parts = reply["content"] as readonly { readonly text: string }[];
    messages.push({ ...reply, role: "assistant", content: parts[0]?.text ?? "" });
    return { ...output, reply, text: parts[0]?.text ?? "" };
  };
}

describe("runInference with a harness, over real sockets", () => {
  it("A conversation continues by the echoed session id [OR-74] [SD-6]", async () => {
    const { url, demoArn } = await emulator();
    const say = conversation({ AWS_HARNESS_ARN: demoArn, AWS_ENDPOINT_URL: url, ...KEYS });
    const first = await say("Hello!");
    expect(first.items).toMatchObject([
      { type: "message", role: "assistant", status: "completed" },
    ]);
    expect(String(first.reply["session_id"]).length).toBeGreaterThanOrEqual(33);
    await say("My name is Ada.");
    const third = await say("What is my name?");
    expect(third.text).toContain("Ada");
    expect(third.reply["session_id"]).toBe(first.reply["session_id"]);
    expect(third.usage).toEqual({
      num_prompt_tokens: expect.any(Number),
      num_completion_tokens: expect.any(Number),
    });
  });

  it("Only new messages are sent, with the system message as instructions of the turn [SD-4]", async () => {
    const peer = await startPeer((response) => {
      startEventStream(response);
      for (const frame of encodeTextTurn("Hello")) response.write(frame);
      response.end();
    });
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Hello", session_id: SESSION },
      { role: "user", content: "One" },
      { role: "user", content: "Two" },
    ];
    const environment = { AWS_HARNESS_ARN: HARNESS_ARN, AWS_ENDPOINT_URL: peer.url, ...KEYS };
    await runInference(JSON.stringify({ messages }), environment);
    expect(peer.requests.map(({ body }) => JSON.parse(String(body)))).toEqual([
      {
        messages: [{ role: "user", content: [{ text: "One\n\nTwo" }] }],
        systemPrompt: [{ text: "Be brief." }],
      },
    ]);
    expect(peer.requests[0]?.headers).toMatchObject({
      "x-amzn-bedrock-agentcore-runtime-session-id": SESSION,
    });
  });

  it("Events are returned unchanged, in the shape of the SDK", async () => {
    const peer = await startPeer((response) => {
      startEventStream(response);
      response.write(encodeAwsFrame("newKindOfEvent", { some: "thing" }));
      for (const frame of encodeTextTurn("Hel", "lo")) response.write(frame);
      response.end();
    });
    const environment = { AWS_HARNESS_ARN: HARNESS_ARN, AWS_ENDPOINT_URL: peer.url, ...KEYS };
    const raw = await queryModel({ session_id: "", user_message: "Hi" }, environment);
    expect(raw).toEqual({
      session_id: expect.stringMatching(/^.{33,}$/),
      turn_id: "request-1",
      events: [
        { newKindOfEvent: { some: "thing" } },
        { messageStart: { role: "assistant" } },
        { contentBlockDelta: { contentBlockIndex: 0, delta: { text: "Hel" } } },
        { contentBlockDelta: { contentBlockIndex: 0, delta: { text: "lo" } } },
        { contentBlockStop: { contentBlockIndex: 0 } },
        { messageStop: { stopReason: "end_turn" } },
      ],
    });
  });

  it("A broken connection keeps the partial output and is not retried [SD-12] [SD-15]", async () => {
    const peer = await startPeer((response) => {
      startEventStream(response);
      response.write(encodeAwsFrame("messageStart", { role: "assistant" }));
      response.write(encodeTextDelta("Half of"), () => setImmediate(() => response.destroy()));
    });
    const environment = { AWS_HARNESS_ARN: HARNESS_ARN, AWS_ENDPOINT_URL: peer.url, ...KEYS };
    const raw = await queryModel({ session_id: SESSION, user_message: "Hi" }, environment);
    expect(raw.failure).toMatchObject({ code: "connection_lost" });
    expect(convertModelOutput(raw).items).toMatchObject([
      {
        status: "incomplete",
        content: [{ text: "Half of" }],
        session_id: SESSION,
        error: { code: "connection_lost" },
      },
    ]);
    expect(peer.requests).toHaveLength(1);
  });

  it.each([429, 500, 503])("A refusal with %s is not retried [SD-12]", async (status) => {
    const peer = await startPeer((response) => {
      response.writeHead(status, { "content-type": "application/json" }).end("{}");
    });
    const environment = { AWS_HARNESS_ARN: HARNESS_ARN, AWS_ENDPOINT_URL: peer.url, ...KEYS };
    const body = JSON.stringify({ messages: [{ role: "user", content: "Hi" }] });
    await expect(runInference(body, environment)).rejects.toMatchObject({ status });
    expect(peer.requests).toHaveLength(1);
  });

  it("A conversation from elsewhere is imported into a new session [SD-5]", async () => {
    const { url, demoArn } = await emulator();
    const messages = [
      { role: "user", content: "My name is Ada." },
      { role: "assistant", content: "Nice to meet you, Ada." },
      { role: "user", content: "What is my name?" },
    ];
    const environment = { AWS_HARNESS_ARN: demoArn, AWS_ENDPOINT_URL: url, ...KEYS };
    expect(await runInference(JSON.stringify({ messages }), environment)).toContain("Ada");
  });

  it("Fields attached to the last assistant message are returned, and ignored options are listed [SD-10]", async () => {
    const { url, demoArn } = await emulator();
    const messages = [
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Hello", session_id: SESSION, cursor: { at: 7 } },
      { role: "user", content: "Hi" },
    ];
    const environment = { AWS_HARNESS_ARN: demoArn, AWS_ENDPOINT_URL: url, ...KEYS };
    const answer = await runInference(JSON.stringify({ messages, temperature: 0 }), environment);
    expect(JSON.parse(answer).items.at(-1)).toMatchObject({
      session_id: SESSION,
      cursor: { at: 7 },
      ignored: ["temperature"],
    });
  });
});

describe("The environment of runInference", () => {
  const body = JSON.stringify({ messages: [{ role: "user", content: "Hi" }] });

  it("Temporary credentials are used with their token [SD-16]", async () => {
    const credentials = [
      { accessKeyId: "ASIAEXAMPLE", secretAccessKey: "s", sessionToken: "token-1" },
    ];
    const { url, demoArn } = await emulator({ signatures: "strict", credentials });
    const environment = {
      AWS_HARNESS_ARN: demoArn,
      AWS_ENDPOINT_URL_BEDROCK_AGENTCORE: url,
      AWS_ACCESS_KEY_ID: "ASIAEXAMPLE",
      AWS_SECRET_ACCESS_KEY: "s",
    };
    await expect(runInference(body, environment)).rejects.toMatchObject({ code: "access_denied" });
    const answer = await runInference(body, { ...environment, AWS_SESSION_TOKEN: "token-1" });
    expect(JSON.parse(answer).items).toHaveLength(1);
  });

  it("Only the passed environment is used for credentials, not the environment of the process [SD-16]", async () => {
    const peer = await startPeer((response) => void response.writeHead(500).end());
    process.env["AWS_ACCESS_KEY_ID"] = "of-the-process";
    process.env["AWS_SECRET_ACCESS_KEY"] = "of-the-process";
    onTestFinished(() => {
      delete process.env["AWS_ACCESS_KEY_ID"];
      delete process.env["AWS_SECRET_ACCESS_KEY"];
    });
    const environment = { AWS_HARNESS_ARN: HARNESS_ARN, AWS_ENDPOINT_URL: peer.url };
    await expect(runInference(body, environment)).rejects.toMatchObject({
      code: "no_credentials",
      details: { path: "AWS_ACCESS_KEY_ID" },
    });
    expect(peer.requests).toEqual([]);
  });

  it.each([
    [{ AWS_REGION: "eu-central-1", AWS_HARNESS_ARN: HARNESS_ARN }, "AWS_REGION"],
    [{}, "AWS_HARNESS_ARN"],
    [{ AWS_HARNESS_ARN: HARNESS_ARN, AWS_RUNTIME_ARN: "arn:x" }, "AWS_HARNESS_ARN"],
  ])(
    "An invalid environment is refused before anything is sent: %j [SD-11]",
    async (named, path) => {
      const wrong = runInference(body, { ...KEYS, ...named });
      await expect(wrong).rejects.toMatchObject({ code: "invalid_option", details: { path } });
    },
  );

  it("The region is read from the agent's ARN [SD-11]", async () => {
    const peer = await startPeer((response) => {
      startEventStream(response);
      for (const frame of encodeTextTurn("Hello")) response.write(frame);
      response.end();
    });
    await runInference(body, { AWS_HARNESS_ARN: HARNESS_ARN, AWS_ENDPOINT_URL: peer.url, ...KEYS });
    expect(peer.requests[0]?.headers.authorization).toContain("/us-west-2/bedrock-agentcore/");
  });
});

describe("runInference with other agents", () => {
  it("A conversation continues with an agent runtime", async () => {
    const { url, region, account } = await emulator({ runtimes: [{ name: "helper" }] });
    const arn = `arn:aws:bedrock-agentcore:${region}:${account}:runtime/helper`;
    const say = conversation({ AWS_RUNTIME_ARN: arn, AWS_ENDPOINT_URL: url, ...KEYS });
    const first = await say("My name is Ada.");
    const second = await say("What is my name?");
    expect([second.text, second.reply["session_id"]]).toEqual([
      expect.stringContaining("Ada"),
      first.reply["session_id"],
    ]);
  });

  it("An agent without memory gets the whole conversation [SD-5]", async () => {
    const server = await startModelServer("chat", [says("Hello Ada."), says("You are Ada.")]);
    const provider = localProvider({ model: server.createModel() });
    const say = conversation({}, { provider });
    await say("I am Ada.");
    const second = await say("Who am I?");
    expect(second.text).toBe("You are Ada.");
    expect(server.modelRequests[1]?.messages.map(({ content }) => content)).toEqual([
      "I am Ada.",
      "Hello Ada.",
      "Who am I?",
    ]);
  });

  it.each(["", "no json", "[]", `{"messages":{}}`])("The body %j is refused", async (body) => {
    await expect(runInference(body, KEYS)).rejects.toMatchObject({ code: "invalid_message" });
  });
});
