import { SpanlineError } from "../../domain/errors.ts";
import type { JsonValue } from "../../data/json.ts";
import { toAgentError } from "../../wire/acp/client/agent-error.ts";
import {
  encodeCancelRequestNotification,
  type AgentRequest,
} from "../../wire/acp/client/agent-requests.ts";
import type { RpcConnection, SentRequest } from "../../wire/jsonrpc/rpc-connection.ts";
import { encodeNotificationLine } from "../../wire/jsonrpc/rpc-line.ts";
import type { RpcResponse } from "../../wire/jsonrpc/rpc-message.ts";
import type { Transport } from "../transports/transport.ts";
import { createTooLargeError, measureLineBytes, type LineLimit } from "./line-limit.ts";

export interface RequestControl {
  /** Aborting sends a cancellation to the agent and rejects the request. */
  readonly signal?: AbortSignal;
  /** With `signal`: sends the cancellation but still waits for the response. Default: false. */
  readonly stillWaits?: boolean;
  /** Called when the response arrives, before any later message is read. Not called if the response is lost. */
  readonly onResponse?: (answer: RpcResponse) => void;
}

export interface PendingRequest {
  readonly settle: (answer: RpcResponse) => void;
  /** Rejects the request, because no response can arrive. */
  readonly fail: (error?: SpanlineError) => void;
}

interface SentLine {
  readonly bytes: number;
  /** The request waiting for its response. */
  readonly request?: PendingRequest;
}

/** The outgoing lines of a connection. */
export interface LineSender {
  /** Lines without a size are not candidates for `largest`. */
  send(line: string, size?: SentLine): void;
  notify(agentRequest: AgentRequest): void;
  /** The largest line sent so far. */
  readonly largest: SentLine;
  readonly isClosed: boolean;
  close(): void;
}

export function createLineSender(transport: Transport): LineSender {
  let largest: SentLine = { bytes: 0 };
  let isClosed = false;

  function send(line: string, size: SentLine = { bytes: 0 }): void {
    if (size.bytes > largest.bytes) largest = size;
    transport.send(line);
  }

  return {
    send,
    notify({ method, params }) {
      const line = encodeNotificationLine(method, params);
      send(line, { bytes: measureLineBytes(line) });
    },
    get largest() {
      return largest;
    },
    get isClosed() {
      return isClosed;
    },
    close() {
      isClosed = true;
    },
  };
}

/** The requests sent to the agent on one connection. */
export interface SentRequests {
  request(agentRequest: AgentRequest, control?: RequestControl): Promise<JsonValue>;
  /**
   * An agent closes the connection after an oversized message. The largest sent line is the likely cause, so the limit
   * is lowered below its size.
   */
  handleTooLarge(): void;
  /** Rejects all open requests, because the connection is lost. */
  failAll(): void;
}

export interface SentRequestsOptions {
  readonly rpc: RpcConnection<PendingRequest>;
  readonly sender: LineSender;
  readonly limit: LineLimit;
}

export function createSentRequests({ rpc, sender, limit }: SentRequestsOptions): SentRequests {
  const waiting = new Set<PendingRequest>();

  function checkSize(
    sentRequest: SentRequest | undefined,
  ): SentRequest & { readonly bytes: number } {
    if (sentRequest === undefined) throw new SpanlineError("throttled", TOO_MANY_REQUESTS);
    const bytes = measureLineBytes(sentRequest.line);
    if (limit.fits(bytes)) return { ...sentRequest, bytes };
    rpc.forget(sentRequest.id);
    throw createTooLargeError(bytes);
  }

  return {
    request: (agentRequest, control = {}) =>
      new Promise((resolve, reject) => {
        const { signal, onResponse, stillWaits = false } = control;
        signal?.throwIfAborted();
        const cleanUp = (): void => {
          waiting.delete(pendingRequest);
          signal?.removeEventListener("abort", cancel);
        };
        const pendingRequest: PendingRequest = {
          settle(outcome) {
            cleanUp();
            onResponse?.(outcome);
            if (outcome.ok) resolve(outcome.result);
            else reject(toAgentError(agentRequest.method, outcome.error));
          },
          fail(error = createLostError(agentRequest.method)) {
            cleanUp();
            reject(error);
          },
        };
        if (sender.isClosed) return pendingRequest.fail();
        const { id, line, bytes } = checkSize(
          rpc.request(agentRequest.method, agentRequest.params, pendingRequest),
        );
        function cancel(): void {
          sender.notify(encodeCancelRequestNotification(id));
          if (stillWaits || rpc.forget(id) === undefined) return;
          cleanUp();
          reject(signal?.reason);
        }
        waiting.add(pendingRequest);
        signal?.addEventListener("abort", cancel, { once: true });
        sender.send(line, { bytes, request: pendingRequest });
      }),
    handleTooLarge() {
      const { bytes, request: pendingRequest } = sender.largest;
      if (!limit.lowerTo(bytes)) return;
      if (pendingRequest !== undefined && waiting.has(pendingRequest))
        pendingRequest.fail(createTooLargeError(bytes));
    },
    failAll() {
      for (const each of waiting) each.fail();
    },
  };
}

/** The agent may have performed the request. */
function createLostError(method: string): SpanlineError {
  const message = `The connection to the agent was lost before the response to ${method}; the agent may have performed it`;
  return new SpanlineError("connection_lost", message, { details: { method } });
}

const TOO_MANY_REQUESTS = "Too many requests are open. Fix: wait for a response";
