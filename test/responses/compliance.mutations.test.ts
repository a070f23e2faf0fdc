import { describe, expect, it } from "vitest";
import type { AgentScript } from "./support/agent-script.ts";
import { complianceTests } from "./support/compliance.ts";
import { mentions as mentioned, startFaulty, type Faults } from "./support/faulty-server.ts";
import { problemsOf } from "./open-responses-schema.ts";
import type { Fields } from "./support/recorded-stream.ts";
import { suiteAgent } from "./support/suite-agent.ts";
import { allowLongTests } from "../support/test-depth.ts";

allowLongTests();

async function failureOf(id: string, faults: Faults, script: AgentScript = suiteAgent()) {
  const faulty = await startFaulty(script, faults);
  const test = complianceTests.find((one) => one.id === id);
  if (test === undefined) throw new Error(`Unknown test: ${id}`);
  return test.run(faulty).then(
    () => "it passed",
    (error: unknown) => String(error),
  );
}

const lacking = (key: string) => (fields: Fields) =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => name !== key));
type Change = (events: readonly Fields[]) => readonly Fields[];

const eachItem = (change: (item: Fields) => Fields) => ({
  response: (response: Fields) => ({
    ...response,
    output: (response["output"] as Fields[]).map(change),
  }),
});
const renamed = (from: string, to: string): Change => {
  return (events) =>
    events.map((event) => (event["type"] === from ? { ...event, type: to } : event));
};
const without = (type: string): Change => {
  return (events) =>
    events
      .filter((event) => event["type"] !== type)
      .map((event, sequence_number) => ({ ...event, sequence_number }));
};
const mentions = (word: string) => (request: Fields) => mentioned(request, word);

/** An agent without memory of earlier messages in the conversation. */
const forgetful: AgentScript = (call) => {
  const turn = suiteAgent();
  if (typeof turn !== "function") throw new Error("The suite's agent is a function");
  return turn({ ...call, instructions: "", history: [] });
};

describe("Faults that the compliance suite detects", () => {
  it.each<[id: string, fault: string, faults: Faults, failure: RegExp]>([
    ["basic-response", "a missing key", { response: lacking("usage") }, /'usage'/],
    ["basic-response", "a null key", { response: (one) => ({ ...one, tools: null }) }, /\/tools/],
    ["basic-response", "no output", { response: (one) => ({ ...one, output: [] }) }, /empty/],
    [
      "basic-response",
      "another status",
      { response: (one) => ({ ...one, status: "incomplete" }) },
      /incomplete/,
    ],
    [
      "basic-response",
      "times in milliseconds",
      { response: (one) => ({ ...one, created_at: 1.7e12, completed_at: 1.7e12 }) },
      /seconds/,
    ],
    [
      "basic-response",
      "an item twice",
      { response: (one) => ({ ...one, output: [one["output"], one["output"]].flat() }) },
      /not unique/,
    ],
    ["basic-response", "an unknown item", eachItem((item) => ({ ...item, type: "x:y" })), /oneOf/],
    ["assistant-phase", "a refused phase", { refuses: mentions("phase") }, /HTTP 400/],
    ["response-output-phase-schema", "no phase", eachItem(lacking("phase")), /phase is undefined/],
    [
      "streaming-response",
      "another name of a frame",
      { framing: (text) => text.replace("event: response.created", "event: created") },
      /called created/,
    ],
    [
      "streaming-response",
      "no [DONE]",
      { framing: (text) => text.replace("data: [DONE]\n\n", "") },
      /\[DONE\]/,
    ],
    [
      "streaming-response",
      "two blank lines",
      { framing: (text) => text.replace("\n\n", "\n\n\n") },
      /malformed/,
    ],
    [
      "streaming-response",
      "an event outside the specification",
      { events: renamed("response.output_text.done", "x:done") },
      /not a core event/,
    ],
    [
      "streaming-response",
      "a gap in the numbers",
      { events: (events) => events.toSpliced(4, 1) },
      /out of order/,
    ],
    [
      "streaming-response",
      "no announcement of an item",
      { events: without("response.output_item.added") },
      /out of order/,
    ],
    [
      "streaming-response",
      "no terminal event",
      { events: without("response.completed") },
      /out of order/,
    ],
    [
      "streaming-response",
      "a proxy that may buffer",
      { headers: { "x-accel-buffering": "yes" } },
      /proxy/,
    ],
    ["system-prompt", "a refused system message", { refuses: mentions("system") }, /HTTP 400/],
    ["image-input", "a refused picture", { refuses: mentions("input_image") }, /HTTP 400/],
    [
      "compact-response",
      "another object",
      { compaction: (one) => ({ ...one, object: "response" }) },
      /\/object/,
    ],
    [
      "compact-response",
      "no compaction item",
      { compaction: (one) => ({ ...one, output: [] }) },
      /no compaction/,
    ],
    ["compact-missing-model", "a model made up", { allows: "no-model" }, /HTTP 200/],
    [
      "websocket-response",
      "an event outside the specification",
      { events: renamed("response.in_progress", "x:y") },
      /not a core event/,
    ],
    [
      "websocket-sequential-responses",
      "one id for two",
      { response: (one) => ({ ...one, id: "resp_1" }) },
      /same id/,
    ],
    ["websocket-continuation", "a refusal", { refuses: mentions("previous") }, /refused/],
    [
      "websocket-reconnect-store-false-recovery",
      "an unstored response that is found",
      { allows: "unstored" },
      /did not fail/,
    ],
    [
      "websocket-previous-response-not-found",
      "a new chain for an unknown id",
      { allows: "unknown-previous" },
      /did not fail/,
    ],
    [
      "websocket-failed-continuation-evicts-cache",
      "a failed continuation that is forgiven",
      { allows: "evicted" },
      /did not fail/,
    ],
    [
      "websocket-compact-new-chain",
      "a compaction that holds nothing",
      { allows: "lost-compaction" },
      /Compaction lost/,
    ],
    ["websocket-forbidden-fields", "a field let through", { allows: "forbidden" }, /did not fail/],
    [
      "tool-calling-streaming",
      "no arguments",
      { events: without("response.function_call_arguments.delta") },
      /No arguments|out of order/,
    ],
    ["function-call-roundtrip", "a refusal", { refuses: mentions("call_ses") }, /HTTP 400/],
    [
      "previous-response-id",
      "an unknown chain",
      { response: (one) => ({ ...one, previous_response_id: null }) },
      /came back/,
    ],
    [
      "previous-response-id-streaming",
      "an id that changes",
      {
        events: (events) =>
          events.map((event) =>
            event["type"] === "response.completed"
              ? { ...event, response: { ...(event["response"] as Fields), id: "resp_other" } }
              : event,
          ),
      },
      /previous_response_not_found|out of order/,
    ],
  ])("Compliance test %s fails for %s [OR-75]", async (id, _, faults, failure) => {
    expect(await failureOf(id, faults)).toMatch(failure);
  });

  it.each([
    ["multi-turn", /Alice/],
    ["previous-response-id", /heliotrope/],
    ["previous-response-id-streaming", /heliotrope/],
    ["websocket-continuation", /forgot/],
  ])(
    "Compliance test %s fails for an agent that forgets earlier messages [OR-75]",
    async (id, failure) => {
      expect(await failureOf(id, {}, forgetful)).toMatch(failure);
    },
  );

  it.each([
    ["tool-calling", [{ says: "No" }], /no function_call/],
    ["tool-calling-streaming", [{ says: "No" }], /no function_call/],
    [
      "tool-calling",
      [{ runs: [{ id: "1", name: "get_weather", input: { location: "" }, result: "" }] }],
      /has a result/,
    ],
    ["tool-calling", [{ calls: [{ id: "1", name: "get_weather" }] }], /arguments are/],
  ])("Compliance test %s fails for the agent script %j [OR-75]", async (id, script, failure) => {
    expect(await failureOf(id, {}, script)).toMatch(failure);
  });

  it("Compliance test file-input fails for a refusal that names no part [OR-62]", async () => {
    const nameless = { refuses: mentions("input_file") };
    expect(await failureOf("file-input", nameless)).toMatch(/names no part/);
  });

  it("Compliance test websocket-error-envelopes fails for an envelope without a status [OR-76]", () => {
    const envelope = { type: "error", error: { code: "planted", message: "No" } };
    const problem = "SocketError must have required property 'status'";
    expect(problemsOf("SocketError", envelope)).toEqual([problem]);
  });
});
