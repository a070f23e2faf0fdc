import { isObject } from "../../../src/data/json.ts";
import { assistant, COMPACTABLE, user, type ComplianceTest } from "./compliance-test.ts";
import { websocketTests } from "./compliance-websocket.ts";
import { recordedStream, type Fields } from "./recorded-stream.ts";
import { answered, check, completed, itemOf, post, shaped, textOf, type Target } from "./target.ts";

const WEATHER_TOOL = {
  type: "function",
  name: "get_weather",
  description: "The weather at a place",
  parameters: {
    type: "object",
    properties: { location: { type: "string" } },
    required: ["location"],
    additionalProperties: false,
  },
};

const PIXEL =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const TINY_PDF = `data:application/pdf;base64,${Buffer.from("%PDF-1.1\n%%EOF\n").toString("base64")}`;
const ASK_WEATHER = "What is the weather in San Francisco?";

/** The public suite of 2026-04-24 in its order, followed by tests from other versions of the suite. */
export const complianceTests: readonly ComplianceTest[] = [
  {
    id: "basic-response",
    async run(target) {
      const input = [user("Say hello in exactly three words.")];
      const response = completed(await answered(target, "/responses", { input }));
      check(textOf(response) !== "", "The agent sent no text");
    },
  },
  {
    id: "assistant-phase",
    async run(target) {
      const input = [
        assistant("Let me think about that.", "commentary"),
        assistant("Here is my answer.", "final_answer"),
        user("Thank you. Say hello."),
      ];
      completed(await answered(target, "/responses", { input }));
    },
  },
  {
    id: "response-output-phase-schema",
    async run(target) {
      const response = await answered(target, "/responses", { input: "Say hello." });
      const message = itemOf(response, "message");
      const output = ["commentary", "final_answer"].map((phase) => ({ ...message, phase }));
      shaped("ResponseResource", { ...response, output });
      const { phase } = message;
      check(phase === "final_answer", `The answer's phase is ${String(phase)}`);
    },
  },
  {
    id: "streaming-response",
    async run(target) {
      const { events, response } = await streamed(target, { input: [user("Count from 1 to 5.")] });
      completed(response);
      const deltas = events.filter(({ type }) => type === "response.output_text.delta");
      check(deltas.length > 0, "No text was streamed");
      const text = deltas.map(({ delta }) => delta).join("");
      check(text === textOf(response), `The deltas are ${text}, the output ${textOf(response)}`);
    },
  },
  {
    id: "system-prompt",
    async run(target) {
      const system = { type: "message", role: "system", content: "You are a pirate. Say arr." };
      const input = [system, user("Say hello.")];
      completed(await answered(target, "/responses", { input }));
    },
  },
  {
    id: "tool-calling",
    async run(target) {
      const input = [user(ASK_WEATHER)];
      checkCall(await answered(target, "/responses", { input, tools: [WEATHER_TOOL] }));
    },
  },
  {
    id: "image-input",
    async run(target) {
      const content = [
        { type: "input_text", text: "What is in this picture?" },
        { type: "input_image", image_url: PIXEL },
      ];
      completed(await answered(target, "/responses", { input: [user(content)] }));
    },
  },
  {
    id: "multi-turn",
    async run(target) {
      const input = [
        user("My name is Alice."),
        assistant("Hello Alice, how can I help?"),
        user("What is my name?"),
      ];
      const response = completed(await answered(target, "/responses", { input }));
      checkSays(response, "Alice");
    },
  },
  {
    id: "compact-response",
    async run(target) {
      const compacted = await answered(
        target,
        "/responses/compact",
        COMPACTABLE,
        "CompactResource",
      );
      itemOf(compacted, "compaction");
    },
  },
  {
    id: "compact-missing-model",
    async run(target) {
      const answer = await post(target, "/responses/compact", COMPACTABLE);
      const body = await answer.text();
      check([400, 422].includes(answer.status), `HTTP ${answer.status}: ${body}`);
      const { error } = shaped("ErrorBody", JSON.parse(body));
      check(isObject(error) && error["param"] === "model", `The error is not about model: ${body}`);
    },
  },
  ...websocketTests,
  {
    id: "tool-calling-streaming",
    async run(target) {
      const body = { input: [user(ASK_WEATHER)], tools: [WEATHER_TOOL] };
      const { events, response } = await streamed(target, body);
      checkCall(response);
      const ofCall = (type: string) =>
        events.filter(({ type: found, item }) => {
          const isCall = !isObject(item) || item["type"] === "function_call";
          return found === type && isCall;
        }).length;
      check(ofCall("response.output_item.added") === 1, "The call was not announced once");
      check(ofCall("response.function_call_arguments.delta") > 0, "No arguments were streamed");
      check(
        ofCall("response.function_call_arguments.done") === 1,
        "The arguments did not end once",
      );
      check(ofCall("response.output_item.done") === 1, "The call did not end once");
    },
  },
  {
    id: "function-call-roundtrip",
    async run(target) {
      const first = await answered(target, "/responses", {
        input: [user(ASK_WEATHER)],
        tools: [WEATHER_TOOL],
        tool_choice: { type: "function", name: "get_weather" },
      });
      const { call_id: callId } = checkCall(first);
      const output = '{"temperature":"18 degrees"}';
      const second = await answered(target, "/responses", {
        previous_response_id: first["id"],
        input: [{ type: "function_call_output", call_id: callId, output }],
        tools: [WEATHER_TOOL],
      });
      checkSays(completed(second), "18 degrees");
    },
  },
  ...[false, true].map((stream) => ({
    id: stream ? "previous-response-id-streaming" : "previous-response-id",
    async run(target: Target) {
      const ask = async (body: object): Promise<Fields> =>
        completed(
          stream
            ? (await streamed(target, body)).response
            : await answered(target, "/responses", body),
        );
      const first = await ask({ input: "Remember the code word heliotrope." });
      const previous = { previous_response_id: first["id"] };
      const second = await ask({ input: "What did I ask you to remember?", ...previous });
      checkSays(second, "heliotrope");
      const { previous_response_id: echoed } = second;
      check(echoed === first["id"], `previous_response_id came back as ${String(echoed)}`);
    },
  })),
  {
    id: "file-input",
    // An agent without file support may refuse the file with an explanation; the agent must not drop the file silently.
    async run(target) {
      const content = [
        { type: "input_text", text: "What is in this file?" },
        { type: "input_file", filename: "tiny.pdf", file_data: TINY_PDF },
      ];
      const body = { model: target.model, input: [user(content)] };
      const answer = await post(target, "/responses", body);
      const text = await answer.text();
      if (answer.status === 200) {
        completed(shaped("ResponseResource", JSON.parse(text)));
        return;
      }
      check(answer.status === 400, `HTTP ${answer.status}: ${text}`);
      const { error } = shaped("ErrorBody", JSON.parse(text));
      const isNamed = isObject(error) && typeof error["param"] === "string";
      check(isNamed, `The refusal names no part of the request: ${text}`);
    },
  },
];

async function streamed(target: Target, body: object) {
  const answer = await post(target, "/responses", { model: target.model, stream: true, ...body });
  const recorded = await recordedStream(answer);
  const isBuffered = answer.headers.get("x-accel-buffering") !== "no";
  check(!isBuffered, "No header keeps a proxy from holding the stream back");
  return recorded;
}

function checkCall(response: Fields): Fields {
  const call = itemOf(completed(response), "function_call");
  const { name, arguments: input } = call;
  check(name === "get_weather", `The call is of ${String(name)}`);
  const parsed: unknown = JSON.parse(String(input));
  const hasPlace = isObject(parsed) && typeof parsed["location"] === "string";
  check(hasPlace, `The arguments are ${String(input)}`);
  const isAnswered = JSON.stringify(response).includes("function_call_output");
  check(!isAnswered, "A call that is the client's to run has a result");
  return call;
}

function checkSays(response: Fields, fact: string): void {
  const text = textOf(response);
  check(text.includes(fact), `The agent was to know ${fact}, and says: ${text}`);
}
