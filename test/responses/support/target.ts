import { isObject } from "../../../src/data/json.ts";
import type { AgentCall } from "./agent-script.ts";
import { problemsOf, type Shape } from "../open-responses-schema.ts";
import type { Fields } from "./recorded-stream.ts";

/** A server under test, local or remote. */
export interface Target {
  /** Ends with `/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly model: string;
}

/** A server over a scripted agent. */
export interface Served extends Target {
  /** Invocations of the agent, in order. */
  agentCalls(): readonly AgentCall[];
  /** Resolves when a hanging turn is interrupted. */
  interrupted(): Promise<void>;
  close(): Promise<void>;
}

export function post(target: Target, path: string, body: object): Promise<Response> {
  return fetch(`${target.baseUrl}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${target.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** Sends a request and returns its JSON response if the schema matches; throws otherwise. */
export async function answered(
  target: Target,
  path: string,
  body: object,
  shape: Shape = "ResponseResource",
): Promise<Fields> {
  const answer = await post(target, path, { model: target.model, ...body });
  const text = await answer.text();
  check(answer.status === 200, `HTTP ${answer.status}: ${text}`);
  const type = answer.headers.get("content-type") ?? "nothing";
  check(type.startsWith("application/json"), `The answer is ${type}`);
  check(answer.headers.has("x-request-id"), "The answer has no x-request-id");
  return shaped(shape, JSON.parse(text));
}

export function shaped(shape: Shape, value: unknown): Fields {
  const problems = problemsOf(shape, value);
  check(problems.length === 0, `The schema refuses the answer: ${problems.join("; ")}`);
  check(isObject(value), "The response is not an object");
  return value;
}

/** Returns the response if its turn completed; throws otherwise. */
export function completed(response: Fields): Fields {
  const { status, created_at: from, completed_at: to, error } = response;
  check(status === "completed", `The response is ${String(status)}: ${JSON.stringify(error)}`);
  check(itemsOf(response).length > 0, "The output is empty");
  check(Number(to) >= Number(from), "completed_at is before created_at");
  check(Number(from) < 1e11, "created_at is not in seconds");
  const usage = response["usage"];
  if (isObject(usage)) {
    const sum = Number(usage["input_tokens"]) + Number(usage["output_tokens"]);
    check(usage["total_tokens"] === sum, "total_tokens is not the sum");
  }
  const ids = itemsOf(response).map(({ id }) => id);
  check(new Set(ids).size === ids.length, `Item ids are not unique: ${ids.join(", ")}`);
  return response;
}

export function itemsOf(response: Fields): readonly Fields[] {
  const { output } = response;
  return Array.isArray(output) ? output.filter(isObject) : [];
}

/** The first item of a type. Throws if the response has no such item. */
export function itemOf(response: Fields, type: string): Fields {
  const found = itemsOf(response).find((item) => item["type"] === type);
  check(found !== undefined, `The output has no ${type}`);
  return found;
}

export function textOf(response: Fields): string {
  return itemsOf(response)
    .flatMap(({ content }) => (Array.isArray(content) ? content.filter(isObject) : []))
    .map(({ text }) => text)
    .join("");
}

export function check(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}
