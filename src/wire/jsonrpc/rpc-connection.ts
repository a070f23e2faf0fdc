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

/** The longest line that is read: an editor's embedded files fit, a runaway writer does not. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;

export interface RpcConnectionOptions {
  /** Not used by any other connection: an answer that was meant for one never fits a request of another. */
  readonly epoch: string;
  /** Each way: theirs that we have not answered, ours that they have not. */
  readonly maxOpenRequests?: number;
}

/** What a line comes to. `Waiting` is what the caller remembers of a request of its own. */
export type ReceivedMessage<Waiting> =
  | RpcRequest
  | RpcNotification
  | { readonly type: "response"; readonly waiting: Waiting; readonly outcome: RpcResponse }
  /** An answer that nobody waits for, or waits for any more. */
  | { readonly type: "stray"; readonly id: RequestId; readonly outcome: RpcResponse }
  /** Already dealt with: `line` is the answer. */
  | { readonly type: "refused"; readonly line: string };

/**
 * One side of a JSON-RPC connection, without its bytes: lines in, messages out, and who waits for what.
 *
 * Ids of ours are one space for the whole connection and are never used twice, so that a late answer cannot settle a
 * newer request.
 */
export interface RpcConnection<Waiting extends object> {
  read(line: string): ReceivedMessage<Waiting>;
  /** The same for a line that may be a batch: what each of its messages comes to, in their order. */
  readAll(line: string): readonly ReceivedMessage<Waiting>[];
  /** A line that was skipped because it is too long. */
  readSkipped(line: SkippedLine): ReceivedMessage<Waiting>;
  /** Undefined when too many are unanswered: it is not sent. */
  request(method: string, params: unknown, waiting: Waiting): SentRequest | undefined;
  /** Waits for this answer no longer. Gives what waited for it; undefined when nothing did. */
  forget(id: string): Waiting | undefined;
  /** The line that answers a request; undefined when it has been answered. */
  respond(request: RpcRequest, outcome: RpcOutcome): string | undefined;
}

export interface SkippedLine {
  readonly code: ErrorCode;
  readonly reason: string;
  /** The start of the line, as far as it was kept. */
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
  // By identity and not by id: nothing forbids a client to have two requests with one id.
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
