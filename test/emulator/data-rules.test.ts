import type {
  InvokeHarnessCommandInput,
  HarnessMessage as Message,
} from "@aws-sdk/client-bedrock-agentcore";
import { describe, expect, it } from "vitest";
import { harnessNamed, started, TOKEN } from "./start-control-plane.ts";
import { HARNESS_ARN, invoke, reasonsIn, running, type Setup } from "./start-data-plane.ts";

/** Inputs which the SDK sends although its types forbid them. */
type Loose = { readonly [Name in keyof InvokeHarnessCommandInput]?: unknown };

async function refused(input: Loose, setup: Setup = {}): Promise<unknown> {
  const { client } = await running(setup);
  return invoke(client, input as Partial<InvokeHarnessCommandInput>).then(
    () => "accepted",
    (error: unknown) => error,
  );
}

const user = (content: object[]): object => ({ role: "user", content });
const assistant = (content: object[]): object => ({ role: "assistant", content });
const CALL = { toolUse: { name: "a", toolUseId: "A", input: {} } };
const RESULT = { toolResult: { toolUseId: "A", content: [{ text: "ok" }] } };

describe("Validation of InvokeHarness [AC-86]", () => {
  it.each<[string, Loose, string]>([
    [
      "a short session id",
      { runtimeSessionId: "short" },
      "1 validation error detected: Value 'short' at 'runtimeSessionId' failed to satisfy constraint: Member must have length greater than or equal to 33",
    ],
    [
      "a session id with invalid characters",
      { runtimeSessionId: `.${"a".repeat(40)}` },
      `1 validation error detected: Value '.${"a".repeat(40)}' at 'runtimeSessionId' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9][a-zA-Z0-9-_]*`,
    ],
    [
      "no messages",
      { messages: undefined },
      "1 validation error detected: Value null at 'messages' failed to satisfy constraint: Member must not be null",
    ],
    [
      "empty text",
      { messages: [user([{ text: "" }])] },
      "1 validation error detected: Value '' at 'messages.1.member.content.1.member.text' failed to satisfy constraint: Member must have length greater than or equal to 1",
    ],
    [
      "an invalid tool name and an invalid tool call id",
      { messages: [assistant([{ toolUse: { name: "a b", toolUseId: "i.d", input: {} } }])] },
      "2 validation errors detected: Value 'a b' at 'messages.1.member.content.1.member.toolUse.name' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+; Value 'i.d' at 'messages.1.member.content.1.member.toolUse.toolUseId' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+",
    ],
    [
      "an empty list of messages",
      { messages: [] },
      "1 validation error detected: Value at 'messages' failed to satisfy constraint: Member must have length greater than or equal to 1",
    ],
    [
      "a message without content",
      { messages: [user([])] },
      "1 validation error detected: Value at 'messages.1.member.content' failed to satisfy constraint: Member must have length greater than or equal to 1",
    ],
    [
      "a tool call in a user message",
      { messages: [user([{ text: "x" }, CALL])] },
      "1 validation error detected: Value at 'messages.1.member.content.2.member.toolUse' failed to satisfy constraint: Member must be in a message of the role assistant",
    ],
    [
      "a tool result in an assistant message",
      { messages: [assistant([RESULT])] },
      "1 validation error detected: Value at 'messages.1.member.content.1.member.toolResult' failed to satisfy constraint: Member must be in a message of the role user",
    ],
    [
      "a tool call whose input is null",
      { messages: [assistant([{ toolUse: { ...CALL.toolUse, input: null } }])] },
      "1 validation error detected: Value null at 'messages.1.member.content.1.member.toolUse.input' failed to satisfy constraint: Member must not be null",
    ],
    [
      "an unknown role",
      { messages: [{ role: "system", content: [{ text: "x" }] }] },
      "1 validation error detected: Value 'system' at 'messages.1.member.role' failed to satisfy constraint: Member must satisfy enum value set: [user, assistant]",
    ],
  ])("InvokeHarness refuses %s", async (_, input, message) => {
    expect(await refused(input)).toMatchObject({
      name: "ValidationException",
      message,
      reason: "FieldValidationFailed",
      $metadata: { httpStatusCode: 400 },
    });
  });

  it("InvokeHarness refuses content with two members, and a system prompt that is not a list", async () => {
    const { url } = await running();
    const query = new URLSearchParams({ harnessArn: HARNESS_ARN });
    const answer = await fetch(`${url}/harnesses/invoke?${query.toString()}`, {
      method: "POST",
      headers: { "x-amzn-bedrock-agentcore-runtime-session-id": "a".repeat(33) },
      body: JSON.stringify({
        messages: [user([{ text: "x", toolResult: {} }])],
        systemPrompt: "Be kind.",
      }),
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      reason: "FieldValidationFailed",
      fieldList: [{ name: "messages.1.member.content.1.member" }, { name: "systemPrompt" }],
    });
  });

  it("Both planes validate the outbound authentication of an MCP server", async () => {
    const { url } = await running();
    const tools = [
      { awsIam: { service: "execute-api" } },
      { none: {} },
      {},
      { awsIam: {}, none: {} },
      { awsIam: {} },
      { awsIam: { service: "a b", region: "" } },
      { oauth: {} },
    ].map((outboundAuth) => ({
      type: "remote_mcp",
      config: { remoteMcp: { url: "https://example.com/mcp", outboundAuth } },
    }));
    const query = new URLSearchParams({ harnessArn: HARNESS_ARN });
    const invocation = await fetch(`${url}/harnesses/invoke?${query.toString()}`, {
      method: "POST",
      headers: { "x-amzn-bedrock-agentcore-runtime-session-id": "a".repeat(33) },
      body: JSON.stringify({ messages: [user([{ text: "x" }])], tools }),
    });
    const { emulator } = await started();
    const creation = await fetch(`${emulator.url}/harnesses`, {
      method: "POST",
      body: JSON.stringify({ ...harnessNamed("helper"), clientToken: TOKEN, tools }),
    });
    const auth = (at: number): string => `tools.${at}.member.config.remoteMcp.outboundAuth`;
    const names = [
      auth(3),
      auth(4),
      `${auth(5)}.awsIam.service`,
      `${auth(6)}.awsIam.service`,
      `${auth(6)}.awsIam.region`,
      `${auth(6)}.awsIam.region`,
      auth(7),
    ];
    for (const answer of [invocation, creation]) {
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ fieldList: names.map((name) => ({ name })) });
    }
  });

  it("An unknown harness is not found", async () => {
    const arn = "arn:aws:bedrock-agentcore:us-east-1:123456789012:harness/other-abcdefghij";
    expect(await refused({ harnessArn: arn })).toMatchObject({
      name: "ResourceNotFoundException",
      message: `No endpoint or agent found with qualifier 'DEFAULT' for agent '${arn}'`,
      $metadata: { httpStatusCode: 404 },
    });
  });

  it("A harness that is not ready is not found", async () => {
    expect(await refused({}, { harness: { status: "CREATING" } })).toMatchObject({
      name: "ResourceNotFoundException",
      message: expect.stringContaining("'demo-abcdefghij' is CREATING") as string,
    });
  });

  it("A harness that is not ready is a validation error if the switch says so", async () => {
    const setup = { harness: { endpointStatus: "CREATING" }, switches: { notReady: 400 } };
    expect(await refused({}, setup)).toMatchObject({ name: "ValidationException" });
  });

  it("A body that is not JSON is refused", async () => {
    const { url } = await running();
    const answer = await fetch(`${url}/harnesses/invoke`, { method: "POST", body: "{" });
    expect([answer.status, await answer.json()]).toMatchObject([400, { reason: "CannotParse" }]);
  });
});

const CALLS = `
turns:
  - when: go
    answer: [{ call: a, id: A }, { call: b, id: B }]
  - when: { result: a }
    answer: Thanks.
`;
const ECHO: Message = {
  role: "assistant",
  content: [
    { toolUse: { toolUseId: "A", name: "a", input: {}, type: "tool_use" } },
    { toolUse: { toolUseId: "B", name: "b", input: {}, type: "tool_use" } },
  ],
};
const result = (toolUseId: string) => ({
  toolResult: { toolUseId, content: [{ text: "ok" }], status: "success" as const },
});
const results = (...ids: string[]): Message => ({ role: "user", content: ids.map(result) });
const UPSTREAM =
  "An error occurred (ValidationException) when calling the ConverseStream operation: ";

describe("Rules for resuming with tool results [AC-89]", () => {
  async function afterCalls(messages: Message[], setup: Setup = {}): Promise<unknown> {
    const { client } = await running({ script: CALLS, ...setup });
    expect(reasonsIn(await invoke(client, { text: "go" }))).toEqual(["tool_use"]);
    return invoke(client, { messages }).then(reasonsIn, (error: unknown) => error);
  }

  it("A resume with the echo of all tool calls and one result for each is accepted", async () => {
    expect(await afterCalls([ECHO, results("A", "B")])).toEqual(["end_turn"]);
  });

  it.each<[string, Message[], string]>([
    [
      "results without the echo",
      [results("A", "B")],
      "The number of toolResult blocks at messages.1.content exceeds the number of toolUse blocks of previous turn.",
    ],
    [
      "an id twice in the echo",
      [{ ...ECHO, content: [...(ECHO.content ?? []), ...(ECHO.content ?? [])] }, results("A", "B")],
      "The toolUse blocks at messages.1.content contain duplicate Ids: A",
    ],
    [
      "a duplicate result",
      [ECHO, results("A", "A")],
      "The toolResult blocks at messages.2.content contain duplicate Ids: A",
    ],
    [
      "a missing result",
      [ECHO, results("A")],
      "Expected toolResult blocks at messages.2.content for the following Ids: B",
    ],
    [
      "no results",
      [ECHO],
      "Expected toolResult blocks at messages.2.content for the following Ids: A, B",
    ],
  ])("A resume with %s is refused in the model's words", async (_, messages, problem) => {
    expect(await afterCalls(messages)).toMatchObject({
      name: "RuntimeClientError",
      message: UPSTREAM + problem,
    });
  });

  it("A resume in a session without its tool calls is refused", async () => {
    const { client } = await running({ script: CALLS });
    await expect(invoke(client, { messages: [ECHO, results("A", "B")] })).rejects.toThrow(
      "A conversation must start with a user message",
    );
  });

  it("Text together with results is accepted or refused by a switch", async () => {
    const withText = { ...results("A", "B"), content: [result("A"), result("B"), { text: "hm" }] };
    expect(await afterCalls([ECHO, withText])).toEqual(["end_turn"]);
    expect(
      await afterCalls([ECHO, withText], { switches: { textBesideResults: "reject" } }),
    ).toMatchObject({
      message: `${UPSTREAM}messages.2.content: Conversation blocks and tool result blocks cannot be provided in the same turn.`,
    });
  });

  it("A resume needs no echo if memory has the tool calls and the switch says so", async () => {
    const setup = {
      switches: { echoWithMemory: "optional" },
      harness: { memory: { managedMemoryConfiguration: {} } },
    };
    expect(await afterCalls([results("A", "B")], setup)).toEqual(["end_turn"]);
    expect(await afterCalls([ECHO, results("A", "B")], setup)).toEqual(["end_turn"]);
    expect(await afterCalls([results("A", "B")], { harness: setup.harness })).toMatchObject({
      name: "RuntimeClientError",
    });
  });

  it("A new prompt may replace the results", async () => {
    const { client } = await running({ script: CALLS });
    await invoke(client, { text: "go" });
    expect(reasonsIn(await invoke(client, { text: "go" }))).toEqual(["tool_use"]);
  });
});

describe("Turns cut by a limit inside a tool call", () => {
  it.each([
    ["by its tokens", { maxTokens: 6 }, "max_output_tokens_exceeded"],
    ["by its script", {}, "max_tokens"],
  ])(
    "A session can continue after its turn was cut inside a tool call [AC-89, AC-90]: %s",
    async (_, limits, reason) => {
      const { client } = await running({
        script: `
turns:
  - when: first
    answer:
      - text: Some words before the call.
      - call: look
        id: call_1
        input: { at: "something long enough to be cut" }
      ${reason === "max_tokens" ? "- stop: max_tokens" : ""}
  - when: second
    answer: Going on.
`,
      });
      const say = (text: string) => ({
        messages: [{ role: "user" as const, content: [{ text }] }],
      });
      const first = await invoke(client, { ...say("first"), ...limits });
      expect(reasonsIn(first)).toEqual([reason]);
      expect(reasonsIn(await invoke(client, say("second")))).toEqual(["end_turn"]);
    },
  );
});
