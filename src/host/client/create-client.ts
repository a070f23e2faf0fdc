import { systemClock } from "../../platform/clock.ts";
import { randomWebFraction, randomWebHex } from "../../platform/web-random.ts";
import { readAgentProfile, type AgentProfile } from "../../wire/acp/client/agent-profile.ts";
import * as asking from "../../wire/acp/client/agent-requests.ts";
import {
  type ReceivedUpdate,
  readAgentEvent,
  readUpdate,
} from "../../wire/acp/client/read-update.ts";
import { readIdleWait } from "../../wire/acp/client/steering-results.ts";
import type { ReadResult } from "../../wire/acp/host/read-result.ts";
import type { RpcNotification } from "../../wire/jsonrpc/rpc-message.ts";
import { openConnection, type Connection } from "../connection/agent-connection.ts";
import { ignoreReport, type Report } from "../connection/host-report.ts";
import type { KeepAliveRules } from "../connection/keep-alive.ts";
import { createLineLimit } from "../connection/line-limit.ts";
import {
  createReconnectingConnection,
  type ReconnectingConnection,
  type ReconnectRules,
} from "../connection/reconnecting-connection.ts";
import { createHost } from "../methods/create-host.ts";
import type { Connect, Transport } from "../transports/transport.ts";
import type { Client, ClientOptions } from "./client.ts";
import { createLiveClientMethods } from "./live-client-methods.ts";
import { createOpenPrompts, type OpenPrompts } from "./open-prompts.ts";
import { createRequestAgent, type RequestAgent } from "./request-agent.ts";
import { createSessionMethods } from "./client-session-methods.ts";
import { createSteeringMethods } from "./steering-methods.ts";
import { createWorkerMethods } from "./worker-methods.ts";
import { createTrackedSessions } from "./tracked-sessions.ts";

/** Creates a client. `connect` is called again after each lost connection; a single transport is used once. */
export function createClient(connect: Connect | Transport, options: ClientOptions = {}): Client {
  const { report = ignoreReport } = options;
  const runGuarded = createGuard(report);
  const readUpdate = createUpdateReader(report);
  const loading = createSessionCounter();
  let agent: AgentProfile | undefined;

  const sessions = createTrackedSessions({
    mode: options.reconnectMode ?? "resume",
    canReload: options.onHistory !== undefined,
    onHistory: history,
    onControl: (sessionId, control) => runGuarded(() => options.onControl?.(sessionId, control)),
    report,
  });

  function history(sessionId: string, state: "begins" | "ends"): void {
    loading.set(sessionId, state === "begins");
    runGuarded(() => options.onHistory?.(sessionId, state));
  }

  function handleNotification(notification: RpcNotification): void {
    const idle =
      notification.method === IDLE_METHOD ? readIdleWait(notification.params) : undefined;
    if (idle?.ok === true) return runGuarded(() => options.onIdle?.(idle.value));
    const received = readUpdate(notification, agent);
    if (received !== undefined) deliver(received);
  }

  function deliver(received: ReceivedUpdate): void {
    const { sessionId, update } = received;
    const isHistory = loading.has(sessionId);
    sessions.applyUpdate(received);
    if (!isHistory) prompts.handleUpdate(sessionId, update);
    runGuarded(() => options.onUpdate?.({ sessionId, update, isHistory }));
  }

  const link = createLink(connect, options, {
    onNotification: handleNotification,
    runGuarded,
    async onInitialized(connection, profile, isReconnect) {
      agent = profile;
      if (isReconnect) await sessions.resumeAll(connection, profile);
    },
  });
  const prompts = createOpenPrompts(link);
  const requestAgent = createRequestAgent(link);

  return {
    ...createConnectionMethods({ link, requestAgent, prompts }),
    ...createSessionMethods({ requestAgent, sessions, onHistory: history }),
    ...createLiveClientMethods({ requestAgent, link, sessions }),
    ...createSteeringMethods(requestAgent, link),
    ...createWorkerMethods(requestAgent, link),
  };
}

interface ConnectionMethodsOptions {
  readonly link: ReconnectingConnection;
  readonly requestAgent: RequestAgent;
  readonly prompts: OpenPrompts;
}

/** The methods for the connection itself, its prompts and their cancellation. */
function createConnectionMethods({ link, requestAgent, prompts }: ConnectionMethodsOptions) {
  return {
    initialize: async () => (await link.getConnection()).agent,
    async authenticate(methodId) {
      await requestAgent(asking.encodeAuthenticateRequest(methodId), { repeatable: true });
    },
    prompt: (sessionId, content, settings) => prompts.submit(sessionId, content, settings),
    async cancel(sessionId) {
      const endsOnSend = prompts.cancel(sessionId);
      const { connection } = await link.getConnection();
      if (endsOnSend) return;
      connection.notify(asking.encodeCancelNotification(sessionId));
      connection.cancelPermissions(sessionId);
    },
    async skillsChanged() {
      const { connection } = await link.getConnection();
      connection.notify(asking.encodeSkillsUpdateNotification());
    },
    request: (method, params, requestOptions) => requestAgent({ method, params }, requestOptions),
    close: () => link.close(),
  } satisfies Partial<Client>;
}

interface LinkCallbacks {
  readonly onNotification: (notification: RpcNotification) => void;
  readonly runGuarded: (call: () => void) => void;
  /** Called with the agent's profile. Resumes the sessions after a reconnect. */
  readonly onInitialized: (
    connection: Connection,
    agent: AgentProfile,
    isAgain: boolean,
  ) => Promise<void>;
}

function createLink(
  connect: Connect | Transport,
  options: ClientOptions,
  { onNotification, runGuarded, onInitialized }: LinkCallbacks,
): ReconnectingConnection {
  const { info = DEFAULT_CLIENT_INFO, report = ignoreReport, clock = systemClock } = options;
  const host = options.host ?? createHost({ report });
  const isSingleUse = typeof connect !== "function";
  const limit = createLineLimit();
  return createReconnectingConnection({
    connect: isSingleUse ? () => connect : connect,
    open: (transport) =>
      openConnection(transport, {
        connectionId: randomWebHex(8),
        answer: (request, context) => host.answer(request, context),
        onNotification,
        report,
        limit,
      }),
    async initialize(connection, isReconnect) {
      const callOff = clock.schedule(INITIALIZE_TIMEOUT_MS, () => connection.close());
      const request = asking.encodeInitializeRequest(info, host.capabilities);
      const agent = readAgentProfile(await connection.request(request).finally(callOff));
      await onInitialized(connection, agent, isReconnect);
      return agent;
    },
    rules: { ...DEFAULT_RECONNECT, ...options.reconnect, ...(isSingleUse && { attempts: 0 }) },
    keepAlive: { ...DEFAULT_KEEP_ALIVE, ...options.keepAlive },
    clock,
    random: options.random ?? randomWebFraction,
    onState: (state) => runGuarded(() => options.onState?.(state)),
  });
}

const IDLE_METHOD = "agent/idle";

/** Exceptions in the caller's callbacks are reported and do not affect the connection. */
function createGuard(report: Report): (call: () => void) => void {
  return (call) => {
    try {
      call();
    } catch (error) {
      report("A callback threw", { error });
    }
  };
}

/** Counts nested operations per session. */
function createSessionCounter() {
  const counts = new Map<string, number>();
  return {
    has: (sessionId: string): boolean => counts.has(sessionId),
    set(sessionId: string, isBeginning: boolean): void {
      const count = (counts.get(sessionId) ?? 0) + (isBeginning ? 1 : -1);
      if (count > 0) counts.set(sessionId, count);
      else counts.delete(sessionId);
    },
  };
}

const DEFAULT_CLIENT_INFO = { name: "spanline-host", title: "Spanline host", version: "0" };
/** Milliseconds until the response to `initialize` must arrive. */
const INITIALIZE_TIMEOUT_MS = 30_000;
const DEFAULT_RECONNECT: ReconnectRules = { first: 250, longest: 15_000, attempts: 12 };
const DEFAULT_KEEP_ALIVE: KeepAliveRules = { intervalMs: 15_000, timeoutMs: 10_000 };

/** Reads the agent's notifications. Unknown notifications are ignored and reported once. */
function createUpdateReader(report: Report) {
  const reportedProblems = new Set<string>();

  function reportOnce(method: string, problem: string): void {
    const key = `${method} ${problem}`;
    if (reportedProblems.has(key) || reportedProblems.size >= MAX_REPORTED) return;
    reportedProblems.add(key);
    report("A notification of the agent was ignored", { method, problem });
  }

  /** The agent declares the names of its extensions at `initialize`. */
  return (
    { method, params }: RpcNotification,
    agent: AgentProfile | undefined,
  ): ReceivedUpdate | undefined => {
    const extensions = agent?.extensions ?? [];
    let reading: ReadResult<ReceivedUpdate> = { ok: false, problem: "the method is unknown" };
    if (method === "session/update") reading = readUpdate(params, extensions);
    if (method === IDLE_METHOD) reading = { ok: false, problem: "its params are not valid" };
    if (method === "_harn/agentEvent") reading = readAgentEvent(params, extensions);
    if (reading.ok) return reading.value;
    reportOnce(method, reading.problem);
    return undefined;
  };
}

const MAX_REPORTED = 1000;
