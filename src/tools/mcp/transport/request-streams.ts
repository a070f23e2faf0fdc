import type { JSONRPCMessage, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Timer } from "../../../async/invocation-guard.ts";

/**
 * Works around the SDK's handling of response streams. Over HTTP each request has its own response, which may be a
 * stream. The SDK client waits forever if the stream ends before the response, and leaves the stream open if the
 * request is cancelled or if the server does not end the stream after the response. Here the first case produces an
 * error, and in the other cases the stream is ended.
 */
export function watchRequestStreams(transport: StreamableHTTPClientTransport, clock: Timer): void {
  const streams = new Map<unknown, RequestStream>();
  const send = transport.send.bind(transport);
  Object.assign(transport, {
    onmessage(message: JSONRPCMessage) {
      if (!("method" in message)) streams.get(message.id)?.markAnswered();
    },
  });
  transport.send = async (message, options) => {
    if (Array.isArray(message) || !("method" in message)) return send(message, options);
    if (!("id" in message)) {
      await send(message, options);
      if (message.method === CANCELLED) streams.get(message.params?.["requestId"])?.end();
      return;
    }
    const { id } = message;
    const stream = createRequestStream(clock, () => streams.delete(id));
    streams.set(id, stream);
    const onRequestStreamEnd = (): void => {
      if (!stream.end()) return;
      const error = { code: STREAM_ENDED, message: "The connection ended before the response" };
      transport.onmessage?.({ jsonrpc: "2.0", id, error });
    };
    try {
      const requestSignal = AbortSignal.any([stream.signal, ...listSignals(options)]);
      await send(message, { ...options, requestSignal, onRequestStreamEnd });
    } catch (error) {
      stream.end();
      throw error;
    }
    // A response which is not a stream is complete at this point.
    stream.endIfAnswered();
  };
}

/** In the JSON-RPC range for implementation-defined errors, and without a meaning in MCP. */
export const STREAM_ENDED = -32_099;

const CANCELLED = "notifications/cancelled";

function listSignals(options: { requestSignal?: AbortSignal | undefined } = {}): AbortSignal[] {
  return options.requestSignal === undefined ? [] : [options.requestSignal];
}

interface RequestStream {
  readonly signal: AbortSignal;
  /** Ignores the rest of the stream, and lets it end by itself for 5 s, so that its connection can be reused. */
  markAnswered(): void;
  endIfAnswered(): void;
  /** Returns true if no response had arrived. */
  end(): boolean;
}

function createRequestStream(clock: Timer, onEnd: () => void): RequestStream {
  const controller = new AbortController();
  let state: "open" | "answered" | "over" = "open";
  let cancelTimer = (): void => undefined;
  const end = (): boolean => {
    const wasOpen = state === "open";
    if (state === "over") return false;
    state = "over";
    cancelTimer();
    onEnd();
    controller.abort();
    return wasOpen;
  };
  return {
    signal: controller.signal,
    markAnswered() {
      if (state !== "open") return;
      state = "answered";
      cancelTimer = clock.schedule(LINGER_MS, end);
    },
    endIfAnswered() {
      if (state === "answered") end();
    },
    end,
  };
}

const LINGER_MS = 5000;
