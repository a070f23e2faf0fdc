// A complete conversation with a harness through the AWS SDK: the agent calls a tool, the tool runs here, and the agent
// uses the result. The test suite runs this example with a stubbed service.

import {
  InvokeHarnessCommand,
  type BedrockAgentCoreClient,
} from "@aws-sdk/client-bedrock-agentcore";
import { z } from "zod";
import {
  addToTurn,
  createTurnBuilder,
  createInlineFunction,
  createResumeMessages,
  foldSdkStream,
  toSdkMessages,
  snapshotTurn,
  createToolError,
  createToolSuccess,
  createUserMessages,
  type SdkMessage,
  type Turn,
} from "../src/wire/index.ts";

const weather = createInlineFunction(
  "weather",
  "The weather in a city",
  z.object({ city: z.string() }),
);

export async function askAboutWeather(
  client: BedrockAgentCoreClient,
  write: (text: string) => void,
): Promise<Turn> {
  async function invoke(messages: SdkMessage[]): Promise<Turn> {
    const answer = await client.send(
      new InvokeHarnessCommand({
        harnessArn: "arn:aws:bedrock-agentcore:eu-central-1:123456789012:harness/demo-abcdefghij",
        runtimeSessionId: "550e8400-e29b-41d4-a716-446655440000",
        messages,
        tools: [weather],
      }),
    );
    const turn = createTurnBuilder();
    for await (const event of foldSdkStream(answer.stream ?? noEvents())) {
      if (event.type === "text.delta") write(event.text);
      addToTurn(turn, event);
    }
    return snapshotTurn(turn);
  }

  let turn = await invoke(createUserMessages("How is the weather in Bergen?"));
  while (turn.end?.outcome === "action-required") {
    const results = turn.toolCalls.map((call) =>
      call.inputError === undefined
        ? createToolSuccess(call.id, { forecast: "Rain", asked: call.input })
        : createToolError(call.id, call.inputError.message),
    );
    turn = await invoke(toSdkMessages(createResumeMessages(turn, results)));
  }
  return turn;
}

async function* noEvents(): AsyncGenerator<never> {}
