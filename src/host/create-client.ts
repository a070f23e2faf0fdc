import { SpanlineError } from "../domain/errors.ts";
import type { JsonValue } from "../domain/json.ts";
import type { LiveClients } from "../domain/live-client.ts";
import { systemClock } from "../platform/clock.ts";
import { webRandomFraction, webRandomHex } from "../platform/web-random.ts";
import { readAgentProfile, type AgentProfile } from "../wire/acp/client/agent-profile.ts";
import * as asking from "../wire/acp/client/agent-requests.ts";
import {
  readClientList,
  readLiveClients,
  readOpened,
  readSessionPage,
  type OpenedSession,
} from "../wire/acp/client/agent-results.ts";
import type { Reading } from "../wire/acp/host/reading.ts";
import type { RpcNotification } from "../wire/jsonrpc/rpc-message.ts";
import type { Client, ClientOptions, RequestOptions } from "./client.ts";
import { openConnection, type Connection } from "./connection.ts";
import { createHost } from "./create-host.ts";
import { isCode, knownSessions } from "./known-sessions.ts";
import { keepLink, type ReconnectRules } from "./link.ts";
import { openPrompts } from "./open-prompts.ts";
import { noReport } from "./report.ts";
import { toldUpdates } from "./told-updates.ts";
import type { Connect, Transport } from "./transports/transport.ts";

/** `connect` is called again when the connection is lost; a transport by itself is used once. */
export function createClient(connect: Connect | Transport, options: ClientOptions = {}): Client {
  const { info = INFO, report = noReport, clock = systemClock } = options;
  const host = options.host ?? createHost({ report });
  const isOnce = typeof connect !== "function";
  const readTold = toldUpdates(report);
  /** Sessions that are being told from their beginning. */
  const loading = new Map<string, number>();
  let agent: AgentProfile | undefined;

  const sessions = knownSessions({
    how: options.takeUp ?? "resume",
    history(sessionId, state) {
      setLoading(sessionId, state === "begins");
      guarded(() => options.onHistory?.(sessionId, state));
    },
    report,
  });

  /** What a caller's own code throws is not the connection's to suffer. */
  function guarded(call: () => void): void {
    try {
      call();
    } catch (error) {
      report("A callback threw", { error });
    }
  }

  function setLoading(sessionId: string, isLoading: boolean): void {
    const count = (loading.get(sessionId) ?? 0) + (isLoading ? 1 : -1);
    if (count > 0) loading.set(sessionId, count);
    else loading.delete(sessionId);
  }

  function told(notification: RpcNotification): void {
    const heard = readTold(notification, agent);
    if (heard === undefined) return;
    const { sessionId, update, cursor } = heard;
    const isHistory = loading.has(sessionId);
    sessions.told(sessionId, update, cursor);
    if (!isHistory) prompts.told(sessionId, update);
    guarded(() => options.onUpdate?.({ sessionId, update, isHistory }));
  }

  async function greet(connection: Connection, isAgain: boolean): Promise<AgentProfile> {
    const callOff = clock.after(GREETING_MS, () => connection.close());
    const request = asking.initializeRequest(info, host.capabilities);
    const profile = readAgentProfile(await connection.request(request).finally(callOff));
    agent = profile;
    if (isAgain) await sessions.takeUp(connection, profile);
    return profile;
  }

  const link = keepLink({
    connect: isOnce ? () => connect : connect,
    open: (transport) =>
      openConnection(transport, {
        connectionId: webRandomHex(8),
        answer: (request, context) => host.answer(request, context),
        told,
        report,
      }),
    greet,
    rules: { ...RECONNECT, ...options.reconnect, ...(isOnce && { attempts: 0 }) },
    clock,
    random: options.random ?? webRandomFraction,
    onState: (state) => guarded(() => options.onState?.(state)),
  });
  const prompts = openPrompts(link);

  async function request(
    asked: asking.AgentRequest,
    { signal, repeatable = false }: RequestOptions = {},
  ): Promise<JsonValue> {
    for (;;) {
      const { connection } = await link.current(signal);
      try {
        return await connection.request(asked, signal === undefined ? {} : { signal });
      } catch (error) {
        if (!repeatable || !isCode(error, "connection_lost")) throw error;
      }
    }
  }

  async function take(
    how: "load" | "resume" | "fork",
    sessionId: string,
    place: asking.SessionPlace,
  ): Promise<OpenedSession> {
    const isLoad = how === "load";
    if (isLoad) setLoading(sessionId, true);
    try {
      const repeatable = how !== "fork";
      const result = await request(asking.takeUpRequest(how, sessionId, place), { repeatable });
      const opened = wanted(
        `session/${how}`,
        readOpened(result, repeatable ? sessionId : undefined),
      );
      sessions.open(opened.sessionId, place);
      return opened;
    } finally {
      if (isLoad) setLoading(sessionId, false);
    }
  }

  /** One that is not there any more is what was wanted. */
  async function end(how: "close" | "delete", sessionId: string): Promise<void> {
    sessions.forget(sessionId);
    try {
      await request(asking.sessionRequest(how, sessionId), { repeatable: true });
    } catch (error) {
      if (!isCode(error, "not_found")) throw error;
    }
  }

  async function live(sessionId: string, asked: asking.AgentRequest): Promise<LiveClients> {
    const repeatable = asked.method !== "session/detach";
    const clients = wanted(asked.method, readLiveClients(await request(asked, { repeatable })));
    sessions.live(sessionId, clients);
    return clients;
  }

  function attachmentOf(sessionId: string): asking.Attachment {
    const attachment = sessions.attachmentOf(sessionId);
    if (attachment !== undefined) return attachment;
    throw new SpanlineError("invalid_option", "This client is not attached; call attach first");
  }

  return {
    initialize: async () => (await link.current()).agent,
    async authenticate(methodId) {
      await request(asking.authenticateRequest(methodId), { repeatable: true });
    },
    async newSession(place) {
      const result = await request(asking.newSessionRequest(place));
      const opened = wanted("session/new", readOpened(result));
      sessions.open(opened.sessionId, place);
      return opened;
    },
    loadSession: (sessionId, place) => take("load", sessionId, place),
    resumeSession: (sessionId, place) => take("resume", sessionId, place),
    forkSession: (sessionId, place) => take("fork", sessionId, place),
    async listSessions(listed = {}) {
      const result = await request(asking.listRequest(listed), { repeatable: true });
      return wanted("session/list", readSessionPage(result));
    },
    closeSession: (sessionId) => end("close", sessionId),
    deleteSession: (sessionId) => end("delete", sessionId),
    prompt: (sessionId, content) => prompts.begin(sessionId, content),
    async cancel(sessionId) {
      const { connection } = await link.current();
      connection.notify(asking.cancelNotification(sessionId));
      connection.putAway(sessionId);
    },
    async setMode(sessionId, modeId) {
      await request(asking.modeRequest(sessionId, modeId), { repeatable: true });
    },
    async setOption(sessionId, option, value) {
      const asked = asking.optionRequest(sessionId, { option, value });
      const result = await request(asked, { repeatable: true });
      return wanted("session/set_config_option", readOpened(result, sessionId)).options;
    },
    async attach(sessionId, attachment) {
      const clients = await live(sessionId, asking.attachRequest(sessionId, attachment));
      sessions.attached(sessionId, attachment);
      return clients;
    },
    async takeOver(sessionId) {
      return live(sessionId, asking.takeoverRequest(sessionId, attachmentOf(sessionId)));
    },
    async heartbeat(sessionId, metadata) {
      const { clientId } = attachmentOf(sessionId);
      const own = metadata === undefined ? { clientId } : { clientId, metadata };
      return live(sessionId, asking.heartbeatRequest(sessionId, own));
    },
    async detach(sessionId, reason) {
      const { clientId } = attachmentOf(sessionId);
      sessions.detached(sessionId);
      const why = reason === undefined ? { clientId } : { clientId, reason };
      return live(sessionId, asking.detachRequest(sessionId, why));
    },
    async liveClients(sessionId) {
      const asked = asking.liveClientsRequest(sessionId);
      return wanted(asked.method, readClientList(await request(asked, { repeatable: true })));
    },
    async skillsChanged() {
      const { connection } = await link.current();
      connection.notify(asking.skillsUpdateNotification());
    },
    request: (method, params, more) => request({ method, params }, more),
    close: () => link.close(),
  };
}

function wanted<Value>(method: string, reading: Reading<Value>): Value {
  if (reading.ok) return reading.value;
  throw new SpanlineError(
    "unexpected_answer",
    `The agent's answer to ${method} cannot be read: ${reading.problem}`,
    { details: { operation: method } },
  );
}

const INFO = { name: "spanline-host", title: "Spanline host", version: "0" };
/** Milliseconds for the answer to `initialize`. */
const GREETING_MS = 30_000;
const RECONNECT: ReconnectRules = { first: 250, longest: 15_000, attempts: 12 };
