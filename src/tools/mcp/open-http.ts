import type {
  SSEClientTransport,
  StreamableHTTPClientTransport,
  StreamableHTTPReconnectionOptions,
} from "@modelcontextprotocol/client";
import { orLate } from "../../async/pause.ts";
import type { SpanlineError } from "../../domain/errors.ts";
import type { Scrub } from "../../domain/scrubber.ts";
import { boundedFetch, type BoundedFetch } from "../../platform/bounded-fetch.ts";
import type { SteadyClock } from "../../platform/clock.ts";
import { failureOf } from "./failure-of.ts";
import { MCP_LIMITS } from "./limits.ts";
import type { HttpServerSettings } from "./mcp-server-settings.ts";
import { messagePace } from "./message-pace.ts";
import { ending, type OpenedTransport } from "./opened-transport.ts";
import { watchRequestStreams } from "./request-streams.ts";
import type { Sdk } from "./sdk.ts";
import { serverFailure } from "./server-failure.ts";

export interface HttpWork {
  readonly sdk: Sdk;
  readonly clock: SteadyClock;
  readonly scrub: Scrub;
}

/** A way to a server over Streamable HTTP. Nothing is sent before the client uses it. */
export function openStreamable(settings: HttpServerSettings, work: HttpWork): OpenedTransport {
  const { sdk, clock } = work;
  const end = ending();
  const transport = new sdk.StreamableHTTPClientTransport(new URL(settings.url), {
    ...fetching(settings, clock),
    reconnectionOptions: RECONNECTION,
    reconnectionScheduler(reconnect, delay, attempt) {
      // The first try comes after the stream broke off, the second after that try failed too.
      if (attempt === 0) return clock.after(Math.max(delay, RECONNECT_MS), reconnect);
      return fail(serverFailure(settings.name, "unreachable", "does not answer any more"));
    },
  });
  watchRequestStreams(transport, clock);
  const fail = failing(transport, end);
  return {
    transport,
    get failure() {
      return end.failure;
    },
    over: end.over,
    fail,
    lastWords: () => "",
    async close() {
      // Asked for politely; a server that has no sessions, or is gone, says no.
      const polite = end.failure === undefined ? transport.terminateSession() : Promise.resolve();
      await orLate(
        clock,
        GOODBYE_MS,
        polite.catch(() => undefined),
      );
      fail(closed(settings));
      await transport.close();
    },
  };
}

/** The same over the older HTTP with SSE, where the stream is the connection. */
export function openSse(settings: HttpServerSettings, work: HttpWork): OpenedTransport {
  const { sdk, clock } = work;
  const end = ending();
  const transport = new sdk.SSEClientTransport(new URL(settings.url), fetching(settings, clock));
  const fail = failing(transport, end);
  Object.assign(transport, {
    onerror(error: Error) {
      // It would open another stream by itself, on which the server does not know us.
      if (error instanceof sdk.SseError) fail(failureOf(error, settings, work));
    },
  });
  return {
    transport,
    get failure() {
      return end.failure;
    },
    over: end.over,
    fail,
    lastWords: () => "",
    async close() {
      fail(closed(settings));
      await transport.close();
    },
  };
}

const RECONNECTION: StreamableHTTPReconnectionOptions = {
  initialReconnectionDelay: 1000,
  maxReconnectionDelay: 1000,
  reconnectionDelayGrowFactor: 1,
  // The second is where the scheduler gives up.
  maxRetries: 2,
};

/** A server may ask to be tried again at once, for ever. */
const RECONNECT_MS = 1000;

function fetching(
  { headers = {} }: HttpServerSettings,
  clock: SteadyClock,
): { readonly requestInit: RequestInit; readonly fetch: BoundedFetch } {
  const bounds = { maxBytes: MCP_LIMITS.messageBytes, pace: messagePace(clock) };
  return { requestInit: { headers }, fetch: boundedFetch(bounds) };
}

function failing(
  transport: StreamableHTTPClientTransport | SSEClientTransport,
  end: ReturnType<typeof ending>,
): (failure: SpanlineError) => void {
  return (failure) => {
    if (end.end(failure)) transport.close().catch(() => undefined);
  };
}

function closed({ name }: HttpServerSettings): SpanlineError {
  return serverFailure(name, "closed", "was closed");
}

const GOODBYE_MS = 1000;
