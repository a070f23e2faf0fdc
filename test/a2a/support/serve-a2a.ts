import { randomUUID } from "node:crypto";
import { onTestFinished } from "vitest";
import {
  ClientFactory,
  JsonRpcTransportFactory,
  RestTransportFactory,
  type Client,
} from "@a2a-js/sdk/client";
import { createAccess, createTokenKey } from "../../../src/http/access/access.ts";
import { readKeys, type AccessKey } from "../../../src/http/access/access-keys.ts";
import { createRouter } from "../../../src/http/routing/router.ts";
import { startHttpServer } from "../../../src/http/server/start-server.ts";
import { systemClock, type SteadyClock } from "../../../src/platform/clock.ts";
import { defineAgent } from "../../../src/bridge/agent/define-agent.ts";
import { createSessions } from "../../../src/session/runtime/create-sessions.ts";
import type { Sessions } from "../../../src/session/sessions.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import type { A2aOptions } from "../../../src/surfaces/a2a/a2a-context.ts";
import { createA2aSurface } from "../../../src/surfaces/a2a/a2a-surface.ts";
import type { PushOptions } from "../../../src/surfaces/a2a/push/push-context.ts";
import { PushService } from "../../../src/surfaces/a2a/push/push-service.ts";
import {
  createScriptedProvider,
  type ProviderScript,
} from "../../support/session/scripted-provider.ts";

export interface ServeOptions {
  /** Keys of the callers. Default: no keys, and a token with all rights. */
  readonly keys?: readonly AccessKey[];
  readonly settings?: A2aOptions["settings"];
  /** Further options of the scripted provider. */
  readonly provider?: Parameters<typeof createScriptedProvider>[1];
  /** Default: the system's clock. */
  readonly clock?: SteadyClock;
  /** Further options of the agent. */
  readonly agent?: Partial<Parameters<typeof defineAgent>[0]>;
  /** Sends push notifications with these options. Default: the server sends none. */
  readonly push?: Partial<PushOptions>;
}

export interface ServedA2a {
  readonly url: string;
  readonly sessions: Sessions;
  /** Reports of push notifications. All other reports fail the test. */
  readonly pushReports: readonly unknown[];
  /** Ends the deliveries like the end of a process, and continues them like the next process. */
  restartPush(changes?: Partial<PushOptions>): Promise<void>;
  /** Sends a request to the JSON-RPC binding and returns the whole response. */
  rpc(
    method: string,
    params: unknown,
    headers?: { readonly [name: string]: string },
  ): Promise<RpcReply>;
  /** Sends a request to the JSON-RPC binding and returns the response, for streams. */
  open(
    body: object,
    headers?: { readonly [name: string]: string },
    signal?: AbortSignal,
  ): Promise<Response>;
  /** Fetches with the key of the caller. */
  readonly fetch: typeof fetch;
  /** The official client, over a binding. */
  connect(binding: "JSONRPC" | "HTTP+JSON"): Promise<Client>;
}

// Untyped: tests read any field.
// oxlint-disable-next-line typescript/no-explicit-any
export type RpcReply = any;

/** A message of a client with a single text, as JSON. */
export function createMessage(text: string, fields: object = {}): object {
  return { messageId: randomUUID(), role: "ROLE_USER", parts: [{ text }], ...fields };
}

/** The system's clock, whose time is different at every call. */
export function createTickingClock(): SteadyClock {
  let last = 0;
  return {
    ...systemClock,
    now() {
      last = Math.max(last + 1, systemClock.now());
      return last;
    },
  };
}

/** The token of the local user. */
const TOKEN = "local-token-of-the-test";

/** Serves the real surface over real sessions and a scripted agent, until the test ends. */
export async function serveA2a(
  answers: readonly ProviderScript[],
  {
    keys,
    settings = {},
    agent = {},
    clock = systemClock,
    provider: scripting = {},
    push: pushOptions,
  }: ServeOptions = {},
): Promise<ServedA2a> {
  const reports: unknown[] = [];
  const report = (error: unknown): void => void reports.push(error);
  const store = createMemoryStore();
  const provider = createScriptedProvider(answers, { effectFree: true, ...scripting });
  const agents = [
    defineAgent({ name: "scripted", provider, ...agent }),
    defineAgent({ name: "other", provider }),
  ];
  const sessions = createSessions({ store, agents, clock, owner: "test", report });
  const host = "127.0.0.1";
  const access = createAccess({ host, token: TOKEN, ...(keys !== undefined && { keys }) });
  const pushReports: unknown[] = [];
  const callers = [...readKeys(keys ?? []), createTokenKey(TOKEN)].map(({ caller }) => caller);
  const createPush = (changes: Partial<PushOptions>) =>
    new PushService({
      sessions,
      callers,
      clock: systemClock,
      version: "1.2.3",
      allowPrivate: true,
      report: (error) => void pushReports.push(error),
      ...pushOptions,
      ...changes,
    });
  const push = pushOptions && createPush({});
  let ending = new AbortController();
  let pushing = push?.run(ending.signal);
  const restartPush: ServedA2a["restartPush"] = async (changes = {}) => {
    ending.abort();
    await pushing;
    ending = new AbortController();
    pushing = createPush(changes).run(ending.signal);
  };
  const surface = createA2aSurface({
    sessions,
    access,
    settings,
    version: "1.2.3",
    requiresKey: keys !== undefined,
    adoptContexts: keys === undefined,
    streaming: { clock: systemClock },
    report,
    ...(push !== undefined && { push }),
  });
  const server = await startHttpServer({
    host,
    port: 0,
    limits: { bodyBytes: () => 10_000_000, headerBytes: 32 * 1024 },
    onBug: report,
    clock: systemClock,
    ...createRouter([surface], report),
  });
  onTestFinished(async () => {
    ending.abort();
    await server.close();
    await pushing;
    await sessions.close();
    await store.close();
    if (reports.length > 0) throw new AggregateError(reports, "The server has bugs");
  });
  const key = keys?.[0]?.key ?? TOKEN;
  const authorization = `Bearer ${key}`;
  const open: ServedA2a["open"] = (body, headers = {}, signal) =>
    fetch(`${server.url}/a2a`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization, ...headers },
      body: JSON.stringify(body),
      ...(signal !== undefined && { signal }),
    });
  const authorized: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set("authorization", authorization);
    return fetch(input, { ...init, headers });
  };
  return {
    url: server.url,
    sessions,
    pushReports,
    restartPush,
    async rpc(method, params, headers) {
      const response = await open({ jsonrpc: "2.0", id: 1, method, params }, headers);
      return response.json();
    },
    open,
    fetch: authorized,
    connect: (binding) => connectClient(server.url, binding, authorized),
  };
}

function connectClient(url: string, binding: string, fetchImpl: typeof fetch): Promise<Client> {
  const transport =
    binding === "JSONRPC"
      ? new JsonRpcTransportFactory({ fetchImpl })
      : new RestTransportFactory({ fetchImpl });
  return new ClientFactory({
    transports: [transport],
    preferredTransports: [binding],
  }).createFromUrl(url);
}
