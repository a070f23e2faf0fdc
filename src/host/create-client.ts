import { systemClock } from "../platform/clock.ts";
import { webRandomFraction, webRandomHex } from "../platform/web-random.ts";
import { readAgentProfile, type AgentProfile } from "../wire/acp/client/agent-profile.ts";
import * as asking from "../wire/acp/client/agent-requests.ts";
import type { ToldUpdate } from "../wire/acp/client/read-update.ts";
import type { RpcNotification } from "../wire/jsonrpc/rpc-message.ts";
import { askAgent } from "./ask-agent.ts";
import type { Client, ClientOptions } from "./client.ts";
import { openConnection, type Connection } from "./connection.ts";
import { createHost } from "./create-host.ts";
import { heldUpdates } from "./held-updates.ts";
import type { KeepAliveRules } from "./keep-alive.ts";
import { knownSessions } from "./known-sessions.ts";
import { keepLink, type Link, type ReconnectRules } from "./link.ts";
import { lineLimit } from "./line-limit.ts";
import { liveCalls } from "./live-calls.ts";
import { openPrompts } from "./open-prompts.ts";
import { noReport, type Report } from "./report.ts";
import { sessionCalls } from "./session-calls.ts";
import { toldUpdates } from "./told-updates.ts";
import type { Connect, Transport } from "./transports/transport.ts";

/** `connect` is called again when the connection is lost; a transport by itself is used once. */
export function createClient(connect: Connect | Transport, options: ClientOptions = {}): Client {
  const { report = noReport } = options;
  const guarded = guard(report);
  const readTold = toldUpdates(report);
  const loading = counted();
  const held = heldUpdates();
  let agent: AgentProfile | undefined;

  const sessions = knownSessions({
    how: options.takeUp ?? "resume",
    canBeginAnew: options.onHistory !== undefined,
    history,
    control: (sessionId, control) => guarded(() => options.onControl?.(sessionId, control)),
    held,
    pass,
    report,
  });

  function history(sessionId: string, state: "begins" | "ends"): void {
    loading.set(sessionId, state === "begins");
    guarded(() => options.onHistory?.(sessionId, state));
  }

  function told(notification: RpcNotification): void {
    const heard = readTold(notification, agent);
    if (heard !== undefined) for (const each of held.keep(heard)) pass(each);
  }

  function pass(heard: ToldUpdate): void {
    const { sessionId, update } = heard;
    const isHistory = loading.has(sessionId);
    sessions.told(heard);
    if (!isHistory) prompts.told(sessionId, update);
    guarded(() => options.onUpdate?.({ sessionId, update, isHistory }));
  }

  const link = linkOf(connect, options, {
    told,
    guarded,
    async greeted(connection, profile, isAgain) {
      agent = profile;
      if (isAgain) await sessions.takeUp(connection, profile);
    },
  });
  const prompts = openPrompts(link);
  const ask = askAgent(link);

  return {
    initialize: async () => (await link.current()).agent,
    async authenticate(methodId) {
      await ask(asking.authenticateRequest(methodId), { repeatable: true });
    },
    ...sessionCalls({ ask, sessions, history }),
    ...liveCalls({ ask, link, sessions }),
    prompt: (sessionId, content) => prompts.begin(sessionId, content),
    async cancel(sessionId) {
      const isEndedLater = prompts.cancel(sessionId);
      const { connection } = await link.current();
      if (isEndedLater) return;
      connection.notify(asking.cancelNotification(sessionId));
      connection.putAway(sessionId);
    },
    async skillsChanged() {
      const { connection } = await link.current();
      connection.notify(asking.skillsUpdateNotification());
    },
    request: (method, params, more) => ask({ method, params }, more),
    close: () => link.close(),
  };
}

interface LinkParts {
  readonly told: (notification: RpcNotification) => void;
  readonly guarded: (call: () => void) => void;
  /** Who the agent is; what there was before is taken up. */
  readonly greeted: (
    connection: Connection,
    agent: AgentProfile,
    isAgain: boolean,
  ) => Promise<void>;
}

function linkOf(
  connect: Connect | Transport,
  options: ClientOptions,
  { told, guarded, greeted }: LinkParts,
): Link {
  const { info = INFO, report = noReport, clock = systemClock } = options;
  const host = options.host ?? createHost({ report });
  const isOnce = typeof connect !== "function";
  const limit = lineLimit();
  return keepLink({
    connect: isOnce ? () => connect : connect,
    open: (transport) =>
      openConnection(transport, {
        connectionId: webRandomHex(8),
        answer: (request, context) => host.answer(request, context),
        told,
        report,
        limit,
      }),
    async greet(connection, isAgain) {
      const callOff = clock.after(GREETING_MS, () => connection.close());
      const request = asking.initializeRequest(info, host.capabilities);
      const agent = readAgentProfile(await connection.request(request).finally(callOff));
      await greeted(connection, agent, isAgain);
      return agent;
    },
    rules: { ...RECONNECT, ...options.reconnect, ...(isOnce && { attempts: 0 }) },
    keepAlive: { ...KEEP_ALIVE, ...options.keepAlive },
    clock,
    random: options.random ?? webRandomFraction,
    onState: (state) => guarded(() => options.onState?.(state)),
  });
}

/** What a caller's own code throws is not the connection's to suffer. */
function guard(report: Report): (call: () => void) => void {
  return (call) => {
    try {
      call();
    } catch (error) {
      report("A callback threw", { error });
    }
  };
}

/** Sessions for which something is under way, however often at once. */
function counted() {
  const counts = new Map<string, number>();
  return {
    has: (sessionId: string): boolean => counts.has(sessionId),
    set(sessionId: string, isMore: boolean): void {
      const count = (counts.get(sessionId) ?? 0) + (isMore ? 1 : -1);
      if (count > 0) counts.set(sessionId, count);
      else counts.delete(sessionId);
    },
  };
}

const INFO = { name: "spanline-host", title: "Spanline host", version: "0" };
/** Milliseconds for the answer to `initialize`. */
const GREETING_MS = 30_000;
const RECONNECT: ReconnectRules = { first: 250, longest: 15_000, attempts: 12 };
const KEEP_ALIVE: KeepAliveRules = { everyMs: 15_000, withinMs: 10_000 };
