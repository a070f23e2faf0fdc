import { onTestFinished } from "vitest";
import type { AgentDefinition } from "../../../src/config/agent/agent-definition.ts";
import { defineAgent } from "../../../src/bridge/agent/define-agent.ts";
import { isObject } from "../../../src/data/json.ts";
import type { Agent } from "../../../src/session/runtime/agent/agent.ts";
import {
  waitForAbort,
  createTurnEnd,
  createScriptedProvider,
  type ProviderScript,
  type ScriptedProvider,
} from "../../support/session/scripted-provider.ts";
import type { Fields } from "../support/recorded-stream.ts";
import { serveSessions, type ServedSessions, type Serving } from "../support/serve-sessions.ts";
import type { Target } from "../support/target.ts";
import { waitUntil, withDeadline } from "../../support/with-deadline.ts";

export interface World extends ServedSessions {
  readonly provider: ScriptedProvider;
  /** Texts sent to the agent, one per invocation. */
  heard(): readonly string[];
}

export type WorldOptions = Omit<Serving, "agents"> & {
  readonly agent?: Partial<Omit<AgentDefinition, "provider">>;
  readonly provider?: ScriptedProvider;
  /** Names of further agents with the same configuration. */
  readonly others?: readonly string[];
};

/** Starts a server over a scripted agent, with one script per invocation. */
export async function worldOf(
  answers: readonly ProviderScript[],
  { agent = {}, provider = providerOf(answers), others = [], ...serving }: WorldOptions = {},
): Promise<World> {
  const named = others.map((name) => agentOf(provider, { ...agent, name }));
  const served = await serveSessions({ ...serving, agents: [agentOf(provider, agent), ...named] });
  return {
    ...served,
    provider,
    heard: () => provider.invocations.map(({ input }) => (input.texts ?? []).join("\n")),
  };
}

export function providerOf(
  answers: readonly ProviderScript[],
  options: Parameters<typeof createScriptedProvider>[1] = {},
): ScriptedProvider {
  const capabilities = {
    instructions: true,
    tools: true,
    allowedTools: true,
    maxOutputTokens: true,
  } as const;
  return createScriptedProvider(answers, { capabilities, ...options });
}

function agentOf(
  provider: ScriptedProvider,
  definition: Partial<Omit<AgentDefinition, "provider">> = {},
): Agent {
  const approvals = { default: "allow" } as const;
  return defineAgent({ name: "scripted", provider, approvals, ...definition });
}

type Headers = { readonly [name: string]: string };

export interface Answered {
  readonly status: number;
  readonly headers: globalThis.Headers;
  readonly body: Fields;
}

/** Sends `POST /responses` and reads the whole response. */
export async function ask(
  target: Target,
  body: unknown,
  { headers = {}, key = target.apiKey, signal, path = "/responses", method = "POST" }: How = {},
): Promise<Answered> {
  const answer = await fetch(`${target.baseUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  });
  const text = await answer.text();
  const parsed: unknown = JSON.parse(text);
  if (!isObject(parsed)) throw new Error(`The response is not an object: ${text}`);
  return { status: answer.status, headers: answer.headers, body: parsed };
}

export interface How {
  readonly headers?: Headers;
  readonly key?: string;
  readonly signal?: AbortSignal;
  readonly path?: string;
  readonly method?: string;
}

export function get(target: Target, path: string, how: How = {}): Promise<Answered> {
  return ask(target, undefined, { ...how, path, method: "GET" });
}

export interface OpenStream {
  readonly status: number;
  readonly headers: globalThis.Headers;
  /** The next event, or "quiet" for a keep-alive comment. Undefined at the end of the stream. */
  next(): Promise<Fields | "quiet" | undefined>;
  /** Reads events up to and including the first of this type. */
  until(type: string): Promise<Fields[]>;
  rest(): Promise<Fields[]>;
  leave(): void;
}

/** Opens a stream which the test reads event by event. */
export async function openStream(
  target: Target,
  body: object | undefined,
  { headers = {}, key = target.apiKey, path = "/responses" }: How = {},
): Promise<OpenStream> {
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const answer = await fetch(`${target.baseUrl}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    ...(body !== undefined && { body: JSON.stringify({ stream: true, ...body }) }),
    signal: controller.signal,
  });
  const frames = framesOf(answer);
  const next: OpenStream["next"] = async () => {
    const { value, done } = await withDeadline(frames.next(), () => "the stream is silent");
    if (done === true) return undefined;
    if (value.startsWith(":")) return "quiet";
    if (value === "data: [DONE]") return undefined;
    return JSON.parse(/^data: (.*)$/m.exec(value)?.[1] ?? "null");
  };
  const until: OpenStream["until"] = async (type) => {
    const seen: Fields[] = [];
    for (;;) {
      const event = await next();
      if (event === undefined) return seen;
      if (event !== "quiet") seen.push(event);
      if (event !== "quiet" && event["type"] === type) return seen;
    }
  };
  return {
    status: answer.status,
    headers: answer.headers,
    next,
    until,
    rest: () => until(""),
    leave: () => controller.abort(),
  };
}

async function* framesOf(answer: Response): AsyncGenerator<string, undefined> {
  if (answer.body === null) return;
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of answer.body) {
    text += decoder.decode(bytes, { stream: true });
    const frames = text.split("\n\n");
    text = frames.pop() ?? "";
    yield* frames;
  }
}

export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

/** A promise which the test resolves by calling `open`. */
export function gate(): Gate {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => void (open = resolve));
  return { opened, open: () => open() };
}

/** Sends each text when the gates before it are open. */
export function saysWhen(...pieces: readonly (string | Gate)[]): ProviderScript {
  return async function* (signal) {
    yield { type: "message.start", message: 0, role: "assistant" };
    let whole = "";
    for (const piece of pieces) {
      if (typeof piece === "string") {
        whole += piece;
        yield { type: "text.delta", message: 0, block: 0, text: piece };
      } else {
        await Promise.race([piece.opened, waitForAbort(signal)]);
        if (signal.aborted) throw signal.reason;
      }
    }
    yield { type: "text.end", message: 0, block: 0, text: whole };
    yield { type: "message.end", message: 0, reason: "end_turn" };
    yield createTurnEnd({ outcome: "completed", reason: "end_turn" });
  };
}

export function echoes(): ProviderScript {
  return async function* (signal, call) {
    yield* saysWhen(`You said: ${(call.input.texts ?? []).join(" ")}`)(signal, call);
  };
}

export function called(world: World, times: number): Promise<void> {
  return waitUntil(
    () => world.provider.invocations.length >= times,
    () => world.heard(),
  );
}

export function errorIn({ body }: Answered): Fields {
  const { error } = body;
  return isObject(error) ? error : {};
}

export function outputOf(response: Fields): readonly Fields[] {
  const { output } = response;
  return Array.isArray(output) ? output.filter(isObject) : [];
}

export function textIn(response: Fields): string {
  return outputOf(response)
    .flatMap(({ content }) => (Array.isArray(content) ? content.filter(isObject) : []))
    .map(({ text }) => String(text))
    .join("");
}

export function lastOf(events: readonly Fields[]): Fields {
  const response = events.at(-1)?.["response"];
  if (!isObject(response)) throw new Error("The stream ends without a response");
  return response;
}

export const tools = (...names: readonly string[]) =>
  names.map((name) => ({ type: "function", name, parameters: { type: "object" } }));
