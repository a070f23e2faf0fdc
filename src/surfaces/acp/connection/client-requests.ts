import { isObject } from "../../../data/json.ts";
import { encodeWithdrawalLine } from "../../../wire/acp/encode/encode-results.ts";
import type { RpcConnection } from "../../../wire/jsonrpc/rpc-connection.ts";
import type { RequestId, RpcResponse } from "../../../wire/jsonrpc/rpc-message.ts";
import type { LineWriter } from "./line-writer.ts";

/** The open requests from the bridge to a client, limited in number. */
export interface ClientRequests {
  /** Sends a request. Returns its key, or undefined if the client has too many open requests. */
  send(request: ClientBoundRequest, handler: ResponseHandler): string | undefined;
  /** Sends a request now, or queues it in order until the client has few enough open requests. Returns its key. */
  enqueue(request: ClientBoundRequest, handler: ResponseHandler): string;
  /** Withdraws an open request, or removes an answered request. A late response goes to `onLate`. */
  readonly withdraw: (key: string, onLate?: HandleResponse) => void;
  /** Sends queued requests until the client's limit is reached. */
  flush(): void;
  /** Removes and returns the handler for a late response to a withdrawn request. */
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
  /** The session of the request. The withdrawal is sent on the same stream. */
  readonly sessionId: string | undefined;
}

export function createClientRequests(
  rpc: Pick<RpcConnection<OpenRequest>, "request" | "forget">,
  writer: Pick<LineWriter, "write">,
): ClientRequests {
  const queued = new Map<string, () => string | undefined>();
  /** JSON-RPC ids of sent requests from the queue, by key. */
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

/** Limit for clients that never respond. The oldest handler is dropped; its late response is ignored. */
const MAX_LATE_HANDLERS = 1000;

/** Returns the `sessionId` of a message's parameters, or undefined if there is none. */
export function readSessionId(params: unknown): string | undefined {
  const sessionId = isObject(params) ? params["sessionId"] : undefined;
  return typeof sessionId === "string" ? sessionId : undefined;
}
