import type { Principal } from "../../../domain/actor.ts";
import { NO_HOST_TOOLS, type HostToolList } from "../../../domain/client-tools.ts";
import { isObject } from "../../../data/json.ts";
import type { ShellList } from "../../../domain/tools/shell.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Sessions } from "../../../session/sessions.ts";
import { encodeError } from "../../../wire/acp/encode/encode-failure.ts";
import {
  encodeInitializeResult,
  encodeWithdrawalLine,
} from "../../../wire/acp/encode/encode-results.ts";
import {
  STOCK_CLIENT,
  applyUpdatesSetting,
  type UpdatesSetting,
} from "../../../wire/acp/decode/client-profile.ts";
import { decodeNotification } from "../../../wire/acp/decode/decode-notification.ts";
import { decodeRequest, isBridgeMethod } from "../../../wire/acp/decode/decode-request.ts";
import { createLineCache, type LineCache } from "../../../wire/acp/encode/line-cache.ts";
import type { JsonLinesItem } from "../../../wire/framing/json-lines.ts";
import { createRpcConnection, type ReceivedMessage } from "../../../wire/jsonrpc/rpc-connection.ts";
import { createInvalidRequest } from "../../../wire/jsonrpc/rpc-error.ts";
import type {
  RequestId,
  RpcResponse,
  RpcNotification,
  RpcRequest,
} from "../../../wire/jsonrpc/rpc-message.ts";
import { GENERATED_NAME_PREFIX, type AcpLog, type ClientLink } from "./client-link.ts";
import { createBackpressure } from "./backpressure.ts";
import { createTurnCounter, type CountTurn } from "./turn-counter.ts";
import { createKeyedQueue } from "./keyed-queue.ts";
import { createRequestBacklog } from "./request-backlog.ts";
import { createLateResponses } from "./late-responses.ts";
import type { LineWriter } from "./line-writer.ts";
import type { SessionRequest, SessionRequests } from "../session/session-requests.ts";

export interface AcpConnectionOptions {
  readonly sessions: Sessions;
  readonly principal: Principal;
  /** Whether that is this machine's user, who says where sessions work and what is started for them. */
  readonly isLocalUser: boolean;
  /** Whether the client is a program of this machine, so that its files are those that sessions work with. */
  readonly isSameMachine: boolean;
  /** Whether the client is told with each update where it can go on from. */
  readonly hasCursors: boolean;
  /** Names this connection among all others. */
  readonly connectionId: string;
  /** What `session/new` gives instead of a new session: the newest one, or the one with this id. */
  readonly session?: string;
  /** What the client is sent. A promise, such as of a configuration that is being read, does not delay `initialize`. Default: `auto`. */
  readonly updates?: UpdatesSetting | Promise<UpdatesSetting>;
  readonly version: string;
  readonly clock: Clock;
  readonly writer: LineWriter;
  /** Shared with other connections, where there are any. */
  readonly lines?: LineCache;
  /** Where turns are limited. */
  readonly countTurn?: CountTurn;
  readonly log: AcpLog;
  /** Notes about what is nobody's fault. */
  readonly detail?: AcpLog;
}

/** One client's connection: what comes in by the line, and who deals with it. */
export interface AcpConnection {
  readonly isInitialized: boolean;
  receive(item: JsonLinesItem): void;
  /** Whether what has come in is too far ahead of what was done about it, or of what the client has read. */
  readonly isFull: boolean;
  /** Resolves when it is not. */
  waitForCapacity(): Promise<void>;
  /** Resolves when everything that came in is dealt with. */
  waitForIdle(): Promise<void>;
  /** The client goes; its sessions stay. */
  disconnect(reason: string): Promise<void>;
}

/** Something that the client was asked, and what is done with its answer. */
interface PendingRequest {
  /** What it is about, as far as it says: it is taken back where it was asked. */
  readonly sessionId: string | undefined;
  /** Not that of the session's other requests: the turn waits for it. */
  readonly queueKey: string;
  readonly handleResponse: (answer: RpcResponse) => Promise<void>;
}

export function createAcpConnection(options: AcpConnectionOptions): AcpConnection {
  const { sessions, principal, connectionId, version, writer, clock, log, detail } = options;
  const { lines = createLineCache(), updates = "auto", countTurn = () => () => {} } = options;
  const turns = createTurnCounter(countTurn);
  const rpc = createRpcConnection<PendingRequest>({ epoch: connectionId });
  const queue = createKeyedQueue((error) => log("a request went wrong", { error: String(error) }));
  /** The sessions of prompts that have no answer yet. */
  const prompts = new Map<RequestId, string>();
  let clientName: string | undefined;
  let setting: UpdatesSetting = typeof updates === "string" ? updates : "auto";
  let declared = STOCK_CLIENT;
  let callsBridge = false;
  let profile = STOCK_CLIENT;
  /** Resolves when the setting is known. */
  let ready: Promise<void> = Promise.resolve();
  /** Whether sessions that the client joined before it called a method of the bridge have it as a stock client. */
  let isUndeclared = false;
  let tools: Promise<HostToolList> = Promise.resolve(NO_HOST_TOOLS);
  let shells: Promise<ShellList | undefined> = Promise.resolve(undefined);
  let hostRequestCount = 0;
  let unorderedCount = 0;
  const disconnectController = new AbortController();
  const lateResponses = createLateResponses();
  const backpressure = createBackpressure(writer);
  const permissionBacklog = createRequestBacklog();

  function sendRequest(
    { method, params }: { readonly method: string; readonly params: unknown },
    question: Omit<PendingRequest, "sessionId">,
  ): string | undefined {
    const sessionId = readSessionId(params);
    const sentRequest = rpc.request(method, params, { ...question, sessionId });
    if (sentRequest !== undefined) writer.write(sentRequest.line, sessionId);
    return sentRequest?.id;
  }

  const link: ClientLink = {
    sessions,
    sender: { principal, clientId: `${GENERATED_NAME_PREFIX}${connectionId}` },
    isLocalUser: options.isLocalUser,
    isSameMachine: options.isSameMachine,
    clock,
    disconnectSignal: disconnectController.signal,
    log,
    getName: () => clientName ?? "",
    getProfile: () => profile,
    hasCursors: options.hasCursors,
    sendUpdate: (...args) => writer.write(lines.encodeUpdate(...args), args[0]),
    sendEvent: (...args) => writer.write(lines.encodeEvent(...args), args[0]),
    respond(request, outcome) {
      prompts.delete(request.id);
      turns.end(request);
      const line = rpc.respond(request, outcome);
      if (line !== undefined) writer.write(line, readSessionId(request.params));
    },
    requestPermission: (sessionId, { approval, request: requestInput }) =>
      permissionBacklog.add(() =>
        sendRequest(requestInput, {
          queueKey: approval.approvalId,
          handleResponse: async (answer) =>
            (await requests()).handlePermissionResponse(sessionId, approval, answer),
        }),
      ),
    withdrawPermission(key) {
      const requestId = permissionBacklog.remove(key);
      if (requestId !== undefined) link.withdrawRequest(requestId);
    },
    sendRequest(requestInput, handleResponse) {
      hostRequestCount += 1;
      return sendRequest(requestInput, { queueKey: `host ${hostRequestCount}`, handleResponse });
    },
    getHostTools: () => tools,
    getHostShells: () => shells,
    runUnordered: (task) => queue.run(createUniqueKey(), task),
    withdrawRequest(questionId, handleResponse) {
      const question = rpc.forget(questionId);
      if (question === undefined) return;
      writer.write(encodeWithdrawalLine(questionId), question.sessionId);
      if (handleResponse !== undefined) lateResponses.expect(questionId, handleResponse);
      permissionBacklog.flush();
    },
    hasCapacity: (sessionId) => backpressure.hasCapacity(sessionId),
    waitForCapacity: (sessionId) => backpressure.waitForCapacity(sessionId),
    dropSession: (sessionId) => writer.dropSession?.(sessionId) ?? false,
  };
  let loaded: Promise<SessionRequests> | undefined;
  /** An editor waits for the answer to `initialize`: what its sessions need is loaded behind that. */
  function requests(): Promise<SessionRequests> {
    loaded ??= loadSessionRequests(link, options.session).catch((error: unknown) => {
      // The next request tries again.
      loaded = undefined;
      throw error;
    });
    return loaded;
  }

  async function perform(rpcRequest: RpcRequest, requestInput: SessionRequest): Promise<void> {
    let sessionRequests: SessionRequests;
    try {
      await ready;
      sessionRequests = await requests();
      if (isUndeclared) {
        isUndeclared = false;
        await sessionRequests.declareHost(requestInput);
      }
    } catch (error) {
      link.respond(rpcRequest, { ok: false, error: encodeError(error) });
      throw error;
    }
    await sessionRequests.perform(rpcRequest, requestInput);
  }

  function reportUnavailable<Value>(nothing: Value): Value {
    log("what a host has cannot be asked for");
    return nothing;
  }

  function changeProfile(): void {
    profile = applyUpdatesSetting(declared, setting, callsBridge);
  }

  async function applySetting(pending: Promise<UpdatesSetting>): Promise<void> {
    setting = await pending;
    changeProfile();
    requestLists();
  }

  const mayBring = principal.rights.includes("control");

  /** Shells are those of this machine; whether a client that came by a server runs here, only the setting says. */
  function hasShellsHere(): boolean {
    const isHere = options.isSameMachine || (options.isLocalUser && setting === "bridge");
    return profile.hasShells && isHere;
  }

  /** Asks the host for its lists. The set-up of a session waits for them. */
  function requestLists(): void {
    if (!mayBring) return;
    if (profile.hasTools) tools = loadHostTools(link).catch(() => reportUnavailable(NO_HOST_TOOLS));
    if (hasShellsHere()) shells = loadHostShells(link).catch(() => reportUnavailable(undefined));
  }

  /** The same for a host that turned out to be one: its sessions get the lists when they are there, and nothing waits. */
  async function requestListsLater(): Promise<void> {
    const [list, found] = await Promise.all([
      loadHostTools(link),
      hasShellsHere() ? loadHostShells(link) : undefined,
    ]);
    tools = Promise.resolve(list);
    shells = Promise.resolve(found);
    if (!disconnectController.signal.aborted) await (await requests()).bringAgain();
  }

  function bridgeCalled(): void {
    callsBridge = true;
    changeProfile();
    isUndeclared = !declared.usesBridge;
    if (declared.usesBridge || setting !== "auto" || !mayBring) return;
    requestListsLater().catch((error: unknown) =>
      log("the lists of a host cannot be used", { error: String(error) }),
    );
  }

  /**
   * What is about one session is done in its order. What makes a session, or lists some, waits for nobody: a set-up may take
   * as long as its slowest server; but where all are given the same session, that has its order.
   */
  function resolveQueueKey(requestInput: SessionRequest): string {
    if ("sessionId" in requestInput) return requestInput.sessionId;
    return options.session === undefined ? createUniqueKey() : "";
  }

  function createUniqueKey(): string {
    unorderedCount += 1;
    return `alone ${unorderedCount}`;
  }

  function request(rpcRequest: RpcRequest): void {
    const { method, params } = rpcRequest;
    const requestInput = decodeRequest(method, params);
    if (!requestInput.ok) return link.respond(rpcRequest, requestInput);
    if (requestInput.value.type === "initialize") {
      const isFirst = clientName === undefined;
      ({ clientName } = requestInput.value);
      declared = requestInput.value.profile;
      changeProfile();
      link.respond(rpcRequest, { ok: true, result: encodeInitializeResult(version) });
      // Beside whatever the client does next.
      if (isFirst && typeof updates === "string") requestLists();
      else if (isFirst && typeof updates !== "string") ready = applySetting(updates);
      return queue.run("", async () => void (await requests()));
    }
    if (clientName === undefined) {
      const error = createInvalidRequest("the first request is initialize");
      return link.respond(rpcRequest, { ok: false, error });
    }
    if (!callsBridge && isBridgeMethod(method)) bridgeCalled();
    const { value } = requestInput;
    // There is nothing to be done: the next request looks for credentials again.
    if (value.type === "authenticate") return link.respond(rpcRequest, { ok: true, result: {} });
    const queueKey = resolveQueueKey(value);
    if (value.type === "prompt") {
      const error = turns.begin(rpcRequest);
      if (error !== undefined) return link.respond(rpcRequest, { ok: false, error });
      prompts.set(rpcRequest.id, queueKey);
    }
    queue.run(queueKey, () => perform(rpcRequest, value));
  }

  function handleNotification({ method, params }: RpcNotification): void {
    const requestInput = decodeNotification(method, params);
    if (requestInput === undefined) return detail?.("a notification was passed over", { method });
    if (requestInput.type === "cancel")
      return queue.run(requestInput.sessionId, async () =>
        (await requests()).cancel(requestInput.sessionId),
      );
    // Behind the prompt itself, which may not have begun yet.
    const sessionId = prompts.get(requestInput.requestId);
    if (sessionId === undefined) return;
    queue.run(sessionId, async () =>
      (await requests()).cancelPrompt(sessionId, requestInput.requestId),
    );
  }

  function handleStray(id: RequestId, answer: RpcResponse): void {
    const handleResponse = lateResponses.take(id);
    if (handleResponse === undefined) return detail?.("an answer that nobody waits for", { id });
    queue.run(`late ${id}`, () => handleResponse(answer));
  }

  function dispatch(message: ReceivedMessage<PendingRequest>): void {
    switch (message.type) {
      case "request":
        return request(message);
      case "notification":
        return handleNotification(message);
      case "response":
        permissionBacklog.flush();
        return queue.run(message.waiting.queueKey, () =>
          message.waiting.handleResponse(message.outcome),
        );
      case "stray":
        return handleStray(message.id, message.outcome);
      case "refused":
        return writer.write(message.line);
    }
  }

  return {
    get isInitialized() {
      return clientName !== undefined;
    },
    receive(item) {
      if (item.type === "failure") {
        const { error, start } = item;
        return dispatch(rpc.readSkipped({ code: error.code, reason: error.message, start }));
      }
      for (const message of rpc.readAll(item.text)) dispatch(message);
    },
    get isFull() {
      return queue.size > MAX_TASKS || writer.queuedCharacters > MAX_UNREAD_CHARACTERS;
    },
    async waitForCapacity() {
      await queue.waitUntilBelow(MAX_TASKS);
      await writer.waitUntilBelow(MAX_UNREAD_CHARACTERS);
    },
    waitForIdle: () => queue.waitUntilBelow(0),
    async disconnect(reason) {
      // Some of what it asked may still be under way, and see it only then.
      disconnectController.abort();
      turns.endAll();
      const sessionRequests = await loaded?.catch(() => undefined);
      await sessionRequests?.disconnectAll(reason);
    },
  };
}

async function loadSessionRequests(
  link: ClientLink,
  session: string | undefined,
): Promise<SessionRequests> {
  const { createSessionRequests } = await import("../session/session-requests.ts");
  return createSessionRequests(link, session);
}

async function loadHostTools(link: ClientLink): Promise<HostToolList> {
  const { requestHostTools } = await import("../host/request-host-lists.ts");
  return requestHostTools(link);
}

async function loadHostShells(link: ClientLink): Promise<ShellList | undefined> {
  const { requestHostShells } = await import("../host/request-host-lists.ts");
  return requestHostShells(link);
}

/** The session that a message is about, as far as it says. */
function readSessionId(params: unknown): string | undefined {
  const sessionId = isObject(params) ? params["sessionId"] : undefined;
  return typeof sessionId === "string" ? sessionId : undefined;
}

/** Characters. Answers to a client that asks and does not read: then it is not heard either. */
const MAX_UNREAD_CHARACTERS = 4 * 1024 * 1024;
const MAX_TASKS = 512;
