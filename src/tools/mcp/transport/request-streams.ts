import type { JSONRPCMessage, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Timer } from "../../../async/invocation-guard.ts";

/**
 * Over HTTP every request has an answer of its own, which may be a stream. The client of the SDK waits for ever when such
 * a stream ends before the answer came, and leaves it open when the request is cancelled or when the server does not end
 * it after the answer. Here the first is answered with an error, and the others are ended.
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
      const error = { code: STREAM_ENDED, message: "The connection ended before the answer" };
      transport.onmessage?.({ jsonrpc: "2.0", id, error });
    };
    try {
      const requestSignal = AbortSignal.any([stream.signal, ...listSignals(options)]);
      await send(message, { ...options, requestSignal, onRequestStreamEnd });
    } catch (error) {
      stream.end();
      throw error;
    }
    // An answer that is no stream is there as a whole by now.
    stream.endIfAnswered();
  };
}

/** In the range that JSON-RPC leaves to those who implement it; none that MCP gives a meaning to. */
export const STREAM_ENDED = -32_099;

const CANCELLED = "notifications/cancelled";

function listSignals(options: { requestSignal?: AbortSignal | undefined } = {}): AbortSignal[] {
  return options.requestSignal === undefined ? [] : [options.requestSignal];
}

interface RequestStream {
  readonly signal: AbortSignal;
  /** The rest of the stream is nobody's; it has a while to end by itself, so that its connection can be used again. */
  markAnswered(): void;
  endIfAnswered(): void;
  /** Whether the answer was missing. */
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
