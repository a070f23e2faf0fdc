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

export function createScriptedRuntime(options: ScriptedRuntimeOptions = {}): ScriptedRuntime {
  const { answer = () => undefined } = options;
  const receivedMessages: (RpcRequest | RpcNotification)[] = [];
  const clients = createScriptedClients();
  const agent = createScriptedAgent(options, clients);
  const link = {
    async answer(request: RpcRequest, { signal }: RequestContext): Promise<RpcOutcome> {
      receivedMessages.push(request);
      return runAnswer(answer, request) ?? agent.respond(request, signal);
    },
    onNotification(notification: RpcNotification): void {
      receivedMessages.push(notification);
      agent.handleNotification(notification);
    },
    report: ignoreReport,
  };
  return {
    receivedMessages,
    connect() {
      const [ours, theirs] = createMemoryTransports();
      clients.add((connectionId) => openConnection(ours, { ...link, connectionId }));
      return theirs;
    },
    request: (method, params) => clients.sendRequest({ method, params }),
    sendUpdate: clients.sendUpdate,
    notify: (method, params) => clients.getNewestConnection().notify({ method, params }),
    drop: clients.closeAll,
  };
}

function runAnswer(
  answer: NonNullable<ScriptedRuntimeOptions["answer"]>,
  { method, params }: RpcRequest,
): RpcOutcome | undefined {
  try {
    const result = answer(method, params);
    return result === undefined ? undefined : { ok: true, result };
  } catch (error) {
    return { ok: false, error: toScriptedError(error) };
  }
}

/** The connected clients and the sent updates. */
interface ScriptedClients {
  readonly add: (open: (connectionId: string) => Connection) => void;
  readonly getNewestConnection: () => Connection;
  readonly sendUpdate: (sessionId: string, update: JsonObject) => void;
  readonly sendRequest: (request: HostRequest) => Promise<JsonValue>;
  /** Sends the updates of a session again. */
  readonly replayUpdates: (params: JsonObject) => void;
  readonly closeAll: () => void;
}

function createScriptedClients(): ScriptedClients {
  const connections: Connection[] = [];
  /** Updates sent for each session, replayed by `session/load`. */
  const sentUpdates = new Map<string, JsonObject[]>();

  function getNewestConnection(): Connection {
    const connection = connections.at(-1);
    if (connection !== undefined) return connection;
    throw new SpanlineError("invalid_option", "No client is connected to the runtime");
  }

  return {
    add: (open) => void connections.push(open(`scripted${connections.length}`)),
    getNewestConnection,
    sendUpdate(sessionId, update) {
      const earlierUpdates = sentUpdates.get(sessionId) ?? [];
      sentUpdates.set(sessionId, [...earlierUpdates, update]);
      getNewestConnection().notify({ method: UPDATE_METHOD, params: { sessionId, update } });
    },
    sendRequest: ({ method, params }) => getNewestConnection().request({ method, params }),
    replayUpdates(params) {
      for (const update of sentUpdates.get(readSessionId(params)) ?? []) {
        getNewestConnection().notify({ method: UPDATE_METHOD, params: { ...params, update } });
      }
    },
    closeAll() {
      for (const connection of connections) connection.close();
    },
  };
}

/** The default responses, sent if `answer` returns undefined. */
function createScriptedAgent(
  { turn = () => {}, extensions = [], repeatsPrompts = false }: ScriptedRuntimeOptions,
  clients: ScriptedClients,
) {
  let count = 0;
  const createId = (prefix: string): string => {
    count += 1;
    return `${prefix}_${count}`;
  };
  const prompts = createPromptQueue(async (scriptedPrompt) => {
    const turnEnd = await turn(createScriptedTurn(scriptedPrompt, createId("msg"), clients));
    const { signal } = scriptedPrompt;
    return encodeScriptedTurnEnd(turnEnd ?? (signal.aborted ? "cancelled" : "completed"));
  });

  return {
    respond(request: RpcRequest, signal: AbortSignal): RpcOutcome | Promise<RpcOutcome> {
      const { method } = request;
      const params = isObject(request.params) ? request.params : {};
      switch (method) {
        case "initialize":
          return { ok: true, result: encodeScriptedInitialize(extensions, repeatsPrompts) };
        case "session/new":
        case "session/fork":
          return { ok: true, result: { sessionId: createId("ses") } };
        case "session/load":
          clients.replayUpdates(params);
          return { ok: true, result: {} };
        case "session/resume":
        case "session/close":
        case "session/delete":
        case "authenticate":
          return { ok: true, result: {} };
        case "session/prompt":
          return repeatsPrompts
            ? prompts.runRepeatable(params, signal)
            : prompts.run(params, signal);
        default:
          return { ok: false, error: createMethodNotFound(method) };
      }
    },
    handleNotification({ method, params }: RpcNotification): void {
      if (method !== "session/cancel" || !isObject(params)) return;
      prompts.cancel(readSessionId(params));
    },
  };
}

function createScriptedTurn(
  { sessionId, prompt, signal }: RunningPrompt,
  messageId: string,
  { sendUpdate, sendRequest }: ScriptedClients,
): ScriptedTurn {
  return {
    sessionId,
    prompt: Array.isArray(prompt) ? prompt : [],
    signal,
    say: (text) => sendUpdate(sessionId, encodeScriptedText("agent", text, messageId)),
    think: (text) => sendUpdate(sessionId, encodeScriptedText("thought", text, messageId)),
    update: (update) => sendUpdate(sessionId, update),
    requestPermission: (question) =>
      sendRequest({
        method: PERMISSION_METHOD,
        params: encodeScriptedPermission(sessionId, question),
      }),
    callTool: (name, input, toolCallId) =>
      sendRequest(
        encodeToolCallRequest(name, input, toolCallId === undefined ? undefined : { toolCallId }),
      ),
  };
}

interface RunningPrompt {
  readonly sessionId: string;
  readonly prompt: JsonValue | undefined;
  /** Aborts when the client cancels or disconnects. */
  readonly signal: AbortSignal;
}

interface ScriptedPrompt {
  readonly outcome: Promise<RpcOutcome>;
  readonly cancelController: AbortController;
}

/** The prompts of all sessions, in the order of their arrival. */
function createPromptQueue(runTurn: (prompt: RunningPrompt) => Promise<RpcOutcome>) {
  /** Prompts with an id. */
  const prompts = new Map<string, ScriptedPrompt>();
  const turns = new Map<string, AbortController>();
  const tails = new Map<string, Promise<void>>();

  /** Runs one turn at a time per session. The next turn starts after the previous response was sent. */
  function run(params: JsonObject, unwanted: AbortSignal): Promise<RpcOutcome> {
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

  async function runPrompt(
    id: string,
    prompt: JsonValue | undefined,
    unwanted: AbortSignal,
  ): Promise<RpcOutcome> {
    const controller = new AbortController();
    unwanted.addEventListener("abort", () => controller.abort());
    if (unwanted.aborted) controller.abort();
    turns.set(id, controller);
    const outcome = await runTurn({ sessionId: id, prompt, signal: controller.signal });
    turns.delete(id);
    return outcome;
  }

  function startPrompt(params: JsonObject): ScriptedPrompt {
    const cancelController = new AbortController();
    return { cancelController, outcome: run(params, cancelController.signal) };
  }

  return {
    run,
    /** Continues after a lost connection. Ends when any request for the prompt is cancelled. */
    runRepeatable(params: JsonObject, requestSignal: AbortSignal): Promise<RpcOutcome> {
      const promptId = readScriptedPromptId(params) ?? "";
      const prompt = prompts.get(promptId) ?? startPrompt(params);
      prompts.set(promptId, prompt);
      requestSignal.addEventListener("abort", () => {
        if (requestSignal.reason !== CONNECTION_GONE) prompt.cancelController.abort();
      });
      return prompt.outcome;
    },
    cancel: (sessionId: string): void => turns.get(sessionId)?.abort(),
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
