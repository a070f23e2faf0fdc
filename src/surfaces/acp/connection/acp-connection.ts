import type { Principal } from "../../../domain/actor.ts";
import { SpanlineError } from "../../../domain/errors.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Sessions } from "../../../session/sessions.ts";
import type { UpdatesSetting } from "../../../wire/acp/decode/client-profile.ts";
import { decodeNotification } from "../../../wire/acp/decode/decode-notification.ts";
import {
  decodeRequest,
  isBridgeMethod,
  isNotifiableMethod,
} from "../../../wire/acp/decode/decode-request.ts";
import { encodeNotificationFailure } from "../../../wire/acp/encode/host-notifications.ts";
import { encodeError, encodeFailure } from "../../../wire/acp/encode/encode-failure.ts";
import { encodeInitializeResult } from "../../../wire/acp/encode/encode-results.ts";
import { createLineCache, type LineCache } from "../../../wire/acp/encode/line-cache.ts";
import type { JsonLinesItem } from "../../../wire/framing/json-lines.ts";
import {
  createRpcConnection,
  type ReceivedMessage,
  type RpcConnection,
} from "../../../wire/jsonrpc/rpc-connection.ts";
import { encodeNotificationLine } from "../../../wire/jsonrpc/rpc-line.ts";
import { createInvalidRequest, type RpcError } from "../../../wire/jsonrpc/rpc-error.ts";
import type {
  RequestId,
  RpcNotification,
  RpcRequest,
  RpcResponse,
} from "../../../wire/jsonrpc/rpc-message.ts";
import type { SessionRequest, SessionRequests } from "../session/session-requests.ts";
import { createBackpressure } from "./backpressure.ts";
import { GENERATED_NAME_PREFIX, type AcpLog, type ClientLink } from "./client-link.ts";
import {
  createClientRequests,
  readSessionId,
  type ClientRequests,
  type OpenRequest,
} from "./client-requests.ts";
import { createConnectedClient, type ConnectedClient } from "./connected-client.ts";
import { createKeyedQueue, type KeyedQueue } from "./pending-work.ts";
import type { LineWriter } from "./line-writer.ts";

export interface AcpConnectionOptions {
  readonly sessions: Sessions;
  readonly principal: Principal;
  /**
   * Whether the client is this machine's user. Only the local user chooses the folders of a session and the programs
   * started for a session.
   */
  readonly isLocalUser: boolean;
  /** Whether the client runs on this machine, so its files are the files the sessions work with. */
  readonly isSameMachine: boolean;
  /** Whether each update carries a cursor from which the client can resume. */
  readonly hasCursors: boolean;
  /** Unique among all connections. */
  readonly connectionId: string;
  /** The session `session/new` returns in place of a new session: "latest" or an id. Default: a new session. */
  readonly session?: string;
  /**
   * Which updates the client receives. A promise (for example, a configuration still being read) does not delay
   * `initialize`. Default: `auto`.
   */
  readonly updates?: UpdatesSetting | Promise<UpdatesSetting>;
  readonly version: string;
  readonly clock: Clock;
  readonly writer: LineWriter;
  /** Encoded lines shared with other connections. Default: a cache for this connection only. */
  readonly lines?: LineCache;
  /** Counts the client's turns. Absent if turns are not limited. */
  readonly countTurn?: CountTurn;
  readonly log: AcpLog;
  /** Log for harmless irregularities, such as unknown notifications. Default: not logged. */
  readonly detail?: AcpLog;
}

/** The connection of a client: decodes incoming lines and dispatches requests, notifications and responses. */
export interface AcpConnection {
  readonly isInitialized: boolean;
  /** Handles a decoded line, or a line the decoder skipped. */
  receive(item: JsonLinesItem): void;
  /** Whether too many received requests are unfinished, or too much output is unread by the client. */
  readonly isFull: boolean;
  /** Resolves when both are below their limits again. */
  waitForCapacity(): Promise<void>;
  /** Resolves when every received message has been handled. */
  waitForIdle(): Promise<void>;
  /** Disconnects the client. The sessions and their running turns stay. */
  disconnect(reason: string): Promise<void>;
}

/** The parts of a connection that exist before its link to the client. */
interface ConnectionParts {
  readonly options: AcpConnectionOptions;
  readonly rpc: RpcConnection<OpenRequest>;
  readonly queue: KeyedQueue;
  readonly prompts: PromptTable;
  readonly clientRequests: ClientRequests;
  readonly client: ConnectedClient;
  readonly disconnectSignal: AbortSignal;
  /**
   * Loads the session code on first use, after the response to `initialize`, because an editor waits for the response.
   */
  readonly getSessionRequests: () => Promise<SessionRequests>;
}

interface OpenConnection extends ConnectionParts {
  readonly link: ClientLink;
}

export function createAcpConnection(options: AcpConnectionOptions): AcpConnection {
  const { writer } = options;
  const disconnectController = new AbortController();
  let loaded: Promise<SessionRequests> | undefined;

  function getSessionRequests(): Promise<SessionRequests> {
    loaded ??= loadSessionRequests(connection.link, options.session).catch((error: unknown) => {
      // The failed load is not cached: the next request loads again.
      loaded = undefined;
      throw error;
    });
    return loaded;
  }

  const connection = openParts(options, disconnectController.signal, getSessionRequests);
  const { rpc, queue, prompts, client } = connection;
  return {
    get isInitialized() {
      return client.name !== undefined;
    },
    receive(item) {
      if (item.type === "failure") {
        const { error, start } = item;
        const skipped = { code: error.code, reason: error.message, start };
        return dispatch(connection, rpc.readSkipped(skipped));
      }
      for (const message of rpc.readAll(item.text)) dispatch(connection, message);
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
      // Requests in progress check the signal.
      disconnectController.abort();
      prompts.endAll();
      const sessionRequests = await loaded?.catch(() => undefined);
      await sessionRequests?.disconnectAll(reason);
    },
  };
}

/** Characters. Backpressure: the bridge stops reading from a client with more unread output than this. */
const MAX_UNREAD_CHARACTERS = 4 * 1024 * 1024;
const MAX_TASKS = 512;

async function loadSessionRequests(
  link: ClientLink,
  session: string | undefined,
): Promise<SessionRequests> {
  const { createSessionRequests } = await import("../session/session-requests.ts");
  return createSessionRequests(link, session);
}

function openParts(
  options: AcpConnectionOptions,
  disconnectSignal: AbortSignal,
  getSessionRequests: () => Promise<SessionRequests>,
): OpenConnection {
  const { principal, clock, log, writer, updates = "auto" } = options;
  const rpc = createRpcConnection<OpenRequest>({ epoch: options.connectionId });
  const queue = createKeyedQueue((error) => log("a request failed", { error: String(error) }));
  const clientRequests = createClientRequests(rpc, writer);
  const hostRequests = createHostRequests(clientRequests);
  const client = createConnectedClient({
    updates,
    hostLink: { ...hostRequests, clock, log },
    mayControl: principal.rights.includes("control"),
    isLocalUser: options.isLocalUser,
    isSameMachine: options.isSameMachine,
    async onLateLists() {
      if (!disconnectSignal.aborted) await (await getSessionRequests()).bringAgain();
    },
  });
  const parts: ConnectionParts = {
    options,
    rpc,
    queue,
    prompts: createPromptTable(options.countTurn),
    clientRequests,
    client,
    disconnectSignal,
    getSessionRequests,
  };
  return { ...parts, link: createLink(parts, hostRequests) };
}

type HostRequests = Pick<ClientLink, "sendRequest" | "withdrawRequest">;

/**
 * Sends requests to the client's machine. Each request has its own queue key, so their responses do not wait for each
 * other.
 */
function createHostRequests(clientRequests: ClientRequests): HostRequests {
  let count = 0;
  return {
    sendRequest(request, onResponse) {
      count += 1;
      return clientRequests.send(request, { queueKey: `host ${count}`, onResponse });
    },
    withdrawRequest: clientRequests.withdraw,
  };
}

function createLink(parts: ConnectionParts, hostRequests: HostRequests): ClientLink {
  const { options, rpc, queue, prompts, client, clientRequests, disconnectSignal } = parts;
  const { principal, writer, lines = createLineCache() } = options;
  const backpressure = createBackpressure(writer);
  return {
    ...hostRequests,
    ...backpressure,
    sessions: options.sessions,
    sender: { principal, clientId: `${GENERATED_NAME_PREFIX}${options.connectionId}` },
    isLocalUser: options.isLocalUser,
    isSameMachine: options.isSameMachine,
    clock: options.clock,
    disconnectSignal,
    log: options.log,
    hasCursors: options.hasCursors,
    getName: () => client.name ?? "",
    getProfile: () => client.profile,
    getHostTools: client.getHostTools,
    getHostShells: client.getHostShells,
    getHostSkills: client.getHostSkills,
    getSkillsVersion: client.getSkillsVersion,
    sendUpdate: (...args) => writer.write(lines.encodeUpdate(...args), args[0]),
    sendEvent: (...args) => writer.write(lines.encodeEvent(...args), args[0]),
    sendNotification: (sessionId, method, params) =>
      writer.write(encodeNotificationLine(method, params), sessionId),
    respond(request, outcome) {
      prompts.end(request);
      const sessionId = readSessionId(request.params);
      const line = rpc.respond(request, outcome);
      if (line !== undefined) return writer.write(line, sessionId);
      // A notification gets no response, but its sender must learn that it had no effect.
      if (!outcome.ok && isNotifiableMethod(request.method))
        writer.write(encodeNotificationFailure(request, outcome.error), sessionId);
    },
    requestPermission: (sessionId, approval, request) =>
      // A turn waits for the response, so the response must not queue behind the session's other requests.
      clientRequests.enqueue(request, {
        queueKey: approval.approvalId,
        onResponse: async (response) =>
          (await parts.getSessionRequests()).handlePermissionResponse(
            sessionId,
            approval,
            response,
          ),
      }),
    runUnordered: (task) => queue.run(undefined, task),
    dropSession: (sessionId) => writer.dropSession?.(sessionId) ?? false,
  };
}

function dispatch(connection: OpenConnection, message: ReceivedMessage<OpenRequest>): void {
  switch (message.type) {
    case "request":
      return handleRequest(connection, message);
    case "notification":
      return handleNotification(connection, message);
    case "response": {
      const { queueKey, onResponse } = message.waiting;
      connection.clientRequests.flush();
      return connection.queue.run(queueKey, () => onResponse(message.outcome));
    }
    case "stray":
      return handleStray(connection, message.id, message.outcome);
    case "refused":
      return connection.options.writer.write(message.line);
  }
}

function handleRequest(connection: OpenConnection, request: RpcRequest): void {
  const { client, link, prompts, queue, options } = connection;
  const isBridgeRequest = isBridgeMethod(request.method);
  const decoded = decodeRequest(request.method, request.params);
  if (!decoded.ok) return link.respond(request, decoded);
  const { value } = decoded;
  if (value.type === "initialize") {
    link.respond(request, { ok: true, result: encodeInitializeResult(options.version) });
    client.initialize(value.clientName, value.profile);
    return queue.run("", async () => void (await connection.getSessionRequests()));
  }
  if (client.name === undefined) {
    const error = createInvalidRequest("the first request must be initialize");
    return link.respond(request, { ok: false, error });
  }
  if (isBridgeRequest) client.handleBridgeMethod();
  // No work here: the next request looks up the credentials again.
  if (value.type === "authenticate") return link.respond(request, { ok: true, result: {} });
  if (value.type === "prompt") {
    const error = prompts.begin(request, value.sessionId);
    if (error !== undefined) return link.respond(request, { ok: false, error });
  }
  queue.run(resolveQueueKey(value, options), () => performRequest(connection, request, value));
}

/**
 * Requests about the same session run in order. Requests for opening or listing sessions run concurrently, because a
 * setup takes as long as its slowest MCP server. If every `session/new` returns the same fixed session, these requests
 * are ordered too.
 */
function resolveQueueKey(
  request: SessionRequest,
  { session }: Pick<AcpConnectionOptions, "session">,
): string | undefined {
  if ("sessionId" in request) return request.sessionId;
  return session === undefined ? undefined : "";
}

async function performRequest(
  { client, link, getSessionRequests }: OpenConnection,
  request: RpcRequest,
  sessionRequest: SessionRequest,
): Promise<void> {
  let sessionRequests: SessionRequests;
  try {
    await client.ready;
    sessionRequests = await getSessionRequests();
    if (client.takeUndeclared()) await sessionRequests.declareHost(sessionRequest);
  } catch (error) {
    link.respond(request, { ok: false, error: encodeError(error) });
    throw error;
  }
  await sessionRequests.perform(request, sessionRequest);
}

function handleNotification(connection: OpenConnection, { method, params }: RpcNotification): void {
  const { options, client, prompts, queue, getSessionRequests } = connection;
  if (isNotifiableMethod(method))
    return handleRequest(connection, { type: "request", id: null, method, params });
  const notification = decodeNotification(method, params);
  if (notification === undefined)
    return options.detail?.("an unknown notification was ignored", { method });
  if (notification.type === "skills-changed") {
    if (!client.handleChangedSkills())
      return options.detail?.("a notification of changed skills was ignored", { method });
    return queue.run(undefined, async () => (await getSessionRequests()).refreshSkills());
  }
  if (notification.type === "cancel") {
    const { sessionId } = notification;
    return queue.run(sessionId, async () => (await getSessionRequests()).cancel(sessionId));
  }
  // Queued behind the prompt, because the prompt may not have started yet.
  const { requestId } = notification;
  const sessionId = prompts.findSession(requestId);
  if (sessionId === undefined) return;
  queue.run(sessionId, async () => (await getSessionRequests()).cancelPrompt(sessionId, requestId));
}

function handleStray(
  { clientRequests, queue, options }: OpenConnection,
  id: RequestId,
  response: RpcResponse,
): void {
  const onLate = clientRequests.takeLate(id);
  if (onLate === undefined)
    return options.detail?.("a response without an open request was ignored", { id });
  queue.run(`late ${id}`, () => onLate(response));
}

/** Counts a starting turn and returns the function to call at its end. Throws if too many turns run. */
export type CountTurn = () => () => void;

/** The client's prompts without a response. */
interface PromptTable {
  /** Returns an error if the client has too many running turns. */
  begin(request: RpcRequest, sessionId: string): RpcError | undefined;
  findSession(requestId: RequestId): string | undefined;
  end(request: RpcRequest): void;
  endAll(): void;
}

function createPromptTable(countTurn: CountTurn | undefined): PromptTable {
  const sessionIds = new Map<RequestId, string>();
  const ends = new Map<RpcRequest, () => void>();
  return {
    begin(request, sessionId) {
      try {
        if (countTurn !== undefined) ends.set(request, countTurn());
        sessionIds.set(request.id, sessionId);
        return undefined;
      } catch (error) {
        if (error instanceof SpanlineError) return encodeFailure(error.toFailure());
        throw error;
      }
    },
    findSession: (requestId) => sessionIds.get(requestId),
    end(request) {
      sessionIds.delete(request.id);
      ends.get(request)?.();
      ends.delete(request);
    },
    endAll() {
      for (const end of ends.values()) end();
      ends.clear();
    },
  };
}
