import { isObject } from "../../data/json.ts";
import type { Caller } from "../../http/access/caller.ts";
import type { GuardedRoute } from "../../http/routing/guarded-routes.ts";
import { readJsonBody } from "../../http/routing/json-body.ts";
import { createJsonResponse } from "../../http/routing/json-response.ts";
import type { ServedRequest, ServedResponse } from "../../http/server/http-types.ts";
import { A2aError } from "../../wire/a2a/a2a-error.ts";
import { A2A_PATH } from "../../wire/a2a/agent-card.ts";
import type { Dialect } from "../../wire/a2a/dialect.ts";
import { A2A_V1 } from "../../wire/a2a/encode-v1.ts";
import { readSendRequest, readTaskRequest } from "../../wire/a2a/read-request.ts";
import type { PlacedUpdate } from "../../wire/a2a/task.ts";
import type { A2aOptions } from "./a2a-context.ts";
import { createExtendedCard } from "./card-routes.ts";
import type { CallContext } from "./call-context.ts";
import type { Operations } from "./operations.ts";
import { createPushOperations, type PushOperations } from "./push/push-operations.ts";
import { listPage } from "./rpc-routes.ts";
import { readLastSequence, readVersion, resolveDialect } from "./request-headers.ts";
import { createUpdateStream } from "./stream-response.ts";

interface HttpCall {
  readonly request: ServedRequest;
  readonly context: CallContext;
  readonly dialect: Dialect;
  /** The task of the path. Empty for other paths. */
  readonly taskId: string;
  /** The push notification config of the path. Empty for other paths. */
  readonly configId: string;
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
    ...createPushRoutes(createPushOperations(options)),
    createRoute("GET", "/extendedAgentCard", async ({ request, context }) =>
      createResponse(createExtendedCard(options, request, context.caller)),
    ),
  ];
}

function createPushRoutes(push: PushOperations): GuardedRoute[] {
  const respond = (operation: keyof PushOperations): Handler => {
    return async ({ request, taskId, configId, context }) => {
      const body = operation === "create" ? readBody(request) : {};
      const params = {
        ...(isObject(body) ? body : {}),
        taskId,
        ...(configId !== "" && { id: configId }),
      };
      return createResponse(await push[operation](params, context));
    };
  };
  const path = "/tasks/:id/pushNotificationConfigs";
  return [
    createRoute("POST", path, respond("create")),
    createRoute("GET", path, respond("list")),
    createRoute("GET", `${path}/:config`, respond("get")),
    createRoute("DELETE", `${path}/:config`, respond("delete")),
  ];
}

function createRoute(method: GuardedRoute["method"], path: string, handler: Handler): GuardedRoute {
  return {
    method,
    path: `${A2A_PATH}${path}`,
    handle: async (request, { id = "", config = "" }, caller) =>
      handler({ ...createCall(request, id, caller), configId: config }),
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
      const [taskId = "", verb = "", ...rest] = id.split(":");
      const isKnown = rest.length === 0 && Object.hasOwn(handlers, verb);
      const handler = isKnown ? handlers[verb] : undefined;
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
  const signal = request.disconnectSignal;
  const { version } = A2A_V1;
  const context = { caller, version, signal, ...readLastSequence(request) };
  return { request, context, dialect: resolveDialect(request, A2A_V1), taskId, configId: "" };
}

/** The binding's own media type. `application/json` is accepted too. */
const MEDIA_TYPE = "application/a2a+json";

function readBody(request: ServedRequest): object {
  return readJsonBody(request, [MEDIA_TYPE, "application/json"]);
}

function createResponse(value: object | null): ServedResponse {
  return createJsonResponse(200, value, { "content-type": MEDIA_TYPE });
}

function readQuery({ query }: ServedRequest): { readonly [name: string]: string } {
  return Object.fromEntries(new URLSearchParams(query));
}
