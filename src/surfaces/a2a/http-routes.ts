import type { Caller } from "../../http/access/caller.ts";
import type { GuardedRoute } from "../../http/routing/guarded-routes.ts";
import { readJsonBody } from "../../http/routing/json-body.ts";
import { createJsonResponse } from "../../http/routing/json-response.ts";
import type { ServedRequest, ServedResponse } from "../../http/server/http-types.ts";
import { A2aError, createNoPushError } from "../../wire/a2a/a2a-error.ts";
import { A2A_PATH } from "../../wire/a2a/agent-card.ts";
import type { Dialect } from "../../wire/a2a/dialect.ts";
import { A2A_V1 } from "../../wire/a2a/encode-v1.ts";
import { readSendRequest, readTaskRequest } from "../../wire/a2a/read-request.ts";
import type { PlacedUpdate } from "../../wire/a2a/task.ts";
import type { A2aOptions } from "./a2a-context.ts";
import { createExtendedCard } from "./card-routes.ts";
import type { CallContext, Operations } from "./operations.ts";
import { listPage } from "./rpc-routes.ts";
import { readLastSequence, readVersion, resolveDialect } from "./request-headers.ts";
import { createUpdateStream } from "./stream-response.ts";

interface HttpCall {
  readonly request: ServedRequest;
  readonly context: CallContext;
  readonly dialect: Dialect;
  /** The task of the path. Empty for other paths. */
  readonly taskId: string;
}

type Handler = (call: HttpCall) => Promise<ServedResponse>;

/** The HTTP+JSON binding, version 1.0. */
export function createHttpRoutes(options: A2aOptions, operations: Operations): GuardedRoute[] {
  const streamUpdates = (updates: AsyncIterable<readonly PlacedUpdate[]>, dialect: Dialect) =>
    createUpdateStream(updates, (update) => dialect.encodeUpdate(update), options.streaming);
  const subscribe: Handler = async ({ taskId, context, dialect }) =>
    streamUpdates(await operations.subscribe({ taskId }, context), dialect);
  const cancel: Handler = async ({ taskId, context, dialect }) =>
    createResponse(dialect.encodeTask(await operations.cancel({ taskId }, context)));
  const get: Handler = async ({ request, taskId, context, dialect }) => {
    const query = readQuery(request);
    const task = await operations.get(readTaskRequest({ ...query, id: taskId }), context);
    return createResponse(dialect.encodeTask(task));
  };
  const refusePush: Handler = async () => {
    throw createNoPushError();
  };
  return [
    createRoute("POST", "/message:send", async ({ request, context, dialect }) => {
      const task = await operations.send(readSendRequest(readBody(request)), context);
      return createResponse(dialect.encodeSent(task));
    }),
    createRoute("POST", "/message:stream", async ({ request, context, dialect }) =>
      streamUpdates(await operations.stream(readSendRequest(readBody(request)), context), dialect),
    ),
    createRoute("GET", "/tasks", async ({ request, context, dialect }) =>
      createResponse(await listPage(operations, { params: readQuery(request), context, dialect })),
    ),
    createTaskRoute("GET", { "": get, subscribe }),
    // Clients disagree on the method of a subscription.
    createTaskRoute("POST", { cancel, subscribe }),
    createRoute("POST", "/tasks/:id/pushNotificationConfigs", refusePush),
    createRoute("GET", "/tasks/:id/pushNotificationConfigs", refusePush),
    createRoute("GET", "/tasks/:id/pushNotificationConfigs/:config", refusePush),
    createRoute("DELETE", "/tasks/:id/pushNotificationConfigs/:config", refusePush),
    createRoute("GET", "/extendedAgentCard", async ({ request, context }) =>
      createResponse(createExtendedCard(options, request, context.caller)),
    ),
  ];
}

function createRoute(method: GuardedRoute["method"], path: string, handler: Handler): GuardedRoute {
  return {
    method,
    path: `${A2A_PATH}${path}`,
    handle: async (request, { id = "" }, caller) => handler(createCall(request, id, caller)),
  };
}

/** The verb of a request about a task follows the id: `/tasks/ID:cancel`. */
function createTaskRoute(
  method: GuardedRoute["method"],
  handlers: { readonly [verb: string]: Handler },
): GuardedRoute {
  return {
    method,
    path: `${A2A_PATH}/tasks/:id`,
    async handle(request, { id = "" }, caller) {
      const [taskId = "", verb = ""] = id.split(":", 2);
      const handler = Object.hasOwn(handlers, verb) ? handlers[verb] : undefined;
      if (handler === undefined)
        throw new A2aError(
          "METHOD_NOT_FOUND",
          `${method} ${request.path} is not an operation of A2A`,
        );
      return handler(createCall(request, taskId, caller));
    },
  };
}

function createCall(request: ServedRequest, taskId: string, caller: Caller): HttpCall {
  readVersion(request, ["1.0"]);
  const context = { caller, signal: request.disconnectSignal, ...readLastSequence(request) };
  return { request, context, dialect: resolveDialect(request, A2A_V1), taskId };
}

/** The binding's own media type. `application/json` is accepted too. */
const MEDIA_TYPE = "application/a2a+json";

function readBody(request: ServedRequest): object {
  return readJsonBody(request, [MEDIA_TYPE, "application/json"]);
}

function createResponse(value: object): ServedResponse {
  return createJsonResponse(200, value, { "content-type": MEDIA_TYPE });
}

function readQuery({ query }: ServedRequest): { readonly [name: string]: string } {
  return Object.fromEntries(new URLSearchParams(query));
}
