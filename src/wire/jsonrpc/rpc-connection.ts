import type { ErrorCode } from "../../domain/errors.ts";
import {
  readMessage,
  readMessages,
  readSkippedMessage,
  encodeRequestLine,
  encodeResponseLine,
} from "./rpc-line.ts";
import { createInternalError, createInvalidRequest, type RpcError } from "./rpc-error.ts";
import type {
  RequestId,
  RpcResponse,
  RpcMessage,
  RpcNotification,
  RpcOutcome,
  RpcRequest,
} from "./rpc-message.ts";

/** Bytes of the longest accepted line. Fits files embedded by an editor and stops a runaway writer. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;

export interface RpcConnectionOptions {
  /**
   * Unique per connection and part of every request id, so a response to an earlier connection never matches a request
   * of this connection.
   */
  readonly epoch: string;
  /** Limit per direction: received requests without a response, and sent requests without a response. Default: 256. */
  readonly maxOpenRequests?: number;
}

/** The meaning of a received line. `Waiting` is the caller's record of a sent request. */
export type ReceivedMessage<Waiting> =
  | RpcRequest
  | RpcNotification
  | { readonly type: "response"; readonly waiting: Waiting; readonly outcome: RpcResponse }
  /** A response without a waiting request: already answered, or no longer awaited. */
  | { readonly type: "stray"; readonly id: RequestId; readonly outcome: RpcResponse }
  /** An invalid or refused message. `line` is the error response to send. */
  | { readonly type: "refused"; readonly line: string };

/**
 * One side of a JSON-RPC connection without I/O: lines in, messages out, and the requests waiting for a response.
 *
 * Ids of sent requests are unique for the whole connection, so a late response cannot settle a newer request.
 */
export interface RpcConnection<Waiting extends object> {
  read(line: string): ReceivedMessage<Waiting>;
  /** Reads a line which may be a batch. Returns one entry per message, in order. */
  readAll(line: string): readonly ReceivedMessage<Waiting>[];
  /** Handles a line which the framing skipped because of its size. */
  readSkipped(line: SkippedLine): ReceivedMessage<Waiting>;
  /** Creates a request. Undefined if too many requests are unanswered; the request must then not be sent. */
  request(method: string, params: unknown, waiting: Waiting): SentRequest | undefined;
  /** Stops waiting for a response and returns the caller's record. Undefined if no request with this id is waiting. */
  forget(id: string): Waiting | undefined;
  /** Returns the response line for a request. Undefined if the request was answered before. */
  respond(request: RpcRequest, outcome: RpcOutcome): string | undefined;
}

export interface SkippedLine {
  readonly code: ErrorCode;
  readonly reason: string;
  /** The first characters of the line, as kept by the framing. */
  readonly start: string;
}

export interface SentRequest {
  readonly id: string;
  readonly line: string;
}

export function createRpcConnection<Waiting extends object>({
  epoch,
  maxOpenRequests = 256,
}: RpcConnectionOptions): RpcConnection<Waiting> {
  const sentRequests = new Map<string, Waiting>();
  // By identity and not by id: a client may have two open requests with the same id.
  const receivedRequests = new Set<RpcRequest>();
  let requestCount = 0;

  function readResponse(id: RequestId, outcome: RpcResponse): ReceivedMessage<Waiting> {
    const waiting = typeof id === "string" ? sentRequests.get(id) : undefined;
    if (typeof id !== "string" || waiting === undefined) return { type: "stray", id, outcome };
    sentRequests.delete(id);
    return { type: "response", waiting, outcome };
  }

  function readRequest(request: RpcRequest): ReceivedMessage<Waiting> {
    if (receivedRequests.size >= maxOpenRequests) {
      const data = { code: "throttled" satisfies ErrorCode };
      const error = createInternalError(`More than ${maxOpenRequests} requests are open`, data);
      return refuseMessage(request.id, error);
    }
    receivedRequests.add(request);
    return request;
  }

  function handleMessage(message: RpcMessage): ReceivedMessage<Waiting> {
    switch (message.type) {
      case "request":
        return readRequest(message);
      case "notification":
        return message;
      case "response":
        return readResponse(message.id, message.outcome);
      case "invalid":
        return refuseMessage(message.id, message.error);
    }
  }

  return {
    read: (line) => handleMessage(readMessage(line)),
    readAll: (line) => readMessages(line).map(handleMessage),
    readSkipped: ({ code, reason, start }) =>
      handleMessage(readSkippedMessage(start, createInvalidRequest(reason, code))),
    request(method, params, waiting) {
      if (sentRequests.size >= maxOpenRequests) return undefined;
      requestCount += 1;
      const id = `${epoch}-${requestCount}`;
      sentRequests.set(id, waiting);
      return { id, line: encodeRequestLine(id, method, params) };
    },
    forget(id) {
      const waiting = sentRequests.get(id);
      sentRequests.delete(id);
      return waiting;
    },
    respond: (request, outcome) =>
      receivedRequests.delete(request) ? encodeResponseLine(request.id, outcome) : undefined,
  };
}

function refuseMessage(id: RequestId, error: RpcError): ReceivedMessage<never> {
  return { type: "refused", line: encodeResponseLine(id, { ok: false, error }) };
}
