import { SpanlineError, thrownMessage } from "../domain/errors.ts";
import { isObject, type JsonObject, type JsonValue } from "../domain/json.ts";
import { systemClock } from "../platform/clock.ts";
import {
  scriptedEnd,
  scriptedError,
  scriptedInitialize,
  scriptedPermission,
  scriptedPromptId,
  scriptedText,
  type ScriptedQuestion,
} from "../wire/acp/client/scripted-answers.ts";
import { toolCallRequest, type HostRequest } from "../wire/acp/host/host-request.ts";
import { internalError, methodNotFound } from "../wire/jsonrpc/rpc-error.ts";
import type { RpcNotification, RpcOutcome, RpcRequest } from "../wire/jsonrpc/rpc-message.ts";
import { openConnection, type AskedContext, type Connection } from "./connection.ts";
import { CONNECTION_GONE } from "./open-requests.ts";
import { noReport } from "./report.ts";
import { memoryTransports } from "./transports/memory.ts";
import type { Transport } from "./transports/transport.ts";

export interface ScriptedOptions {
  /** What happens when it is prompted. The turn ends when this resolves, as completed unless it says otherwise. */
  readonly turn?: (turn: ScriptedTurn) => Promise<TurnEnd | void> | TurnEnd | void;
  /** The names of updates beside ACP's own that it says it sends. */
  readonly extensions?: readonly string[];
  /** Knows a prompt again that comes with its id on another connection; its turn goes on meanwhile. */
  readonly repeatsPrompts?: boolean;
  /** Answers before this runtime does; undefined for what is left to it. What it throws is the answer, too. */
  readonly answer?: (method: string, params: JsonValue | undefined) => JsonValue | undefined;
}

type TurnEnd = "completed" | "cancelled" | "limited";

export interface ScriptedTurn {
  readonly sessionId: string;
  /** The blocks of the prompt, as they came. */
  readonly prompt: readonly JsonValue[];
  /** Aborted when the client cancels, or is gone. */
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
  readonly think: (text: string) => void;
  /** Any update, as it stands on the wire. */
  readonly update: (update: JsonObject) => void;
  /** Asks for a permission; gives the whole result. */
  readonly permission: (question: ScriptedQuestion) => Promise<JsonValue>;
  /** Has the host run one of its tools. */
  readonly callTool: (name: string, input: JsonObject, callId?: string) => Promise<JsonValue>;
}

/** A runtime without an agent, for tests of hosts and clients. */
export interface ScriptedRuntime {
  /** For `createClient`. Each call is another connection. */
  readonly connect: () => Transport;
  /** Every message that came, in order. */
  readonly heard: readonly (RpcRequest | RpcNotification)[];
  /** Asks the client anything, on its newest connection. Rejects with what it refuses. */
  ask(method: string, params: JsonObject): Promise<JsonValue>;
  tell(sessionId: string, update: JsonObject): void;
  notify(method: string, params: JsonObject): void;
  /** Breaks off every connection. */
  drop(): void;
}

interface KnownPrompt {
  readonly outcome: Promise<RpcOutcome>;
  readonly unwanted: AbortController;
}

export function scriptedRuntime(options: ScriptedOptions = {}): ScriptedRuntime {
  const { turn = () => {}, extensions = [], answer = () => undefined } = options;
  const { repeatsPrompts = false } = options;
  /** Prompts that came with an id. */
  const known = new Map<string, KnownPrompt>();
  const heard: (RpcRequest | RpcNotification)[] = [];
  const connections: Connection[] = [];
  /** What was told of each session, for whoever loads it. */
  const told = new Map<string, JsonObject[]>();
  const turns = new Map<string, AbortController>();
  const tails = new Map<string, Promise<void>>();
  let count = 0;

  function newest(): Connection {
    const connection = connections.at(-1);
    if (connection !== undefined) return connection;
    throw new SpanlineError("invalid_option", "Nobody is connected to the runtime yet");
  }

  function tell(sessionId: string, update: JsonObject): void {
    const before = told.get(sessionId) ?? [];
    told.set(sessionId, [...before, update]);
    newest().notify({ method: UPDATE, params: { sessionId, update } });
  }

  function ask({ method, params }: HostRequest): Promise<JsonValue> {
    return newest().request({ method, params });
  }

  /** One turn at a time in a session. The next begins when the answer to the one before has been sent. */
  function queued(params: JsonObject, unwanted: AbortSignal): Promise<RpcOutcome> {
    const id = sessionIn(params);
    const outcome = (tails.get(id) ?? Promise.resolve())
      .then(() => prompted(id, params["prompt"], unwanted))
      .catch(
        (error: unknown) => ({ ok: false, error: internalError(thrownMessage(error)) }) as const,
      );
    tails.set(id, outcome.then(nextTask));
    return outcome;
  }

  /** Goes on when the connection is lost, and ends when any request for it is no longer wanted. */
  function knownPrompt(params: JsonObject, wanted: AbortSignal): Promise<RpcOutcome> {
    const promptId = scriptedPromptId(params) ?? "";
    const prompt = known.get(promptId) ?? begunPrompt(params);
    known.set(promptId, prompt);
    wanted.addEventListener("abort", () => {
      if (wanted.reason !== CONNECTION_GONE) prompt.unwanted.abort();
    });
    return prompt.outcome;
  }

  function begunPrompt(params: JsonObject): KnownPrompt {
    const unwanted = new AbortController();
    return { unwanted, outcome: queued(params, unwanted.signal) };
  }

  async function prompted(
    id: string,
    prompt: JsonValue | undefined,
    unwanted: AbortSignal,
  ): Promise<RpcOutcome> {
    const controller = new AbortController();
    unwanted.addEventListener("abort", () => controller.abort());
    if (unwanted.aborted) controller.abort();
    turns.set(id, controller);
    count += 1;
    const messageId = `msg_${count}`;
    const ended = await turn({
      sessionId: id,
      prompt: Array.isArray(prompt) ? prompt : [],
      signal: controller.signal,
      say: (text) => tell(id, scriptedText("agent", text, messageId)),
      think: (text) => tell(id, scriptedText("thought", text, messageId)),
      update: (update) => tell(id, update),
      permission: (question) =>
        ask({ method: PERMISSION, params: scriptedPermission(id, question) }),
      callTool: (name, input, toolCallId) =>
        ask(toolCallRequest(name, input, toolCallId === undefined ? undefined : { toolCallId })),
    });
    turns.delete(id);
    return scriptedEnd(ended ?? (controller.signal.aborted ? "cancelled" : "completed"));
  }

  function answered({ method, params }: RpcRequest): RpcOutcome | undefined {
    try {
      const result = answer(method, params);
      return result === undefined ? undefined : { ok: true, result };
    } catch (error) {
      return { ok: false, error: scriptedError(error) };
    }
  }

  async function respond(request: RpcRequest, { signal }: AskedContext): Promise<RpcOutcome> {
    heard.push(request);
    const { method } = request;
    const params = isObject(request.params) ? request.params : {};
    const own = answered(request);
    if (own !== undefined) return own;
    switch (method) {
      case "initialize":
        return { ok: true, result: scriptedInitialize(extensions, repeatsPrompts) };
      case "session/new":
      case "session/fork":
        count += 1;
        return { ok: true, result: { sessionId: `ses_${count}` } };
      case "session/load":
        for (const update of told.get(sessionIn(params)) ?? []) {
          newest().notify({ method: UPDATE, params: { ...params, update } });
        }
        return { ok: true, result: {} };
      case "session/resume":
      case "session/close":
      case "session/delete":
      case "authenticate":
        return { ok: true, result: {} };
      case "session/prompt":
        return repeatsPrompts ? knownPrompt(params, signal) : queued(params, signal);
      default:
        return { ok: false, error: methodNotFound(method) };
    }
  }

  function notified(notification: RpcNotification): void {
    heard.push(notification);
    const { method, params } = notification;
    if (method !== "session/cancel" || !isObject(params)) return;
    turns.get(sessionIn(params))?.abort();
  }

  return {
    heard,
    connect() {
      const [ours, theirs] = memoryTransports();
      const connectionId = `scripted${connections.length}`;
      const link = { connectionId, answer: respond, told: notified, report: noReport };
      connections.push(openConnection(ours, link));
      return theirs;
    },
    ask: (method, params) => ask({ method, params }),
    tell,
    notify: (method, params) => newest().notify({ method, params }),
    drop() {
      for (const connection of connections) connection.close();
    },
  };
}

function sessionIn({ sessionId }: JsonObject): string {
  return typeof sessionId === "string" ? sessionId : "";
}

function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    systemClock.after(0, resolve);
  });
}

const UPDATE = "session/update";
const PERMISSION = "session/request_permission";
