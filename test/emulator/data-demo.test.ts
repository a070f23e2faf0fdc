import type { HarnessMessage as Message } from "@aws-sdk/client-bedrock-agentcore";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createDemoBrain } from "../../src/emulator/brains/demo/demo-brain.ts";
import { invoke, reasonsIn, running, textIn, type Event } from "./start-data-plane.ts";

function inline(name: string, description: string, inputSchema: object) {
  return {
    type: "inline_function" as const,
    name,
    config: { inlineFunction: { description, inputSchema } },
  };
}

const TOOLS = [
  inline("get_weather", "Looks up the weather of a city", {
    type: "object",
    properties: {
      city: { type: "string" },
      days: { type: "integer" },
      unit: { type: "string", enum: ["celsius", "fahrenheit"] },
    },
    required: ["city"],
  }),
  inline("write_file", "Writes text to a file in the workspace", {
    type: "object",
    properties: { path: { type: "string" }, content: { type: "string" } },
    required: ["path", "content"],
  }),
  inline("send_email", "Sends an email message to a person", {
    type: "object",
    properties: { recipient: { type: "string" }, subject: { type: "string" } },
    required: ["recipient"],
  }),
];

async function demo() {
  const brain = createDemoBrain({ delayMilliseconds: 0 });
  const { client } = await running({ brain, harness: { tools: TOOLS as never } });
  return {
    client,
    say: async (text: string): Promise<string> => textIn(await invoke(client, { text })),
  };
}

/** The tool call of a turn, with parsed arguments. */
function callIn(events: readonly Event[]): Message {
  const start = events.find((event) => "contentBlockStart" in event)?.["contentBlockStart"];
  const opened = start?.["start"] as { toolUse: { toolUseId: string; name: string } } | undefined;
  const json = events
    .map(({ contentBlockDelta: one }) => {
      const delta = one?.delta as { toolUse?: { input: string } } | undefined;
      return delta?.toolUse?.input ?? "";
    })
    .join("");
  const { toolUseId = "", name = "" } = opened?.toolUse ?? {};
  const input = JSON.parse(json) as object;
  return {
    role: "assistant",
    content: [{ toolUse: { toolUseId, name, input: input as never, type: "tool_use" } }],
  };
}

describe("The demo agent", () => {
  it("The demo agent answers greetings and plain questions in small chunks, with usage", async () => {
    const { client, say } = await demo();
    const events = await invoke(client, { text: "Hello!" });
    expect(textIn(events)).toMatch(/^Hello! I am the demo agent/);
    expect(events.filter((event) => "contentBlockDelta" in event).length).toBeGreaterThan(10);
    expect(events.filter((event) => "metadata" in event)).toHaveLength(1);
    expect(await say("What is 6 times 7?")).toBe("That is 42.");
    expect(await say("What can you do?")).toContain("get_weather, write_file, send_email");
    expect(await say("Why is the sky blue?")).toContain("I do not know");
  });

  it("The demo agent calculates even if the name of a tool shares a word with the question", async () => {
    const brain = createDemoBrain({ delayMilliseconds: 0 });
    const clock = inline("tell_time", "Tells the time of this machine", { type: "object" });
    const { client } = await running({ brain, harness: { tools: [clock] as never } });
    expect(textIn(await invoke(client, { text: "What is 6 times 7?" }))).toBe("That is 42.");
    expect(callIn(await invoke(client, { text: "What time is it?" }))).toMatchObject({
      content: [{ toolUse: { name: "tell_time" } }],
    });
  });

  it("The demo agent remembers messages and names", async () => {
    const { say } = await demo();
    await say("My name is ada");
    expect(await say("What is my name?")).toBe("Your name is Ada.");
    expect(await say("What did I say first?")).toBe('Your first message was: "My name is ada"');
  });

  it("The demo agent does not invent memories", async () => {
    const { say } = await demo();
    expect(await say("What did I say first?")).toContain("This is your first message");
    expect(await say("Do you know my name?")).toBe("I do not know your name yet.");
  });

  it.each([
    ["What is the weather in New York?", "get_weather", { city: "New York" }],
    [
      "Show me the weather for Paris over 3 days in fahrenheit",
      "get_weather",
      { city: "Paris", days: 3, unit: "fahrenheit" },
    ],
    [
      'Please write a file notes/today.md saying "buy milk"',
      "write_file",
      { path: "notes/today.md", content: "buy milk" },
    ],
    ["Send an email to bob@example.com", "send_email", { recipient: "bob@example.com" }],
  ])("The demo agent calls the matching tool: %s", async (text, name, input) => {
    const { client } = await demo();
    const events = await invoke(client, { text });
    expect(reasonsIn(events)).toEqual(["tool_use"]);
    expect(callIn(events)).toMatchObject({ content: [{ toolUse: { name, input } }] });
  });

  it("The demo agent uses the result of its tool call in its next message", async () => {
    const { client, say } = await demo();
    const echo = callIn(await invoke(client, { text: "What is the weather in Tokyo?" }));
    const toolUseId = echo.content?.[0]?.toolUse?.toolUseId ?? "";
    const content = [{ json: { sky: "sunny", degrees: 25 } }];
    const result: Message = {
      role: "user",
      content: [{ toolResult: { toolUseId, content, status: "success" } }],
    };
    const events = await invoke(client, { messages: [echo, result] });
    expect(textIn(events)).toBe("Done. get_weather says: sky: sunny, degrees: 25.");
    expect(await say("What did I say first?")).toContain("What is the weather in Tokyo?");
  });

  it("The demo agent acts on a new prompt that comes with results of cancelled tool calls", async () => {
    const { client } = await demo();
    const echo = callIn(await invoke(client, { text: "Send an email to Bob" }));
    const toolUseId = echo.content?.[0]?.toolUse?.toolUseId ?? "";
    const cancelled = { toolUseId, content: [{ text: "cancelled" }], status: "error" as const };
    const next: Message = {
      role: "user",
      content: [{ toolResult: cancelled }, { text: "What is the weather in Oslo?" }],
    };
    expect(callIn(await invoke(client, { messages: [echo, next] }))).toMatchObject({
      content: [{ toolUse: { name: "get_weather", input: { city: "Oslo" } } }],
    });
  });

  it("The demo agent reports a tool error in plain words", async () => {
    const { client } = await demo();
    const echo = callIn(await invoke(client, { text: "Send an email to Bob" }));
    const toolUseId = echo.content?.[0]?.toolUse?.toolUseId ?? "";
    const content = [{ text: "The user did not allow it" }];
    const result: Message = {
      role: "user",
      content: [{ toolResult: { toolUseId, content, status: "error" } }],
    };
    expect(textIn(await invoke(client, { messages: [echo, result] }))).toBe(
      "I could not finish that with send_email. It said: The user did not allow it.",
    );
  });

  it("The demo agent uses a tool for an action, and says so if it has none", async () => {
    const { client } = await demo();
    const events = await invoke(client, { text: "Delete everything" });
    expect(callIn(events)).toMatchObject({ content: [{ toolUse: { name: "write_file" } }] });
    const bare = await running({ brain: createDemoBrain({ delayMilliseconds: 0 }) });
    expect(textIn(await invoke(bare.client, { text: "Delete everything" }))).toBe(
      "I have no tool for that. You have offered me no tools. I can also chat a little, add numbers, and remember what you said.",
    );
  });

  it("The demo agent is deterministic, including the ids of tool calls", async () => {
    const first = await demo();
    const second = await demo();
    const text = "What is the weather in Rome?";
    expect(await invoke(first.client, { text })).toEqual(await invoke(second.client, { text }));
  });
});

/** The message which `src/session/turn/handle-lost-invocation.ts` sends. */
function afterLoss(...restatedTexts: readonly string[]): string {
  const opening =
    "The connection was lost before your response was complete. If you have already completed the request, only report the result; do not repeat any action. Your last input was:";
  return [opening, ...restatedTexts].join("\n\n");
}

describe("The demo agent after a lost invocation", () => {
  it.each([
    [["A tool returned: Saved a file"], "Done. The tool says: Saved a file."],
    [["The tool write_file returned: Saved a file"], "Done. write_file says: Saved a file."],
    [
      ["The tool send_email failed: No mail"],
      "I could not finish that with send_email. It said: No mail.",
    ],
    [
      ["The tool send_email returned: ", "A tool returned: Sent"],
      "Done: send_email ran and had nothing to say. Done. The tool says: Sent.",
    ],
    [
      ["The tool write_file returned: Two\n\nparagraphs, written to a file."],
      "Done. write_file says: Two\n\nparagraphs, written to a file.",
    ],
  ])("The demo agent only reports results that are restated: %j", async (restatedText, answer) => {
    const { client } = await demo();
    const events = await invoke(client, { text: afterLoss(...restatedText) });
    expect(reasonsIn(events)).toEqual(["end_turn"]);
    expect(textIn(events)).toBe(answer);
  });

  it.each([
    [["What is the weather in Oslo?"]],
    [["Two paragraphs.\n\nWhat is the weather in Oslo?"]],
    [["What is the weather in Oslo?", "The tool send_email failed: It was cancelled"]],
  ])("The demo agent acts on a prompt that is restated: %j", async (restatedText) => {
    const { client } = await demo();
    const events = await invoke(client, { text: afterLoss(...restatedText) });
    expect(callIn(events)).toMatchObject({
      content: [{ toolUse: { name: "get_weather", input: { city: "Oslo" } } }],
    });
  });
});

describe("The demo agent after an interrupted message", () => {
  const unheard =
    "Your last response was cut off, and you may not have received the results of your tools. The tools have run; do not run them again. Their results:\n\nA tool returned: Saved a file";

  it("The demo agent acts on the prompt after the restated text", async () => {
    const { client } = await demo();
    const content = [{ text: unheard }, { text: "What is 6 times 7?" }];
    const events = await invoke(client, { messages: [{ role: "user", content }] });
    expect(textIn(events)).toBe("That is 42.");
  });

  it("The demo agent runs no tool twice if everything is restated", async () => {
    const { client } = await demo();
    const events = await invoke(client, { text: afterLoss(unheard, "Write a file") });
    expect(reasonsIn(events)).toEqual(["end_turn"]);
  });
});

const createMessage = (role: "user" | "assistant", text: string): Message => ({
  role,
  content: [{ text }],
});

describe("Earlier messages in the first invocation of a session", () => {
  const EARLIER: Message[] = [
    createMessage("user", "My name is Ada"),
    createMessage("assistant", "Nice to meet you, Ada."),
    createMessage("user", "What is the weather in Oslo?"),
    {
      role: "assistant",
      content: [
        { text: "Let me look." },
        {
          toolUse: {
            toolUseId: "call_1",
            name: "get_weather",
            input: { city: "Oslo" },
            type: "tool_use",
          },
        },
      ],
    },
    {
      role: "user",
      content: [
        { toolResult: { toolUseId: "call_1", content: [{ text: "Snow" }], status: "success" } },
      ],
    },
    createMessage("assistant", "It snows in Oslo."),
  ];

  it("The demo agent uses earlier messages in this and in later invocations", async () => {
    const { client, say } = await demo();
    const messages = [...EARLIER, createMessage("user", "What is my name?")];
    expect(textIn(await invoke(client, { messages }))).toBe("Your name is Ada.");
    expect(await say("What did I say first?")).toBe('Your first message was: "My name is Ada"');
    expect(await say("How many messages?")).toBe("You have sent me 5 messages.");
  });

  it("The earlier messages may end with the tool results of this invocation", async () => {
    const { client } = await demo();
    const messages = EARLIER.slice(0, 5);
    expect(textIn(await invoke(client, { messages }))).toBe("Done. get_weather says: Snow.");
  });

  it("Earlier messages are stored with the session and survive a restart", async () => {
    const dataDirectory = mkdtempSync(join(tmpdir(), "spanline-data-"));
    onTestFinished(() => rmSync(dataDirectory, { recursive: true, force: true }));
    const brain = createDemoBrain({ delayMilliseconds: 0 });
    const first = await running({ brain, dataDirectory });
    await invoke(first.client, { messages: [...EARLIER, createMessage("user", "Thanks")] });
    await first.close();
    const second = await running({ brain, dataDirectory });
    expect(textIn(await invoke(second.client, { text: "What is my name?" }))).toBe(
      "Your name is Ada.",
    );
  });

  it("Earlier messages with an unanswered tool call are refused", async () => {
    const { client } = await demo();
    const messages = [...EARLIER.slice(0, 4), createMessage("user", "Never mind")];
    await expect(invoke(client, { messages })).rejects.toThrow(
      "Expected toolResult blocks at messages.4.content for the following Ids: call_1",
    );
  });
});
