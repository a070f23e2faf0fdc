import { isObject } from "../../../data/json.ts";
import { encodeWithdrawalLine } from "../../../wire/acp/encode/encode-results.ts";
import type { RpcConnection } from "../../../wire/jsonrpc/rpc-connection.ts";
import type { RequestId, RpcResponse } from "../../../wire/jsonrpc/rpc-message.ts";
import type { LineWriter } from "./line-writer.ts";

/** The open requests of the bridge to one client. */
export interface ClientRequests {
  /** Sends a request. Returns its key, or undefined if the client has too many open requests. */
  send(request: ClientBoundRequest, handler: ResponseHandler): string | undefined;
  /** Sends a request now, or as soon as the client has few enough open requests, in order. Returns its key. */
  enqueue(request: ClientBoundRequest, handler: ResponseHandler): string;
  /** Withdraws a request, or removes one that was answered. A response that comes all the same goes to `onLate`. */
  readonly withdraw: (key: string, onLate?: HandleResponse) => void;
  /** Sends queued requests, as many as the client takes. */
  flush(): void;
  /** The handler of a response to a withdrawn request. */
  takeLate(id: RequestId): HandleResponse | undefined;
}

interface ClientBoundRequest {
  readonly method: string;
  readonly params: unknown;
}

export type HandleResponse = (response: RpcResponse) => Promise<void>;

export interface ResponseHandler {
  /** Responses with the same key are handled in order. */
  readonly queueKey: string;
  readonly onResponse: HandleResponse;
}

/** An open request, as the JSON-RPC connection stores it. */
export interface OpenRequest extends ResponseHandler {
  /** The session of the request: its withdrawal is sent on the same stream. */
  readonly sessionId: string | undefined;
}

export function createClientRequests(
  rpc: Pick<RpcConnection<OpenRequest>, "request" | "forget">,
  writer: Pick<LineWriter, "write">,
): ClientRequests {
  const queued = new Map<string, () => string | undefined>();
  /** The JSON-RPC ids of requests that were queued, by their keys. */
  const sentIds = new Map<string, string>();
  const lateHandlers = new Map<RequestId, HandleResponse>();
  let queuedCount = 0;

  function send(
    { method, params }: ClientBoundRequest,
    handler: ResponseHandler,
  ): string | undefined {
    const sessionId = readSessionId(params);
    const sent = rpc.request(method, params, { ...handler, sessionId });
    if (sent !== undefined) writer.write(sent.line, sessionId);
    return sent?.id;
  }

  function flush(): void {
    for (const [key, sendQueued] of queued) {
      const id = sendQueued();
      if (id === undefined) return;
      queued.delete(key);
      sentIds.set(key, id);
    }
  }

  return {
    send,
    enqueue(request, handler) {
      queuedCount += 1;
      const key = `queued ${queuedCount}`;
      queued.set(key, () => send(request, handler));
      flush();
      return key;
    },
    withdraw(key, onLate) {
      queued.delete(key);
      const id = sentIds.get(key) ?? key;
      sentIds.delete(key);
      const request = rpc.forget(id);
      if (request === undefined) return;
      writer.write(encodeWithdrawalLine(id), request.sessionId);
      if (onLate !== undefined) storeLateHandler(lateHandlers, id, onLate);
      flush();
    },
    flush,
    takeLate(id) {
      const handler = lateHandlers.get(id);
      lateHandlers.delete(id);
      return handler;
    },
  };
}

function storeLateHandler(
  handlers: Map<RequestId, HandleResponse>,
  id: string,
  handler: HandleResponse,
): void {
  handlers.set(id, handler);
  const [oldest = ""] = handlers.keys();
  if (handlers.size > MAX_LATE_HANDLERS) handlers.delete(oldest);
}

/** A client that never responds does not use these handlers either. */
const MAX_LATE_HANDLERS = 1000;

/** The session that a message is about, if it names one. */
export function readSessionId(params: unknown): string | undefined {
  const sessionId = isObject(params) ? params["sessionId"] : undefined;
  return typeof sessionId === "string" ? sessionId : undefined;
}
