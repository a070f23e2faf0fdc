import { SpanlineError, formatThrown } from "../domain/errors.ts";
import { isObject, type JsonObject, type JsonValue } from "../data/json.ts";
import { systemClock } from "../platform/clock.ts";
import {
  encodeScriptedTurnEnd,
  toScriptedError,
  encodeScriptedInitialize,
  encodeScriptedPermission,
  readScriptedPromptId,
  encodeScriptedText,
  type ScriptedPermission,
} from "../wire/acp/client/scripted-messages.ts";
import { encodeToolCallRequest, type HostRequest } from "../wire/acp/host/host-request.ts";
import { createInternalError, createMethodNotFound } from "../wire/jsonrpc/rpc-error.ts";
import type { RpcNotification, RpcOutcome, RpcRequest } from "../wire/jsonrpc/rpc-message.ts";
import {
  openConnection,
  type RequestContext,
  type Connection,
} from "./connection/agent-connection.ts";
import { CONNECTION_GONE } from "./connection/open-requests.ts";
import { ignoreReport } from "./connection/host-report.ts";
import { createMemoryTransports } from "./transports/memory-transport.ts";
import type { Transport } from "./transports/transport.ts";

export interface ScriptedRuntimeOptions {
  /** Called for each prompt. The turn ends when this resolves, as completed unless another end is returned. */
  readonly turn?: (turn: ScriptedTurn) => Promise<TurnEnd | void> | TurnEnd | void;
  /** Names of the vendor updates declared at `initialize`. */
  readonly extensions?: readonly string[];
  /**
   * Recognizes a prompt sent again with the same id on another connection. The turn continues meanwhile. Default:
   * false.
   */
  readonly repeatsPrompts?: boolean;
  /** Overrides responses. Undefined: the runtime responds itself. An exception becomes an error response. */
  readonly answer?: (method: string, params: JsonValue | undefined) => JsonValue | undefined;
}

type TurnEnd = "completed" | "cancelled" | "limited";

export interface ScriptedTurn {
  readonly sessionId: string;
  /** The content blocks of the prompt, unchanged. */
  readonly prompt: readonly JsonValue[];
  /** Aborts when the client cancels or disconnects. */
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
  readonly think: (text: string) => void;
  /** Sends any update, in its wire form. */
  readonly update: (update: JsonObject) => void;
  /** Sends a permission request and returns the whole result. */
  readonly requestPermission: (question: ScriptedPermission) => Promise<JsonValue>;
  /** Requests the host to run a tool. */
  readonly callTool: (name: string, input: JsonObject, callId?: string) => Promise<JsonValue>;
}

/** A runtime without an agent, for tests of hosts and clients. */
export interface ScriptedRuntime {
  /** Pass this to `createClient`. Each call opens a new connection. */
  readonly connect: () => Transport;
  /** All received requests and notifications, in order. */
  readonly receivedMessages: readonly (RpcRequest | RpcNotification)[];
  /** Sends a request to the client on its newest connection. Rejects with the client's error. */
  request(method: string, params: JsonObject): Promise<JsonValue>;
  sendUpdate(sessionId: string, update: JsonObject): void;
  notify(method: string, params: JsonObject): void;
  /** Closes every connection. */
  drop(): void;
}

interface ScriptedPrompt {
  readonly outcome: Promise<RpcOutcome>;
  readonly cancelController: AbortController;
}

export function createScriptedRuntime(options: ScriptedRuntimeOptions = {}): ScriptedRuntime {
  const { turn = () => {}, extensions = [], answer = () => undefined } = options;
  const { repeatsPrompts = false } = options;
  /** Prompts with an id. */
  const prompts = new Map<string, ScriptedPrompt>();
  const receivedMessages: (RpcRequest | RpcNotification)[] = [];
  const connections: Connection[] = [];
  /** Updates sent for each session, replayed by `session/load`. */
  const sentUpdates = new Map<string, JsonObject[]>();
  const turns = new Map<string, AbortController>();
  const tails = new Map<string, Promise<void>>();
  let count = 0;

  function getNewestConnection(): Connection {
    const connection = connections.at(-1);
    if (connection !== undefined) return connection;
    throw new SpanlineError("invalid_option", "No client is connected to the runtime");
  }

  function sendUpdate(sessionId: string, update: JsonObject): void {
    const earlierUpdates = sentUpdates.get(sessionId) ?? [];
    sentUpdates.set(sessionId, [...earlierUpdates, update]);
    getNewestConnection().notify({ method: UPDATE_METHOD, params: { sessionId, update } });
  }

  function sendRequest({ method, params }: HostRequest): Promise<JsonValue> {
    return getNewestConnection().request({ method, params });
  }

  /** Runs one turn at a time per session. The next turn starts after the previous response was sent. */
  function queuePrompt(params: JsonObject, unwanted: AbortSignal): Promise<RpcOutcome> {
    const id = readSessionId(params);
    const outcome = (tails.get(id) ?? Promise.resolve())
      .then(() => runPrompt(id, params["prompt"], unwanted))
      .catch(
        (error: unknown) =>
          ({ ok: false, error: createInternalError(formatThrown(error)) }) as const,
      );
    tails.set(id, outcome.then(waitForNextTask));
    return outcome;
  }

  /** Continues after a lost connection. Ends when any request for the prompt is cancelled. */
  function runRepeatablePrompt(
    params: JsonObject,
    requestSignal: AbortSignal,
  ): Promise<RpcOutcome> {
    const promptId = readScriptedPromptId(params) ?? "";
    const prompt = prompts.get(promptId) ?? startPrompt(params);
    prompts.set(promptId, prompt);
    requestSignal.addEventListener("abort", () => {
      if (requestSignal.reason !== CONNECTION_GONE) prompt.cancelController.abort();
    });
    return prompt.outcome;
  }

  function startPrompt(params: JsonObject): ScriptedPrompt {
    const cancelController = new AbortController();
    return { cancelController, outcome: queuePrompt(params, cancelController.signal) };
  }

  async function runPrompt(
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
    const turnEnd = await turn({
      sessionId: id,
      prompt: Array.isArray(prompt) ? prompt : [],
      signal: controller.signal,
      say: (text) => sendUpdate(id, encodeScriptedText("agent", text, messageId)),
      think: (text) => sendUpdate(id, encodeScriptedText("thought", text, messageId)),
      update: (update) => sendUpdate(id, update),
      requestPermission: (question) =>
        sendRequest({ method: PERMISSION_METHOD, params: encodeScriptedPermission(id, question) }),
      callTool: (name, input, toolCallId) =>
        sendRequest(
          encodeToolCallRequest(name, input, toolCallId === undefined ? undefined : { toolCallId }),
        ),
    });
    turns.delete(id);
    return encodeScriptedTurnEnd(
      turnEnd ?? (controller.signal.aborted ? "cancelled" : "completed"),
    );
  }

  function runAnswer({ method, params }: RpcRequest): RpcOutcome | undefined {
    try {
      const result = answer(method, params);
      return result === undefined ? undefined : { ok: true, result };
    } catch (error) {
      return { ok: false, error: toScriptedError(error) };
    }
  }

  async function respond(request: RpcRequest, { signal }: RequestContext): Promise<RpcOutcome> {
    receivedMessages.push(request);
    const { method } = request;
    const params = isObject(request.params) ? request.params : {};
    const scriptedOutcome = runAnswer(request);
    if (scriptedOutcome !== undefined) return scriptedOutcome;
    switch (method) {
      case "initialize":
        return { ok: true, result: encodeScriptedInitialize(extensions, repeatsPrompts) };
      case "session/new":
      case "session/fork":
        count += 1;
        return { ok: true, result: { sessionId: `ses_${count}` } };
      case "session/load":
        for (const update of sentUpdates.get(readSessionId(params)) ?? []) {
          getNewestConnection().notify({ method: UPDATE_METHOD, params: { ...params, update } });
        }
        return { ok: true, result: {} };
      case "session/resume":
      case "session/close":
      case "session/delete":
      case "authenticate":
        return { ok: true, result: {} };
      case "session/prompt":
        return repeatsPrompts ? runRepeatablePrompt(params, signal) : queuePrompt(params, signal);
      default:
        return { ok: false, error: createMethodNotFound(method) };
    }
  }

  function handleNotification(notification: RpcNotification): void {
    receivedMessages.push(notification);
    const { method, params } = notification;
    if (method !== "session/cancel" || !isObject(params)) return;
    turns.get(readSessionId(params))?.abort();
  }

  return {
    receivedMessages,
    connect() {
      const [ours, theirs] = createMemoryTransports();
      const connectionId = `scripted${connections.length}`;
      const link = {
        connectionId,
        answer: respond,
        onNotification: handleNotification,
        report: ignoreReport,
      };
      connections.push(openConnection(ours, link));
      return theirs;
    },
    request: (method, params) => sendRequest({ method, params }),
    sendUpdate,
    notify: (method, params) => getNewestConnection().notify({ method, params }),
    drop() {
      for (const connection of connections) connection.close();
    },
  };
}

function readSessionId({ sessionId }: JsonObject): string {
  return typeof sessionId === "string" ? sessionId : "";
}

function waitForNextTask(): Promise<void> {
  return new Promise((resolve) => {
    systemClock.schedule(0, resolve);
  });
}

const UPDATE_METHOD = "session/update";
const PERMISSION_METHOD = "session/request_permission";
