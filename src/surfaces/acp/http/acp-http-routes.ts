import { ApiError } from "../../../http/routing/api-error.ts";
import { requireRight, type Caller } from "../../../http/access/caller.ts";
import { createEventStream } from "../../../http/routing/event-stream.ts";
import { createGuardedRoutes, type GuardedRoute } from "../../../http/routing/guarded-routes.ts";
import { readHeader } from "../../../http/routing/read-header.ts";
import { SECURITY_HEADERS, createJsonTextResponse } from "../../../http/routing/json-response.ts";
import { createInvalidRequestError, readJsonText } from "../../../http/routing/json-body.ts";
import type { Route } from "../../../http/routing/router.ts";
import type {
  RequestHead,
  ServedResponse,
  ServedRequest,
} from "../../../http/server/http-types.ts";
import { createCallerConnection, type AcpServerOptions } from "../connection/caller-connection.ts";
import { createHttpConnections, type HttpConnection } from "./http-connections.ts";
import { createStreamWriter } from "./stream-writer.ts";

export interface AcpHttpSurface {
  readonly routes: readonly Route[];
  /** Its clients are detached, and their streams end. */
  close(): Promise<void>;
}

/**
 * The Agent Client Protocol over HTTP: messages come as requests, each taken with 202, and answers and updates go out in
 * streams of events, one for the connection and one for each session that the client has opened one for.
 */
export function createAcpHttp(options: AcpServerOptions): AcpHttpSurface {
  const { access, rates, clock } = options;
  const connections = createHttpConnections(clock);

  async function initialize(text: string, caller: Caller): Promise<ServedResponse> {
    rates?.countRequest(caller.id);
    // Before anything is heard: a batch may ask for more than a greeting.
    connections.checkCapacity();
    const writer = createStreamWriter();
    const acp = createCallerConnection(caller, writer, options);
    acp.receive({ type: "line", text, offset: 0 });
    const answer = writer.takeLine();
    if (answer === undefined)
      throw createInvalidRequestError("The first message is the request initialize");
    if (!acp.isInitialized) return createJsonTextResponse(400, answer);
    const { id } = connections.add({ caller, acp, writer });
    return createJsonTextResponse(200, answer, { [CONNECTION_HEADER]: id });
  }

  function findConnection(head: RequestHead, caller: Caller): HttpConnection {
    const id = readHeader(head, CONNECTION_HEADER);
    if (id === undefined)
      throw createInvalidRequestError(`The header ${CONNECTION_HEADER} is missing`);
    const connection = connections.find(id, caller);
    if (connection !== undefined) return connection;
    const hint = "Send initialize without it, and load the session again";
    throw new ApiError(404, "not_found", "There is no such connection", { hint });
  }

  const routes: readonly GuardedRoute[] = [
    {
      method: "POST",
      path: ACP_PATH,
      async handle(request, _, caller) {
        requireRight(caller, "prompt", "Asking an agent");
        const text = readJsonText(request);
        if (readHeader(request, CONNECTION_HEADER) === undefined) return initialize(text, caller);
        const { acp } = findConnection(request, caller);
        if (acp.isFull) throw createOverloadedError();
        acp.receive({ type: "line", text, offset: 0 });
        await acp.waitForCapacity();
        return ACCEPTED_RESPONSE;
      },
    },
    {
      method: "GET",
      path: ACP_PATH,
      async handle(request, _, caller) {
        checkAccept(request);
        const connection = findConnection(request, caller);
        const sessionId = readHeader(request, SESSION_HEADER);
        const events = connection.events(sessionId, request.disconnectSignal);
        return createEventStream(events, {
          clock,
          headers: { [CONNECTION_HEADER]: connection.id },
        });
      },
    },
    {
      method: "DELETE",
      path: ACP_PATH,
      async handle(request, _, caller) {
        await findConnection(request, caller).end();
        return ACCEPTED_RESPONSE;
      },
    },
  ];
  // What a connection asks is counted as it is over a WebSocket, not by its requests.
  return { routes: createGuardedRoutes(routes, { access }), close: () => connections.close() };
}

const ACP_PATH = "/acp";
const CONNECTION_HEADER = "acp-connection-id";
const SESSION_HEADER = "acp-session-id";

const ACCEPTED_RESPONSE: ServedResponse = {
  status: 202,
  headers: SECURITY_HEADERS,
  body: new Uint8Array(),
};

/** Nobody has to wait for the answer to a request before the next. */
function createOverloadedError(): ApiError {
  const message = "Too much of what this connection asked is not done, or not read";
  const hint = "Read its streams, and send it again";
  return new ApiError(429, "throttled", message, { hint, headers: { "retry-after": "1" } });
}

function checkAccept(request: Pick<ServedRequest, "headers">): void {
  const accept = readHeader(request, "accept") ?? "*/*";
  if (/text\/event-stream|text\/\*|\*\/\*/i.test(accept)) return;
  const message = `The stream is text/event-stream, which "${accept}" does not accept`;
  throw new ApiError(406, "validation_failed", message);
}
