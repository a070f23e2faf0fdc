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
import {
  createHttpConnections,
  type HttpConnection,
  type HttpConnections,
} from "./http-connections.ts";
import { createStreamWriter } from "./stream-writer.ts";

export interface AcpHttpSurface {
  readonly routes: readonly Route[];
  /** Disconnects all clients and ends their streams. */
  close(): Promise<void>;
}

/**
 * ACP over HTTP. The client POSTs messages, each accepted with 202. Responses and updates are sent as server-sent
 * events: a stream for the connection, and a stream for each session opened by the client.
 */
export function createAcpHttp(options: AcpServerOptions): AcpHttpSurface {
  const { access, clock } = options;
  const connections = createHttpConnections(clock);

  const routes: readonly GuardedRoute[] = [
    {
      method: "POST",
      path: ACP_PATH,
      async handle(request, _, caller) {
        requireRight(caller, "prompt", "Submitting a prompt");
        const text = readJsonText(request);
        if (readHeader(request, CONNECTION_HEADER) === undefined)
          return initialize(text, caller, { connections, options });
        const { acp } = findConnection(connections, request, caller);
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
        const connection = findConnection(connections, request, caller);
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
        await findConnection(connections, request, caller).end();
        return ACCEPTED_RESPONSE;
      },
    },
  ];
  // Rate limits count ACP requests, as over a WebSocket, not HTTP requests.
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

interface InitializeContext {
  readonly connections: HttpConnections;
  readonly options: AcpServerOptions;
}

/** Opens a connection with its first message and responds with the result of `initialize`. */
async function initialize(
  text: string,
  caller: Caller,
  { connections, options }: InitializeContext,
): Promise<ServedResponse> {
  options.rates?.countRequest(caller.id);
  // Checked before the message is handled, because a batch may contain more requests than `initialize`.
  connections.checkCapacity();
  const writer = createStreamWriter();
  const acp = createCallerConnection(caller, writer, options);
  acp.receive({ type: "line", text, offset: 0 });
  const answer = writer.takeLine();
  if (answer === undefined)
    throw createInvalidRequestError("The first message must be the request initialize");
  if (!acp.isInitialized) return createJsonTextResponse(400, answer);
  const { id } = connections.add({ caller, acp, writer });
  return createJsonTextResponse(200, answer, { [CONNECTION_HEADER]: id });
}

function findConnection(
  connections: HttpConnections,
  head: RequestHead,
  caller: Caller,
): HttpConnection {
  const id = readHeader(head, CONNECTION_HEADER);
  if (id === undefined)
    throw createInvalidRequestError(`The header ${CONNECTION_HEADER} is missing`);
  const connection = connections.find(id, caller);
  if (connection !== undefined) return connection;
  const hint = "Send initialize without this header, then load the session again";
  throw new ApiError(404, "not_found", "The connection does not exist", { hint });
}

/** Clients may send requests without waiting for responses, so the backlog needs a limit. */
function createOverloadedError(): ApiError {
  const message = "This connection has too many unfinished requests or too much unread output";
  const hint = "Read the streams of the connection, then send the request again";
  return new ApiError(429, "throttled", message, { hint, headers: { "retry-after": "1" } });
}

function checkAccept(request: Pick<ServedRequest, "headers">): void {
  const accept = readHeader(request, "accept") ?? "*/*";
  if (/text\/event-stream|text\/\*|\*\/\*/i.test(accept)) return;
  const message = `The stream is text/event-stream, which "${accept}" does not accept`;
  throw new ApiError(406, "validation_failed", message);
}
