import type { InvokeHarnessCommandInput } from "@aws-sdk/client-bedrock-agentcore";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";
import { createToolSuccess } from "../../domain/tools/tool-call.ts";
import { buildTurn } from "../../domain/provider/turn.ts";
import { createInlineFunction, createUserMessages } from "./converse-input.ts";
import { parse } from "./parse.ts";
import { createResumeMessages } from "./resume.ts";
import { foldSdkStream, toSdkMessages } from "./aws-sdk.ts";

async function* stream(events: readonly unknown[], error?: Error): AsyncGenerator {
  yield* events;
  if (error !== undefined) throw error;
}

async function gathered(events: AsyncIterable<ProviderEvent>): Promise<ProviderEvent[]> {
  const all: ProviderEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

const calling = [
  { messageStart: { role: "assistant" } },
  {
    contentBlockDelta: {
      contentBlockIndex: 0,
      delta: { reasoningContent: { redactedContent: Uint8Array.of(0, 1, 255) } },
    },
  },
  { contentBlockStop: { contentBlockIndex: 0 } },
  {
    contentBlockStart: { contentBlockIndex: 1, start: { toolUse: { toolUseId: "A", name: "a" } } },
  },
  { contentBlockStop: { contentBlockIndex: 1 } },
  { messageStop: { stopReason: "tool_use" } },
];

describe("Using the fold with the AWS SDK", () => {
  it("Events of the SDK's stream are folded to the same turn as decoded events", async () => {
    expect(buildTurn(await gathered(foldSdkStream(stream(calling))))).toEqual(parse(calling).turn);
  });

  it("Events before an exception of the SDK are kept, and the failure names the exception [SD-32]", async () => {
    const streamEvents = [
      { messageStart: { role: "assistant" } },
      { contentBlockDelta: { contentBlockIndex: 0, delta: { text: "Hi" } } },
    ];
    const thrown = Object.assign(new Error("Rate exceeded"), { name: "throttlingException" });
    expect(buildTurn(await gathered(foldSdkStream(stream(streamEvents, thrown))))).toMatchObject({
      text: "Hi",
      end: {
        outcome: "failed",
        failure: { code: "stream_exception", details: { type: "throttlingException" } },
      },
    });
  });

  it("Redacted reasoning in SDK messages is decoded to bytes [AC-32]", () => {
    const messages = createResumeMessages(parse(calling).turn, [createToolSuccess("A", "ok")]);
    expect(toSdkMessages(messages)[0]?.content[0]).toEqual({
      reasoningContent: { redactedContent: Uint8Array.of(0, 1, 255) },
    });
  });

  it("Built requests fit the types of the SDK", () => {
    const request = {
      harnessArn: "arn",
      runtimeSessionId: "id",
      messages: toSdkMessages(createUserMessages("hi")),
      tools: [createInlineFunction("a", "d", z.object({ q: z.string() }))],
    };
    expectTypeOf(request).toExtend<InvokeHarnessCommandInput>();
    const resume = toSdkMessages(
      createResumeMessages(parse(calling).turn, [createToolSuccess("A", "ok")]),
    );
    expectTypeOf(resume).toExtend<InvokeHarnessCommandInput["messages"]>();
    expectTypeOf(createUserMessages("hi")).toExtend<InvokeHarnessCommandInput["messages"]>();
  });
});
