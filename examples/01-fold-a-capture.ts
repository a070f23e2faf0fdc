// Decodes a captured InvokeHarness response, prints the agent's text as the bytes arrive, and builds the request with
// the results of the agent's tool calls. The test suite runs this example.

import assert from "node:assert/strict";
import { createReadStream } from "node:fs";
import {
  addToTurn,
  createHarnessStream,
  createTurnBuilder,
  createResumeMessages,
  snapshotTurn,
  createToolError,
  createToolSuccess,
  type ProviderEvent,
} from "../src/wire/index.ts";

export async function foldCapture(write: (text: string) => void): Promise<void> {
  const codec = createHarnessStream();
  const state = codec.initial();
  const turn = createTurnBuilder();
  const onEvent = (event: ProviderEvent): void => {
    if (event.type === "text.delta") write(event.text);
    if (event.type === "text.end") write("\n");
    addToTurn(turn, event);
  };

  const capture = new URL("captures/support-turn.eventstream", import.meta.url);
  for await (const chunk of createReadStream(capture)) codec.step(state, chunk, onEvent);
  codec.finish(state, onEvent);

  const whole = snapshotTurn(turn);
  assert.equal(whole.end?.outcome, "action-required");
  assert.deepEqual(
    whole.toolCalls.map((call) => call.name),
    ["track_parcel", "redirect_parcel"],
  );

  const [assistant, user] = createResumeMessages(whole, [
    createToolSuccess("tooluse_mX31", { place: "Harbour depot" }),
    createToolError("tooluse_b0Zd", "The user declined."),
  ]);
  assert.deepEqual(
    assistant.content.map((block) => Object.keys(block)[0]),
    ["text", "toolUse", "toolUse"],
  );
  assert.equal(user.content.length, 2);
}
