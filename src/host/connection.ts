import { SpanlineError, thrownMessage } from "../domain/errors.ts";
import type { JsonValue } from "../domain/json.ts";
import { agentError } from "../wire/acp/client/agent-error.ts";
import { cancelRequestNotification, type AgentRequest } from "../wire/acp/client/agent-requests.ts";
import { decodeNotification } from "../wire/acp/client-notification.ts";
import {
  createRpcConnection,
  type Received,
  type SentRequest,
} from "../wire/jsonrpc/rpc-connection.ts";
import { internalError } from "../wire/jsonrpc/rpc-error.ts";
import type {
  RpcAnswer,
  RpcNotification,
  RpcOutcome,
  RpcRequest,
} from "../wire/jsonrpc/rpc-message.ts";
import { notificationLine, responseLine } from "../wire/jsonrpc/write-message.ts";
import { isCode } from "./is-code.ts";
import { lineBytes, lineLimit, tooLarge, type LineLimit } from "./line-limit.ts";
import { openRequests } from "./open-requests.ts";
import type { Report } from "./report.ts";
import type { Incoming, Transport } from "./transports/transport.ts";

/** One connection to an agent, from its beginning to its loss. */
export interface Connection {
  /** The agent's result. Rejects with its error, or with `connection_lost` when there will be no answer. */
  request(asked: AgentRequest, control?: RequestControl): Promise<JsonValue>;
  notify(asked: AgentRequest): void;
  /** Puts away what the agent asks in a session, since its turn is cancelled. */
  putAway(sessionId: string): void;
  /** Resolves when it is lost or closed. */
  readonly over: Promise<void>;
  close(): void;
}

export interface RequestControl {
  /** Tells the agent that the answer is no longer wanted, and rejects. */
  readonly signal?: AbortSignal;
  /** The agent is told, and its answer is waited for all the same. */
  readonly stillWaits?: boolean;
  /** Called at once when the answer is there, before anything that came behind it is read. Not when it is lost. */
  readonly answered?: (answer: RpcAnswer) => void;
}

export interface ConnectionOptions {
  /** Not used by any other connection. */
  readonly connectionId: string;
  readonly answer: (request: RpcRequest, context: AskedContext) => Promise<RpcOutcome>;
  readonly told: (notification: RpcNotification) => void;
  readonly report: Report;
  /** What is known of the agent from connections before. */
  readonly limit?: LineLimit;
}

/** Around something that an agent asks. */
export interface AskedContext {
  readonly connectionId: string;
  /** Aborted when the answer is no longer wanted; its reason says why, where that matters. */
  readonly signal: AbortSignal;
}

interface Waiting {
  readonly settle: (answer: RpcAnswer) => void;
  /** There will be no answer. */
  readonly fail: (error?: SpanlineError) => void;
}

export function openConnection(transport: Transport, options: ConnectionOptions): Connection {
  const { connectionId, answer, told, report, limit = lineLimit() } = options;
  const rpc = createRpcConnection<Waiting>({ epoch: connectionId });
  const waiting = new Set<Waiting>();
  const asked = openRequests();
  /** The largest line that was sent, and who waits for its answer. */
  let largest: { readonly bytes: number; readonly own?: Waiting } = { bytes: 0 };
  let isGone = false;

  async function respond(request: RpcRequest): Promise<void> {
    const { signal, done } = asked.begin(request);
    const outcome = await outcomeOf(request, signal);
    done();
    const line = rpc.answer(request, outcome);
    if (line === undefined || isGone) return;
    const bytes = lineBytes(line);
    if (limit.fits(bytes)) return put(line, { bytes });
    const error = internalError(`The answer has ${bytes} bytes, which is too much`);
    transport.send(responseLine(request.id, { ok: false, error }));
  }

  function put(line: string, size: typeof largest): void {
    if (size.bytes > largest.bytes) largest = size;
    transport.send(line);
  }

  async function outcomeOf(request: RpcRequest, signal: AbortSignal): Promise<RpcOutcome> {
    try {
      return await answer(request, { connectionId, signal });
    } catch (error) {
      report("A request could not be answered", { method: request.method, error });
      return { ok: false, error: internalError(thrownMessage(error)) };
    }
  }

  function notified(notification: RpcNotification): void {
    const wanted = decodeNotification(notification.method, notification.params);
    if (wanted?.type === "cancel-request") return asked.cancel(wanted.requestId);
    told(notification);
  }

  function receive(item: Incoming): void {
    if (item.type === "passed-over") {
      report("A message was passed over", { reason: item.reason });
      const { reason, start = "" } = item;
      const code = start === "" ? "invalid_message" : "line_too_large";
      return take(rpc.readSkipped({ code, reason, start }), start);
    }
    take(rpc.read(item.text), item.text);
  }

  function take(message: Received<Waiting>, text: string): void {
    switch (message.type) {
      case "request":
        return void respond(message);
      case "notification":
        return notified(message);
      case "response":
        return message.waiting.settle(message.outcome);
      case "stray":
        return report("An answer that nobody waits for", { id: message.id });
      case "refused":
        report("A line is no message", { start: text.slice(0, MOST_SHOWN) });
        return transport.send(message.line);
    }
  }

  function send({ method, params }: AgentRequest): void {
    const line = notificationLine(method, params);
    put(line, { bytes: lineBytes(line) });
  }

  function checked(sent: SentRequest | undefined): SentRequest & { readonly bytes: number } {
    if (sent === undefined) throw new SpanlineError("throttled", TOO_MANY);
    const bytes = lineBytes(sent.line);
    if (limit.fits(bytes)) return { ...sent, bytes };
    rpc.forget(sent.id);
    throw tooLarge(bytes);
  }

  /** Whatever was too large, the largest was. */
  function broke(error: unknown): void {
    report("The connection broke", { error });
    const { bytes, own } = largest;
    if (!isCode(error, "invalid_message") || !limit.exceeded(bytes)) return;
    if (own !== undefined && waiting.has(own)) own.fail(tooLarge(bytes));
  }

  async function read(): Promise<void> {
    try {
      for await (const item of transport.incoming) {
        receive(item);
        await transport.ready();
      }
    } catch (error) {
      broke(error);
    }
    isGone = true;
    asked.lose();
    transport.close();
    for (const each of waiting) each.fail();
  }

  return {
    over: read(),
    request: (wanted, control = {}) =>
      new Promise((resolve, reject) => {
        const { signal, answered, stillWaits = false } = control;
        signal?.throwIfAborted();
        const settled = (): void => {
          waiting.delete(own);
          signal?.removeEventListener("abort", cancel);
        };
        const own: Waiting = {
          settle(outcome) {
            settled();
            answered?.(outcome);
            if (outcome.ok) resolve(outcome.result);
            else reject(agentError(wanted.method, outcome.error));
          },
          fail(error = lostError(wanted.method)) {
            settled();
            reject(error);
          },
        };
        if (isGone) return own.fail();
        const { id, line, bytes } = checked(rpc.request(wanted.method, wanted.params, own));
        function cancel(): void {
          send(cancelRequestNotification(id));
          if (stillWaits || rpc.forget(id) === undefined) return;
          settled();
          reject(signal?.reason);
        }
        waiting.add(own);
        signal?.addEventListener("abort", cancel, { once: true });
        put(line, { bytes, own });
      }),
    notify: send,
    putAway: (sessionId) => asked.putAway(sessionId),
    close: () => transport.close(),
  };
}

/** What was asked may have been done. */
function lostError(method: string): SpanlineError {
  const message = `The connection to the agent was lost before ${method} was answered; it may have been done`;
  return new SpanlineError("connection_lost", message, { details: { method } });
}

const TOO_MANY = "Too many requests have no answer yet; wait for one of them";
const MOST_SHOWN = 200;
