// An agent with your own tools, run to the end of its turn: one tool needs approval, a guard limits the tokens, and a
// tool error is reported to the agent. The test suite runs this example.

import assert from "node:assert/strict";
import { emulate, TEST_CREDENTIALS } from "../src/emulator/index.ts";
import { defineAgent, defineTool, runToCompletion } from "../src/index.ts";
import { harnessProvider } from "../src/providers/index.ts";

const notes: string[] = [];

// With Zod: `input: z.object({ text: z.string() })`, and `text` is typed as a string in `run`.
const saveNote = defineTool({
  name: "save_note",
  description: "Saves a note",
  input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  run({ text }) {
    notes.push(typeof text === "string" ? text : "");
    return "saved";
  },
});

const getWeather = defineTool({
  name: "get_weather",
  description: "Tells the weather of a city",
  input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  idempotent: true,
  run() {
    throw new Error("The weather station is down");
  },
});

export async function runDemoAgent(write: (text: string) => void): Promise<void> {
  const emulator = await emulate();
  try {
    const agent = defineAgent({
      name: "demo",
      provider: harnessProvider({
        harnessArn: emulator.demoArn,
        endpoint: emulator.url,
        credentials: TEST_CREDENTIALS,
      }),
      tools: [saveNote, getWeather],
      approvals: { ask: ["save_*"], allow: ["get_*"] },
      caps: { steps: 10, seconds: 60 },
    });

    const saved = await runToCompletion(agent, {
      prompt: "Please save a note: buy milk",
      async approve({ action, input }) {
        write(`? ${action} ${JSON.stringify(input)}\n`);
        return "allow";
      },
      guard: ({ usage }) => ((usage?.totalTokens ?? 0) > 5000 ? "over budget" : undefined),
    });
    assert.equal(saved.outcome, "completed");
    assert.deepEqual(notes, ["buy milk"]);
    write(`${saved.finalText}\n`);

    // This run has no `approve` function, so a tool call which needs approval is denied, and the agent is notified.
    const denied = await runToCompletion(agent, { prompt: "Please save a note: buy bread" });
    assert.deepEqual(
      denied.toolCalls.map(({ toolCall, ending }) => [toolCall.name, ending]),
      [["save_note", "denied"]],
    );
    assert.deepEqual(notes, ["buy milk"]);

    // The agent gets only the error message; `report` gets the error with its cause and stack.
    const reported: unknown[] = [];
    const failed = await runToCompletion(agent, {
      prompt: "How is the weather in Bergen?",
      report: (error) => reported.push(error),
    });
    assert.equal(failed.outcome, "completed");
    assert.equal(reported.length, 1);
    write(`${failed.finalText}\n`);
  } finally {
    await emulator.close();
  }
}
