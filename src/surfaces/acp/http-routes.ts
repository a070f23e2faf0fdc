import { ApiError } from "../../http/api-error.ts";
import { requireRight, type Caller } from "../../http/caller.ts";
import { eventStream } from "../../http/event-stream.ts";
import { guardedRoutes, type GuardedRoute } from "../../http/guarded-routes.ts";
import { headerOf } from "../../http/header.ts";
import { GUARDING_HEADERS, jsonTextAnswer } from "../../http/json-answer.ts";
import { invalid, jsonTextOf } from "../../http/json-body.ts";
import type { Route } from "../../http/router.ts";
import type { RequestHead, ServedAnswer, ServedRequest } from "../../http/served.ts";
import { callerConnection, type AcpServingOptions } from "./caller-connection.ts";
import { httpConnections, type HttpConnection } from "./http-connections.ts";
import { streamWriter } from "./stream-writer.ts";

export interface AcpHttp {
  readonly routes: readonly Route[];
  /** Its clients are detached, and their streams end. */
  close(): Promise<void>;
}

/**
 * The Agent Client Protocol over HTTP: messages come as requests, each taken with 202, and answers and updates go out in
 * streams of events, one for the connection and one for each session that the client has opened one for.
 */
export function acpHttp(options: AcpServingOptions): AcpHttp {
  const { access, rates, clock } = options;
  const connections = httpConnections(clock);

  async function initialize(text: string, caller: Caller): Promise<ServedAnswer> {
    rates?.request(caller.id);
    // Before anything is heard: a batch may ask for more than a greeting.
    connections.checkRoom();
    const writer = streamWriter();
    const acp = callerConnection(caller, writer, options);
    acp.receive({ type: "line", text, offset: 0 });
    const answer = writer.take();
    if (answer === undefined) throw invalid("The first message is the request initialize");
    if (!acp.isInitialized) return jsonTextAnswer(400, answer);
    const { id } = connections.add({ caller, acp, writer });
    return jsonTextAnswer(200, answer, { [CONNECTION_HEADER]: id });
  }

  function connectionOf(head: RequestHead, caller: Caller): HttpConnection {
    const id = headerOf(head, CONNECTION_HEADER);
    if (id === undefined) throw invalid(`The header ${CONNECTION_HEADER} is missing`);
    const found = connections.find(id, caller);
    if (found !== undefined) return found;
    const hint = "Send initialize without it, and load the session again";
    throw new ApiError(404, "not_found", "There is no such connection", { hint });
  }

  const routes: readonly GuardedRoute[] = [
    {
      method: "POST",
      path: PATH,
      async handle(request, _, caller) {
        requireRight(caller, "prompt", "Asking an agent");
        const text = jsonTextOf(request);
        if (headerOf(request, CONNECTION_HEADER) === undefined) return initialize(text, caller);
        const { acp } = connectionOf(request, caller);
        if (acp.isFull) throw tooMuch();
        acp.receive({ type: "line", text, offset: 0 });
        await acp.calm();
        return EMPTY;
      },
    },
    {
      method: "GET",
      path: PATH,
      async handle(request, _, caller) {
        checkAccept(request);
        const connection = connectionOf(request, caller);
        const sessionId = headerOf(request, SESSION_HEADER);
        const events = connection.events(sessionId, request.gone);
        return eventStream(events, { clock, headers: { [CONNECTION_HEADER]: connection.id } });
      },
    },
    {
      method: "DELETE",
      path: PATH,
      async handle(request, _, caller) {
        await connectionOf(request, caller).end();
        return EMPTY;
      },
    },
  ];
  // What a connection asks is counted as it is over a WebSocket, not by its requests.
  return { routes: guardedRoutes(routes, { access }), close: () => connections.close() };
}

const PATH = "/acp";
const CONNECTION_HEADER = "acp-connection-id";
const SESSION_HEADER = "acp-session-id";

const EMPTY: ServedAnswer = { status: 202, headers: GUARDING_HEADERS, body: new Uint8Array() };

/** Nobody has to wait for the answer to a request before the next. */
function tooMuch(): ApiError {
  const message = "Too much of what this connection asked is not done, or not read";
  const hint = "Read its streams, and send it again";
  return new ApiError(429, "throttled", message, { hint, headers: { "retry-after": "1" } });
}

function checkAccept(request: Pick<ServedRequest, "headers">): void {
  const accept = headerOf(request, "accept") ?? "*/*";
  if (/text\/event-stream|text\/\*|\*\/\*/i.test(accept)) return;
  const message = `The stream is text/event-stream, which "${accept}" does not accept`;
  throw new ApiError(406, "validation_failed", message);
}
