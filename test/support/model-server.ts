import { anthropic } from "../../src/models/anthropic.ts";
import type { Model, ModelSettings } from "../../src/models/model.ts";
import { openAiCompatible } from "../../src/models/openai-compatible.ts";
import { startPeer, type Answer, type Peer } from "./peer.ts";

/** `chat` as OpenAI and those who speak its language do, `messages` as Anthropic does. */
export type Dialect = "chat" | "messages";
export const DIALECTS: readonly Dialect[] = ["chat", "messages"];

/** One answer of a model, before it is written in a dialect. */
export type Scripted = (dialect: Dialect) => Answer;

export interface ModelServer extends Peer {
  /** What was asked, each time. */
  readonly asked: readonly Asked[];
  model(settings?: ModelSettings): Model;
}

/** The parts of a request that both dialects have. */
export interface Asked {
  readonly messages: readonly AskedMessage[];
  readonly tools?: readonly unknown[];
  readonly [member: string]: unknown;
}

export interface AskedMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly [member: string]: unknown;
}

/** A model on a real socket that says what a test scripted, one answer for each request; the last one for all that follow. */
export async function startModel(
  dialect: Dialect,
  answers: readonly Scripted[] | ((asked: Asked) => Scripted),
): Promise<ModelServer> {
  const asked: Asked[] = [];
  const peer = await startPeer((response, request) => {
    const body: Asked = JSON.parse(String(request.body));
    asked.push(body);
    const scripted =
      typeof answers === "function"
        ? answers(body)
        : (answers[asked.length - 1] ?? answers.at(-1) ?? says("Nothing was scripted"));
    scripted(dialect)(response, request);
  });
  return {
    ...peer,
    asked,
    model: (settings = {}) => {
      const common = { model: "small", key: "sk-test", ...settings };
      return dialect === "chat"
        ? openAiCompatible({ ...common, baseUrl: `${peer.url}/v1` })
        : anthropic({ ...common, baseUrl: peer.url });
    },
  };
}

export interface Wanted {
  readonly id: string;
  readonly name: string;
  readonly input?: unknown;
  /** Sent as it is, right or wrong. */
  readonly inputText?: string;
}

export interface Said {
  readonly text?: string;
  readonly thinking?: string;
  readonly calls?: readonly Wanted[];
  /** In the dialect's own word. */
  readonly reason?: string;
}

export function says(text: string): Scripted {
  return answering({ text });
}

export function wants(...calls: readonly Wanted[]): Scripted {
  return answering({ text: "Let me see.", calls });
}

export function answering(said: Said): Scripted {
  return (dialect) => streaming(events(dialect, said));
}

/** No answer but a status, with whatever headers a service adds. */
export function refuses(
  status: number,
  headers: { readonly [name: string]: string } = {},
  type = "error",
): Scripted {
  return () => (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ type: "error", error: { type, message: "not now" } }));
  };
}

/** Says the beginning of something, and then the connection breaks. */
export function cuts(said: Said): Scripted {
  return (dialect) => (response) => {
    begin(response);
    response.write(sse(beginning(dialect, said)), () => response.destroy());
  };
}

/** Says the beginning of something, and then nothing more. */
export function hangs(text: string): Scripted {
  return (dialect) => (response) => {
    begin(response);
    response.write(sse(beginning(dialect, { text })));
  };
}

/** Says the beginning of something, and then that it failed. */
export function fails(text: string, type: string): Scripted {
  return (dialect) => (response) => {
    begin(response);
    const error = { type: "error", error: { type, message: "oops" } };
    response.end(sse([...beginning(dialect, { text }), error]));
  };
}

/** Says something, and then what cannot be read. */
export function garbles(text: string): Scripted {
  return (dialect) => (response) => {
    begin(response);
    response.end(`${sse(beginning(dialect, { text }))}data: {"choices":[{\n\n`);
  };
}

/** Answers when it is told to. */
export function after(ready: Promise<unknown>, then: Scripted): Scripted {
  return (dialect) => (response, request) => {
    void ready.then(() => then(dialect)(response, request));
  };
}

function streaming(sent: readonly (object | string)[]): Answer {
  return (response) => {
    begin(response);
    response.end(sse(sent));
  };
}

function begin(response: Parameters<Answer>[0]): void {
  const headers = { "x-request-id": "req-1", "request-id": "req-1" };
  response.writeHead(200, { "content-type": "text/event-stream", ...headers });
}

function sse(sent: readonly (object | string)[]): string {
  return sent
    .map((one) => {
      if (typeof one === "string") return `data: ${one}\n\n`;
      const name = "type" in one ? `event: ${String(one.type)}\n` : "";
      return `${name}data: ${JSON.stringify(one)}\n\n`;
    })
    .join("");
}

function events(dialect: Dialect, said: Said): (object | string)[] {
  const hasCalls = (said.calls ?? []).length > 0;
  if (dialect === "chat") {
    const reason = said.reason ?? (hasCalls ? "tool_calls" : "stop");
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    return [...beginning(dialect, said), chunk({}, reason), { choices: [], usage }, "[DONE]"];
  }
  const reason = said.reason ?? (hasCalls ? "tool_use" : "end_turn");
  return [
    ...beginning(dialect, said),
    { type: "message_delta", delta: { stop_reason: reason }, usage: { output_tokens: 5 } },
    { type: "message_stop" },
  ];
}

/** All of a message but its end. */
function beginning(dialect: Dialect, said: Said): object[] {
  const { text, thinking, calls = [] } = said;
  if (dialect === "chat") {
    return [
      chunk({ role: "assistant", content: "" }),
      ...(thinking === undefined ? [] : [chunk({ reasoning_content: thinking })]),
      ...halves(text ?? "").map((content) => chunk({ content })),
      ...calls.flatMap(chatCall),
    ];
  }
  const blocks = [
    ...(thinking === undefined ? [] : [thinkingBlock(thinking)]),
    ...(text === undefined ? [] : [textBlock(text)]),
    ...calls.map(callBlock),
  ];
  const message = { role: "assistant", usage: { input_tokens: 10, output_tokens: 1 } };
  return [
    { type: "message_start", message },
    ...blocks.flatMap((block, index) => block.map((event) => ({ ...event, index }))),
  ];
}

function chunk(delta: object, reason: string | null = null): object {
  return { id: "answer-1", choices: [{ index: 0, delta, finish_reason: reason }] };
}

function chatCall(wanted: Wanted, index: number): object[] {
  const { id, name } = wanted;
  const call = { index, id, type: "function", function: { name, arguments: "" } };
  return [
    chunk({ tool_calls: [call] }),
    ...halves(inputTextOf(wanted)).map((part) =>
      chunk({ tool_calls: [{ index, function: { arguments: part } }] }),
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
  const deltas = halves(text).map((part) => ({ type: "text_delta", text: part }));
  return block({ type: "text", text: "" }, deltas);
}

function callBlock(wanted: Wanted): object[] {
  const deltas = halves(inputTextOf(wanted)).map((part) => ({
    type: "input_json_delta",
    partial_json: part,
  }));
  return block({ type: "tool_use", id: wanted.id, name: wanted.name, input: {} }, deltas);
}

function block(start: object, deltas: readonly object[]): object[] {
  return [
    { type: "content_block_start", content_block: start },
    ...deltas.map((delta) => ({ type: "content_block_delta", delta })),
    { type: "content_block_stop" },
  ];
}

function inputTextOf({ input = {}, inputText }: Wanted): string {
  return inputText ?? JSON.stringify(input);
}

/** In two pieces, as whatever streams does. */
function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== "");
}
