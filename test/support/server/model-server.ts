import { anthropic } from "../../../src/models/anthropic.ts";
import type { Model, ModelSettings } from "../../../src/models/model.ts";
import { openAiCompatible } from "../../../src/models/openai-compatible.ts";
import { startPeer, type PeerResponder, type Peer } from "./scripted-peer.ts";

/** `chat` is the dialect of OpenAI and compatible servers, `messages` the dialect of Anthropic. */
export type Dialect = "chat" | "messages";
export const DIALECTS: readonly Dialect[] = ["chat", "messages"];

/** A model response, independent of the dialect. */
export type ScriptedResponse = (dialect: Dialect) => PeerResponder;

export interface ModelServer extends Peer {
  /** All received requests. */
  readonly modelRequests: readonly ModelServerRequest[];
  createModel(settings?: ModelSettings): Model;
}

/** The members common to both dialects. */
export interface ModelServerRequest {
  readonly messages: readonly RequestMessage[];
  readonly tools?: readonly unknown[];
  readonly [member: string]: unknown;
}

export interface RequestMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly [member: string]: unknown;
}

/** A scripted model on a real socket, with one response per request. The last response is repeated. */
export async function startModelServer(
  dialect: Dialect,
  answers: readonly ScriptedResponse[] | ((modelRequests: ModelServerRequest) => ScriptedResponse),
  atEnd?: Parameters<typeof startPeer>[1],
): Promise<ModelServer> {
  const modelRequests: ModelServerRequest[] = [];
  const peer = await startPeer((response, request) => {
    const body: ModelServerRequest = JSON.parse(String(request.body));
    modelRequests.push(body);
    const scripted =
      typeof answers === "function"
        ? answers(body)
        : (answers[modelRequests.length - 1] ?? answers.at(-1) ?? says("Nothing was scripted"));
    scripted(dialect)(response, request);
  }, atEnd);
  return {
    ...peer,
    modelRequests,
    createModel: (settings = {}) => {
      const common = { model: "small", key: "sk-test", ...settings };
      return dialect === "chat"
        ? openAiCompatible({ ...common, baseUrl: `${peer.url}/v1` })
        : anthropic({ ...common, baseUrl: peer.url });
    },
  };
}

export interface ScriptedToolCall {
  readonly id: string;
  readonly name: string;
  readonly input?: unknown;
  /** Raw argument text, which may be invalid. */
  readonly inputText?: string;
}

export interface ScriptedMessage {
  readonly text?: string;
  readonly thinking?: string;
  readonly calls?: readonly ScriptedToolCall[];
  /** The stop reason in the terms of the dialect. */
  readonly reason?: string;
}

export function says(text: string): ScriptedResponse {
  return responds({ text });
}

export function wants(...calls: readonly ScriptedToolCall[]): ScriptedResponse {
  return responds({ text: "Let me see.", calls });
}

export function responds(message: ScriptedMessage): ScriptedResponse {
  return (dialect) => createStreamAnswer(createEvents(dialect, message));
}

/** Responds only with a status and headers, without a stream. */
export function refuses(
  status: number,
  headers: { readonly [name: string]: string } = {},
  type = "error",
): ScriptedResponse {
  return () => (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ type: "error", error: { type, message: "not now" } }));
  };
}

/** Starts a response, then breaks the connection. */
export function cuts(message: ScriptedMessage): ScriptedResponse {
  return (dialect) => (response) => {
    begin(response);
    response.write(encodeSse(createOpeningEvents(dialect, message)), () => response.destroy());
  };
}

/** Starts a response, then sends no more data. */
export function hangs(text: string): ScriptedResponse {
  return (dialect) => (response) => {
    begin(response);
    response.write(encodeSse(createOpeningEvents(dialect, { text })));
  };
}

/** Starts a response, then reports a failure. */
export function fails(text: string, type: string): ScriptedResponse {
  return (dialect) => (response) => {
    begin(response);
    const error = { type: "error", error: { type, message: "oops" } };
    response.end(encodeSse([...createOpeningEvents(dialect, { text }), error]));
  };
}

/** Sends text, then invalid data. */
export function garbles(text: string): ScriptedResponse {
  return (dialect) => (response) => {
    begin(response);
    response.end(`${encodeSse(createOpeningEvents(dialect, { text }))}data: {"choices":[{\n\n`);
  };
}

/** Responds when `ready` resolves. */
export function respondsAfter(ready: Promise<unknown>, then: ScriptedResponse): ScriptedResponse {
  return (dialect) => (response, request) => {
    void ready.then(() => then(dialect)(response, request));
  };
}

function createStreamAnswer(sent: readonly (object | string)[]): PeerResponder {
  return (response) => {
    begin(response);
    response.end(encodeSse(sent));
  };
}

function begin(response: Parameters<PeerResponder>[0]): void {
  const headers = { "x-request-id": "req-1", "request-id": "req-1" };
  response.writeHead(200, { "content-type": "text/event-stream", ...headers });
}

function encodeSse(sent: readonly (object | string)[]): string {
  return sent
    .map((one) => {
      if (typeof one === "string") return `data: ${one}\n\n`;
      const name = "type" in one ? `event: ${String(one.type)}\n` : "";
      return `${name}data: ${JSON.stringify(one)}\n\n`;
    })
    .join("");
}

function createEvents(dialect: Dialect, scripted: ScriptedMessage): (object | string)[] {
  const hasCalls = (scripted.calls ?? []).length > 0;
  if (dialect === "chat") {
    const reason = scripted.reason ?? (hasCalls ? "tool_calls" : "stop");
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    return [
      ...createOpeningEvents(dialect, scripted),
      createChunk({}, reason),
      { choices: [], usage },
      "[DONE]",
    ];
  }
  const reason = scripted.reason ?? (hasCalls ? "tool_use" : "end_turn");
  return [
    ...createOpeningEvents(dialect, scripted),
    { type: "message_delta", delta: { stop_reason: reason }, usage: { output_tokens: 5 } },
    { type: "message_stop" },
  ];
}

/** All events of a message except its end. */
function createOpeningEvents(dialect: Dialect, scripted: ScriptedMessage): object[] {
  const { text, thinking, calls = [] } = scripted;
  if (dialect === "chat") {
    return [
      createChunk({ role: "assistant", content: "" }),
      ...(thinking === undefined ? [] : [createChunk({ reasoning_content: thinking })]),
      ...splitInHalf(text ?? "").map((content) => createChunk({ content })),
      ...calls.flatMap(createChatCall),
    ];
  }
  const blocks = [
    ...(thinking === undefined ? [] : [thinkingBlock(thinking)]),
    ...(text === undefined ? [] : [textBlock(text)]),
    ...calls.map(createCallBlock),
  ];
  const message = { role: "assistant", usage: { input_tokens: 10, output_tokens: 1 } };
  return [
    { type: "message_start", message },
    ...blocks.flatMap((block, index) => block.map((event) => ({ ...event, index }))),
  ];
}

function createChunk(delta: object, reason: string | null = null): object {
  return { id: "answer-1", choices: [{ index: 0, delta, finish_reason: reason }] };
}

function createChatCall(scriptedCall: ScriptedToolCall, index: number): object[] {
  const { id, name } = scriptedCall;
  const call = { index, id, type: "function", function: { name, arguments: "" } };
  return [
    createChunk({ tool_calls: [call] }),
    ...splitInHalf(readInputText(scriptedCall)).map((part) =>
      createChunk({ tool_calls: [{ index, function: { arguments: part } }] }),
    ),
  ];
}

function thinkingBlock(thinking: string): object[] {
  return block({ type: "thinking", thinking: "" }, [
    { type: "thinking_delta", thinking },
    { type: "signature_delta", signature: "c2VhbA==" },
  ]);
}

function textBlock(text: string): object[] {
  const deltas = splitInHalf(text).map((part) => ({ type: "text_delta", text: part }));
  return block({ type: "text", text: "" }, deltas);
}

function createCallBlock(scriptedCall: ScriptedToolCall): object[] {
  const deltas = splitInHalf(readInputText(scriptedCall)).map((part) => ({
    type: "input_json_delta",
    partial_json: part,
  }));
  return block(
    { type: "tool_use", id: scriptedCall.id, name: scriptedCall.name, input: {} },
    deltas,
  );
}

function block(start: object, deltas: readonly object[]): object[] {
  return [
    { type: "content_block_start", content_block: start },
    ...deltas.map((delta) => ({ type: "content_block_delta", delta })),
    { type: "content_block_stop" },
  ];
}

function readInputText({ input = {}, inputText }: ScriptedToolCall): string {
  return inputText ?? JSON.stringify(input);
}

/** Splits text in two pieces, like a streaming server. */
function splitInHalf(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== "");
}
