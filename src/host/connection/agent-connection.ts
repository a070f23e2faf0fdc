import { formatThrown } from "../../domain/errors.ts";
import type { JsonValue } from "../../data/json.ts";
import type { AgentRequest } from "../../wire/acp/client/agent-requests.ts";
import { decodeNotification } from "../../wire/acp/decode/decode-notification.ts";
import {
  createRpcConnection,
  type ReceivedMessage,
  type RpcConnection,
} from "../../wire/jsonrpc/rpc-connection.ts";
import { createInternalError } from "../../wire/jsonrpc/rpc-error.ts";
import type { RpcNotification, RpcOutcome, RpcRequest } from "../../wire/jsonrpc/rpc-message.ts";
import { encodeResponseLine } from "../../wire/jsonrpc/rpc-line.ts";
import { hasErrorCode } from "./error-code.ts";
import { measureLineBytes, createLineLimit, type LineLimit } from "./line-limit.ts";
import { createOpenRequests, type OpenRequests } from "./open-requests.ts";
import type { Report } from "./host-report.ts";
import {
  createLineSender,
  createSentRequests,
  type LineSender,
  type PendingRequest,
  type RequestControl,
} from "./sent-requests.ts";
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

export function openConnection(transport: Transport, options: ConnectionOptions): Connection {
  const { connectionId, onNotification, report, limit = createLineLimit() } = options;
  const rpc = createRpcConnection<PendingRequest>({ epoch: connectionId });
  const sender = createLineSender(transport);
  const sentRequests = createSentRequests({ rpc, sender, limit });
  const agentRequests = createOpenRequests();
  const respond = createResponder(options, { rpc, sender, limit, agentRequests });

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
        if (!cancelRequest(message, agentRequests)) onNotification(message);
        return;
      case "response":
        return message.waiting.settle(message.outcome);
      case "stray":
        return report("A response without an open request was ignored", { id: message.id });
      case "refused":
        report("A line is not a valid message", { start: text.slice(0, MAX_SHOWN_CHARACTERS) });
        return transport.send(message.line);
    }
  }

  async function read(): Promise<void> {
    try {
      for await (const item of transport.incoming) {
        receive(item);
        await transport.ready();
      }
    } catch (error) {
      report("The connection failed", { error });
      if (hasErrorCode(error, "invalid_message")) sentRequests.handleTooLarge();
    }
    sender.close();
    agentRequests.abortAll();
    transport.close();
    sentRequests.failAll();
  }

  return {
    closed: read(),
    request: (agentRequest, control) => sentRequests.request(agentRequest, control),
    notify: (agentRequest) => sender.notify(agentRequest),
    cancelPermissions: (sessionId) => agentRequests.cancelPermissions(sessionId),
    close: () => transport.close(),
  };
}

/** Cancels the agent's request that the notification names. Returns false for any other notification. */
function cancelRequest({ method, params }: RpcNotification, agentRequests: OpenRequests): boolean {
  const notification = decodeNotification(method, params);
  if (notification?.type !== "cancel-request") return false;
  agentRequests.cancel(notification.requestId);
  return true;
}

interface ResponderParts {
  readonly rpc: RpcConnection<PendingRequest>;
  readonly sender: LineSender;
  readonly limit: LineLimit;
  readonly agentRequests: OpenRequests;
}

/** Responds to the agent's requests. A response larger than the agent accepts is replaced by an error. */
function createResponder(
  { connectionId, answer, report }: ConnectionOptions,
  { rpc, sender, limit, agentRequests }: ResponderParts,
): (request: RpcRequest) => Promise<void> {
  async function computeOutcome(request: RpcRequest, signal: AbortSignal): Promise<RpcOutcome> {
    try {
      return await answer(request, { connectionId, signal });
    } catch (error) {
      report("A request failed", { method: request.method, error });
      return { ok: false, error: createInternalError(formatThrown(error)) };
    }
  }

  return async (request) => {
    const { signal, done } = agentRequests.add(request);
    const outcome = await computeOutcome(request, signal);
    done();
    const line = rpc.respond(request, outcome);
    if (line === undefined || sender.isClosed) return;
    const bytes = measureLineBytes(line);
    if (limit.fits(bytes)) return sender.send(line, { bytes });
    const error = createInternalError(
      `The response has ${bytes} bytes, more than the agent accepts`,
    );
    sender.send(encodeResponseLine(request.id, { ok: false, error }));
  };
}

const MAX_SHOWN_CHARACTERS = 200;
