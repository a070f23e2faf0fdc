// AgentCore on this machine, without an AWS account: a conversation with the demo agent, which calls an offered tool
// and uses the result. The test suite runs this example.

import assert from "node:assert/strict";
import { emulate, TEST_CREDENTIALS } from "../src/emulator/index.ts";
import {
  addToTurn,
  createTurnBuilder,
  snapshotTurn,
  createToolSuccess,
  type Turn,
} from "../src/index.ts";
import {
  harnessProvider,
  type OfferedTool,
  type ProviderInvocation,
} from "../src/providers/index.ts";

const weather: OfferedTool = {
  name: "get_weather",
  description: "The weather in a city",
  schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

export async function talkToDemoAgent(write: (text: string) => void): Promise<void> {
  const emulator = await emulate();
  try {
    const agent = harnessProvider({
      harnessArn: emulator.demoArn,
      endpoint: emulator.url,
      credentials: TEST_CREDENTIALS,
    });
    const session = agent.open();
    const options = { signal: AbortSignal.timeout(20_000), tools: [weather] };

    const prompt = { type: "prompt", texts: ["How is the weather in Bergen?"] } as const;
    const firstTurn = await printTurn(await session.invoke(prompt, options), write);
    assert.equal(firstTurn.end?.outcome, "action-required");
    assert.deepEqual(
      firstTurn.toolCalls.map(({ name, input }) => ({ name, input })),
      [{ name: "get_weather", input: { city: "Bergen" } }],
    );

    const results = firstTurn.toolCalls.map(({ id }) =>
      createToolSuccess(id, { sky: "rain", degrees: 11 }),
    );
    const resumed = { type: "results", turn: firstTurn, results } as const;
    const secondTurn = await printTurn(await session.invoke(resumed, options), write);
    assert.equal(secondTurn.end?.outcome, "completed");
    assert.match(secondTurn.text, /sky: rain, degrees: 11/);

    await session.stop(options);
  } finally {
    await emulator.close();
  }
}

/** Prints the events of a turn as they arrive and returns the complete turn. */
async function printTurn(
  invocation: ProviderInvocation,
  write: (text: string) => void,
): Promise<Turn> {
  const turn = createTurnBuilder();
  for await (const event of invocation) {
    if (event.type === "text.delta") write(event.text);
    if (event.type === "text.end") write("\n");
    if (event.type === "tool.end") write(`→ ${event.toolCall.name} ${event.toolCall.inputText}\n`);
    addToTurn(turn, event);
  }
  return snapshotTurn(turn);
}
