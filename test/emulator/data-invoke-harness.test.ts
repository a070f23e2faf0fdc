import {
  InvokeHarnessCommand,
  type HarnessMessage as Message,
} from "@aws-sdk/client-bedrock-agentcore";
import { describe, expect, it } from "vitest";
import type { Brain, BrainRequest } from "../../src/emulator/brains/brain.ts";
import { HARNESS_ARN, invoke, reasonsIn, running, SESSION, textIn } from "./start-data-plane.ts";

describe("InvokeHarness, read by the unmodified AWS SDK", () => {
  it("A scripted answer is streamed in deltas, followed by its usage [AC-86]", async () => {
    const { client } = await running({
      script: `
chunk: 6
turns:
  - answer:
      - text: Hello there.
      - usage: { input: 3, output: 4, cacheRead: 5, latency: 6 }
`,
    });
    expect(await invoke(client)).toEqual([
      { messageStart: { role: "assistant" } },
      { contentBlockDelta: { contentBlockIndex: 0, delta: { text: "Hello " } } },
      { contentBlockDelta: { contentBlockIndex: 0, delta: { text: "there." } } },
      { contentBlockStop: { contentBlockIndex: 0 } },
      { messageStop: { stopReason: "end_turn" } },
      {
        metadata: {
          usage: { inputTokens: 3, outputTokens: 4, totalTokens: 12, cacheReadInputTokens: 5 },
          metrics: { latencyMs: 6 },
        },
      },
    ]);
  });

  it("Reasoning, a server tool with its result, a hook and an inline tool call are streamed [AC-86]", async () => {
    const { client } = await running({
      script: `
chunk: 100
turns:
  - answer:
      - reasoning: Let me see.
        signature: c2ln
      - redacted: AP8n
      - server: search
        id: srv_1
        input: { q: shoes }
        result: [{ json: { hits: 2 } }, { text: two }]
        metadata: { took: 3 }
      - hook: before_tool_call
        name: guard
        decision: allow
      - text: I need you.
      - call: ask_user
        id: call_1
        input: { question: which? }
      - usage: none
`,
    });
    expect(await invoke(client)).toEqual([
      { messageStart: { role: "assistant" } },
      delta(0, { reasoningContent: { text: "Let me see." } }),
      delta(0, { reasoningContent: { signature: "c2ln" } }),
      stop(0),
      delta(1, { reasoningContent: { redactedContent: new Uint8Array([0, 255, 39]) } }),
      stop(1),
      toolUse(2, { toolUseId: "srv_1", name: "search", type: "server_tool_use" }),
      delta(2, { toolUse: { input: '{"q":"shoes"}' } }),
      stop(2),
      { messageStop: { stopReason: "tool_use" } },
      { messageStart: { role: "user" } },
      {
        contentBlockStart: {
          contentBlockIndex: 0,
          start: { toolResult: { toolUseId: "srv_1", status: "success" } },
        },
      },
      delta(0, { toolResult: [{ json: { hits: 2 } }, { text: "two" }] }),
      delta(0, { toolResultMetadata: { metadata: '{"took":3}' } }),
      stop(0),
      { messageStop: { stopReason: "tool_result" } },
      {
        hookEvent: {
          hookEventId: expect.any(String) as string,
          name: "guard",
          type: "before_tool_call",
          decision: "allow",
        },
      },
      { messageStart: { role: "assistant" } },
      delta(0, { text: "I need you." }),
      stop(0),
      toolUse(1, { toolUseId: "call_1", name: "ask_user", type: "tool_use" }),
      delta(1, { toolUse: { input: '{"question":"which?"}' } }),
      stop(1),
      { messageStop: { stopReason: "tool_use" } },
    ]);
  });

  const REASONS = [
    "end_turn tool_use tool_result max_tokens stop_sequence content_filtered malformed_model_output",
    "malformed_tool_use interrupted partial_turn model_context_window_exceeded",
    "max_iterations_exceeded max_output_tokens_exceeded timeout_exceeded hook_stopped",
  ].flatMap((line) => line.split(" "));

  it.each(REASONS)("A message can end with the reason %s [AC-86]", async (reason) => {
    const { client } = await running({
      script: `turns: [{answer: [{text: Hi}, {stop: ${reason}}]}]`,
    });
    expect(reasonsIn(await invoke(client))).toEqual([reason]);
  });

  it("The session id is returned, and the session remembers earlier messages", async () => {
    const seen: BrainRequest[] = [];
    const { client } = await running({ brain: noting(seen) });
    await invoke(client, { text: "I am Ada" });
    const { runtimeSessionId } = (await client.send(
      new InvokeHarnessCommand({
        harnessArn: HARNESS_ARN,
        runtimeSessionId: SESSION,
        messages: [{ role: "user", content: [{ text: "Who am I?" }] }],
      }),
    )) as { runtimeSessionId?: string };
    expect(runtimeSessionId ?? SESSION).toBe(SESSION);
    expect(seen.map(({ messages, turn }) => ({ messages, turn }))).toEqual([
      { turn: 0, messages: [user("I am Ada")] },
      { turn: 1, messages: [user("I am Ada"), assistant("Yes."), user("Who am I?")] },
    ]);
  });

  it("Options of an invocation replace those of the harness as a whole", async () => {
    const seen: BrainRequest[] = [];
    const { client } = await running({
      brain: noting(seen),
      harness: {
        systemPrompt: [{ text: "Deployed." }],
        tools: [inline("deployed")],
        allowedTools: ["deployed"],
        maxIterations: 5,
        timeoutSeconds: 60,
        model: { bedrockModelConfig: { modelId: "one", maxTokens: 100 } },
      },
    });
    await invoke(client);
    await invoke(client, {
      systemPrompt: [{ text: "For" }, { text: "once." }],
      tools: [inline("local")],
      allowedTools: ["*"],
      maxIterations: 2,
      maxTokens: 50,
      timeoutSeconds: 7,
      model: { bedrockModelConfig: { modelId: "two" } },
    });
    const tool = (name: string) => ({
      type: "inline_function",
      name,
      description: "Does it.",
      inputSchema: { type: "object" },
    });
    expect(seen.map(({ settings }) => settings)).toEqual([
      {
        systemPrompt: ["Deployed."],
        tools: [tool("deployed")],
        allowedTools: ["deployed"],
        model: { bedrockModelConfig: { modelId: "one", maxTokens: 100 } },
        limits: { maxIterations: 5, maxTokens: null, maxTokensPerCall: 100, timeoutSeconds: 60 },
      },
      {
        systemPrompt: ["For", "once."],
        tools: [tool("local")],
        allowedTools: ["*"],
        model: { bedrockModelConfig: { modelId: "two" } },
        limits: { maxIterations: 2, maxTokens: 50, maxTokensPerCall: null, timeoutSeconds: 7 },
      },
    ]);
  });
});

describe("Switches for undocumented behaviour", () => {
  const script = "turns: [{answer: [{server: a, result: x}, {text: Done.}]}]";

  it.each([
    [
      "serverToolStop",
      "end_turn",
      ["tool_use", "end_turn", "end_turn"],
      ["assistant", "user", "assistant"],
    ],
    ["serverToolResults", "hidden", ["tool_use", "end_turn"], ["assistant", "assistant"]],
  ])("The switch %s can be %s", async (name, value, reasons, roles) => {
    const { client } = await running({ script, switches: { [name]: value } });
    const events = await invoke(client);
    expect(reasonsIn(events)).toEqual(reasons);
    const starts = events.filter((event) => "messageStart" in event);
    expect(starts.map((event) => event["messageStart"]?.["role"])).toEqual(roles);
  });
});

describe("Limits of an invocation [AC-90]", () => {
  const LOOP = `
chunk: 100
turns:
  - answer:
      - { server: a, result: x }
      - { server: b, result: x }
      - text: ${"word ".repeat(40)}
`;

  it("A loop ends at the maximum number of iterations", async () => {
    const { client } = await running({ script: LOOP });
    const reasons = reasonsIn(await invoke(client, { maxIterations: 2 }));
    expect(reasons).toEqual([
      "tool_use",
      "tool_result",
      "tool_use",
      "tool_result",
      "max_iterations_exceeded",
    ]);
  });

  it("An invocation ends at maxTokens, and its text is cut there", async () => {
    const { client } = await running({ script: `turns: [{answer: ${"abcd".repeat(40)}}]` });
    const events = await invoke(client, { maxTokens: 5 });
    expect(textIn(events)).toBe("abcd".repeat(5));
    expect(reasonsIn(events)).toEqual(["max_output_tokens_exceeded"]);
  });

  it("A model message ends at the model's own token limit", async () => {
    const { client } = await running({ script: `turns: [{answer: ${"abcd".repeat(40)}}]` });
    const model = { bedrockModelConfig: { modelId: "m", maxTokens: 3 } };
    const events = await invoke(client, { model });
    expect(textIn(events)).toBe("abcd".repeat(3));
    expect(reasonsIn(events)).toEqual(["max_tokens"]);
  });

  it("maxTokens applies to each model call if the switch says so", async () => {
    const { client } = await running({ script: LOOP, switches: { maxTokens: "per-call" } });
    expect(reasonsIn(await invoke(client, { maxTokens: 8 })).at(-1)).toBe("max_tokens");
  });
});

function noting(seen: BrainRequest[]): Brain {
  return {
    async respond(request) {
      seen.push(request);
      return {
        type: "steps",
        steps: [
          { type: "start", role: "assistant" },
          { type: "text", text: "Yes." },
          { type: "stop", reason: "end_turn" },
        ],
      };
    },
  };
}

function user(text: string): Message {
  return { role: "user", content: [{ text }] };
}

function assistant(text: string): Message {
  return { role: "assistant", content: [{ text }] };
}

function inline(name: string) {
  const inlineFunction = { description: "Does it.", inputSchema: { type: "object" } };
  return { type: "inline_function" as const, name, config: { inlineFunction } };
}

function delta(contentBlockIndex: number, delta: object): object {
  return { contentBlockDelta: { contentBlockIndex, delta } };
}

function stop(contentBlockIndex: number): object {
  return { contentBlockStop: { contentBlockIndex } };
}

function toolUse(contentBlockIndex: number, toolUse: object): object {
  return { contentBlockStart: { contentBlockIndex, start: { toolUse } } };
}
