import type {
  SSEClientTransport,
  StreamableHTTPClientTransport,
  StreamableHTTPReconnectionOptions,
} from "@modelcontextprotocol/client";
import { waitWithTimeout } from "../../../async/pause.ts";
import type { SpanlineError } from "../../../domain/errors.ts";
import type { RedactSecrets } from "../../../data/secret-redactor.ts";
import { createBoundedFetch, type BoundedFetch } from "../../../platform/bounded-fetch.ts";
import type { SteadyClock } from "../../../platform/clock.ts";
import { toServerFailure } from "../connection/sdk-failure.ts";
import { MCP_LIMITS } from "../mcp-limits.ts";
import type { HttpServerSettings } from "../mcp-server-settings.ts";
import { createMessagePace } from "./message-pace.ts";
import { createEnding, type McpTransport } from "./mcp-transport.ts";
import { watchRequestStreams } from "./request-streams.ts";
import type { Sdk } from "../mcp-sdk.ts";
import { createServerFailure } from "../connection/server-failure.ts";

export interface HttpTransportContext {
  readonly sdk: Sdk;
  readonly clock: SteadyClock;
  readonly scrub: RedactSecrets;
}

/** A transport over Streamable HTTP. Sends nothing until the client connects. */
export function openStreamableHttp(
  settings: HttpServerSettings,
  context: HttpTransportContext,
): McpTransport {
  const { sdk, clock } = context;
  const end = createEnding();
  const transport = new sdk.StreamableHTTPClientTransport(new URL(settings.url), {
    ...createFetchOptions(settings, clock),
    reconnectionOptions: RECONNECTION,
    reconnectionScheduler(reconnect, delay, attempt) {
      // Attempt 0 follows the loss of the stream; attempt 1 means that the reconnect failed too.
      if (attempt === 0) return clock.schedule(Math.max(delay, MIN_RECONNECT_MS), reconnect);
      return fail(createServerFailure(settings.name, "unreachable", "no longer responds"));
    },
  });
  watchRequestStreams(transport, clock);
  const fail = createFail(transport, end);
  return {
    transport,
    get failure() {
      return end.failure;
    },
    ended: end.ended,
    fail,
    readStderrTail: () => "",
    async close() {
      // Best effort: a server without sessions, or an unreachable server, refuses.
      const goodbye = end.failure === undefined ? transport.terminateSession() : Promise.resolve();
      await waitWithTimeout(
        clock,
        GOODBYE_TIMEOUT_MS,
        goodbye.catch(() => undefined),
      );
      fail(createClosedFailure(settings));
      await transport.close();
    },
  };
}

/** A transport over the older HTTP with SSE, where the stream is the connection. */
export function openSse(settings: HttpServerSettings, context: HttpTransportContext): McpTransport {
  const { sdk, clock } = context;
  const end = createEnding();
  const transport = new sdk.SSEClientTransport(
    new URL(settings.url),
    createFetchOptions(settings, clock),
  );
  const fail = createFail(transport, end);
  Object.assign(transport, {
    onerror(error: Error) {
      // The SDK would reopen the stream, but the server would not recognize the session.
      if (error instanceof sdk.SseError) fail(toServerFailure(error, settings, context));
    },
  });
  return {
    transport,
    get failure() {
      return end.failure;
    },
    ended: end.ended,
    fail,
    readStderrTail: () => "",
    async close() {
      fail(createClosedFailure(settings));
      await transport.close();
    },
  };
}

const RECONNECTION: StreamableHTTPReconnectionOptions = {
  initialReconnectionDelay: 1000,
  maxReconnectionDelay: 1000,
  reconnectionDelayGrowFactor: 1,
  // The scheduler gives up at the second retry.
  maxRetries: 2,
};

/** A server may request immediate retries without end. */
const MIN_RECONNECT_MS = 1000;

function createFetchOptions(
  { headers = {} }: HttpServerSettings,
  clock: SteadyClock,
): { readonly requestInit: RequestInit; readonly fetch: BoundedFetch } {
  const bounds = { maxBytes: MCP_LIMITS.messageBytes, pace: createMessagePace(clock) };
  return { requestInit: { headers }, fetch: createBoundedFetch(bounds) };
}

function createFail(
  transport: StreamableHTTPClientTransport | SSEClientTransport,
  end: ReturnType<typeof createEnding>,
): (failure: SpanlineError) => void {
  return (failure) => {
    if (end.end(failure)) transport.close().catch(() => undefined);
  };
}

function createClosedFailure({ name }: HttpServerSettings): SpanlineError {
  return createServerFailure(name, "closed", "was closed");
}

const GOODBYE_TIMEOUT_MS = 1000;
