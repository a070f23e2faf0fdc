import { SpanlineError, formatThrown } from "../../domain/errors.ts";
import type { JsonValue } from "../../data/json.ts";
import { toAgentError } from "../../wire/acp/client/agent-error.ts";
import {
  encodeCancelRequestNotification,
  type AgentRequest,
} from "../../wire/acp/client/agent-requests.ts";
import { decodeNotification } from "../../wire/acp/decode/decode-notification.ts";
import {
  createRpcConnection,
  type ReceivedMessage,
  type SentRequest,
} from "../../wire/jsonrpc/rpc-connection.ts";
import { createInternalError } from "../../wire/jsonrpc/rpc-error.ts";
import type {
  RpcResponse,
  RpcNotification,
  RpcOutcome,
  RpcRequest,
} from "../../wire/jsonrpc/rpc-message.ts";
import { encodeNotificationLine, encodeResponseLine } from "../../wire/jsonrpc/rpc-line.ts";
import { hasErrorCode } from "./error-code.ts";
import {
  measureLineBytes,
  createLineLimit,
  createTooLargeError,
  type LineLimit,
} from "./line-limit.ts";
import { createOpenRequests } from "./open-requests.ts";
import type { Report } from "./host-report.ts";
import type { Incoming, Transport } from "../transports/transport.ts";

/** A single connection to an agent, from its opening until its loss. */
export interface Connection {
  /**
   * Resolves with the agent's result. Rejects with the agent's error, or with `connection_lost` if no response can
   * arrive.
   */
  request(agentRequest: AgentRequest, control?: RequestControl): Promise<JsonValue>;
  notify(agentRequest: AgentRequest): void;
  /** Cancels the agent's open permission requests of a session, because its turn is cancelled. */
  cancelPermissions(sessionId: string): void;
  /** Resolves when the connection is lost or closed. */
  readonly closed: Promise<void>;
  close(): void;
}

export interface RequestControl {
  /** Aborting sends a cancellation to the agent and rejects the request. */
  readonly signal?: AbortSignal;
  /** With `signal`: sends the cancellation but still waits for the response. Default: false. */
  readonly stillWaits?: boolean;
  /** Called when the response arrives, before any later message is read. Not called if the response is lost. */
  readonly onResponse?: (answer: RpcResponse) => void;
}

export interface ConnectionOptions {
  /** Unique among all connections. */
  readonly connectionId: string;
  readonly answer: (request: RpcRequest, context: RequestContext) => Promise<RpcOutcome>;
  readonly onNotification: (notification: RpcNotification) => void;
  readonly report: Report;
  /** The size limit of lines, shared with earlier connections to the same agent. */
  readonly limit?: LineLimit;
}

/** Context of a request from the agent. */
export interface RequestContext {
  readonly connectionId: string;
  /**
   * Aborts when the response is no longer needed. The abort reason is `TURN_CANCELLED` after a cancelled turn and
   * `CONNECTION_GONE` after a lost connection.
   */
  readonly signal: AbortSignal;
}

interface PendingRequest {
  readonly settle: (answer: RpcResponse) => void;
  /** Rejects the request, because no response can arrive. */
  readonly fail: (error?: SpanlineError) => void;
}

export function openConnection(transport: Transport, options: ConnectionOptions): Connection {
  const { connectionId, answer, onNotification, report, limit = createLineLimit() } = options;
  const rpc = createRpcConnection<PendingRequest>({ epoch: connectionId });
  const waiting = new Set<PendingRequest>();
  const agentRequests = createOpenRequests();
  /** The largest line sent so far, and the request waiting for its response. */
  let largest: { readonly bytes: number; readonly request?: PendingRequest } = { bytes: 0 };
  let isClosed = false;

  async function respond(request: RpcRequest): Promise<void> {
    const { signal, done } = agentRequests.add(request);
    const outcome = await computeOutcome(request, signal);
    done();
    const line = rpc.respond(request, outcome);
    if (line === undefined || isClosed) return;
    const bytes = measureLineBytes(line);
    if (limit.fits(bytes)) return sendLine(line, { bytes });
    const error = createInternalError(
      `The response has ${bytes} bytes, more than the agent accepts`,
    );
    transport.send(encodeResponseLine(request.id, { ok: false, error }));
  }

  function sendLine(line: string, size: typeof largest): void {
    if (size.bytes > largest.bytes) largest = size;
    transport.send(line);
  }

  async function computeOutcome(request: RpcRequest, signal: AbortSignal): Promise<RpcOutcome> {
    try {
      return await answer(request, { connectionId, signal });
    } catch (error) {
      report("A request failed", { method: request.method, error });
      return { ok: false, error: createInternalError(formatThrown(error)) };
    }
  }

  function handleNotification(notification: RpcNotification): void {
    const agentRequest = decodeNotification(notification.method, notification.params);
    if (agentRequest?.type === "cancel-request")
      return agentRequests.cancel(agentRequest.requestId);
    onNotification(notification);
  }

  function receive(item: Incoming): void {
    if (item.type === "passed-over") {
      report("A message was skipped", { reason: item.reason });
      const { reason, start = "" } = item;
      const code = start === "" ? "invalid_message" : "line_too_large";
      return dispatch(rpc.readSkipped({ code, reason, start }), start);
    }
    dispatch(rpc.read(item.text), item.text);
  }

  function dispatch(message: ReceivedMessage<PendingRequest>, text: string): void {
    switch (message.type) {
      case "request":
        return void respond(message);
      case "notification":
        return handleNotification(message);
      case "response":
        return message.waiting.settle(message.outcome);
      case "stray":
        return report("A response without an open request was ignored", { id: message.id });
      case "refused":
        report("A line is not a valid message", { start: text.slice(0, MAX_SHOWN_CHARACTERS) });
        return transport.send(message.line);
    }
  }

  function send({ method, params }: AgentRequest): void {
    const line = encodeNotificationLine(method, params);
    sendLine(line, { bytes: measureLineBytes(line) });
  }

  function checkSize(
    sentRequest: SentRequest | undefined,
  ): SentRequest & { readonly bytes: number } {
    if (sentRequest === undefined) throw new SpanlineError("throttled", TOO_MANY_REQUESTS);
    const bytes = measureLineBytes(sentRequest.line);
    if (limit.fits(bytes)) return { ...sentRequest, bytes };
    rpc.forget(sentRequest.id);
    throw createTooLargeError(bytes);
  }

  /**
   * An agent closes the connection after an oversized message. The largest sent line is the likely cause, so the limit
   * is lowered below its size.
   */
  function handleBroken(error: unknown): void {
    report("The connection failed", { error });
    const { bytes, request: pendingRequest } = largest;
    if (!hasErrorCode(error, "invalid_message") || !limit.lowerTo(bytes)) return;
    if (pendingRequest !== undefined && waiting.has(pendingRequest))
      pendingRequest.fail(createTooLargeError(bytes));
  }

  async function read(): Promise<void> {
    try {
      for await (const item of transport.incoming) {
        receive(item);
        await transport.ready();
      }
    } catch (error) {
      handleBroken(error);
    }
    isClosed = true;
    agentRequests.abortAll();
    transport.close();
    for (const each of waiting) each.fail();
  }

  return {
    closed: read(),
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
        if (isClosed) return pendingRequest.fail();
        const { id, line, bytes } = checkSize(
          rpc.request(agentRequest.method, agentRequest.params, pendingRequest),
        );
        function cancel(): void {
          send(encodeCancelRequestNotification(id));
          if (stillWaits || rpc.forget(id) === undefined) return;
          cleanUp();
          reject(signal?.reason);
        }
        waiting.add(pendingRequest);
        signal?.addEventListener("abort", cancel, { once: true });
        sendLine(line, { bytes, request: pendingRequest });
      }),
    notify: send,
    cancelPermissions: (sessionId) => agentRequests.cancelPermissions(sessionId),
    close: () => transport.close(),
  };
}

/** The agent may have performed the request. */
function createLostError(method: string): SpanlineError {
  const message = `The connection to the agent was lost before the response to ${method}; the agent may have performed it`;
  return new SpanlineError("connection_lost", message, { details: { method } });
}

const TOO_MANY_REQUESTS = "Too many requests are open. Fix: wait for a response";
const MAX_SHOWN_CHARACTERS = 200;
