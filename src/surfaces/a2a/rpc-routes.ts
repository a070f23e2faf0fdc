import type { JsonValue } from "../../data/json.ts";
import type { Caller } from "../../http/access/caller.ts";
import type { GuardedRoute } from "../../http/routing/guarded-routes.ts";
import { readJsonText } from "../../http/routing/json-body.ts";
import { createJsonResponse } from "../../http/routing/json-response.ts";
import type { ServedRequest, ServedResponse } from "../../http/server/http-types.ts";
import { A2aError, encodeRpcError } from "../../wire/a2a/a2a-error.ts";
import { A2A_PATH } from "../../wire/a2a/agent-card.ts";
import type { Dialect } from "../../wire/a2a/dialect.ts";
import { A2A_V03 } from "../../wire/a2a/encode-v03.ts";
import { A2A_V1 } from "../../wire/a2a/encode-v1.ts";
import { readListRequest, readSendRequest, readTaskRequest } from "../../wire/a2a/read-request.ts";
import { DISPATCH_METHOD, PLAN_METHOD } from "../../wire/bridge/external-agent-contract.ts";
import { readMessage as readRpcMessage } from "../../wire/jsonrpc/rpc-line.ts";
import type { RequestId, RpcMessage, RpcRequest } from "../../wire/jsonrpc/rpc-message.ts";
import type { PlacedUpdate } from "../../wire/a2a/task.ts";
import type { A2aOptions, CallContext } from "./a2a-context.ts";
import { createExtendedCard } from "./card-routes.ts";
import { createExternalAgent } from "./external-agent.ts";
import type { Operations } from "./operations.ts";
import { createPushOperations, type PushOperations } from "./push/push-operations.ts";
import { toA2aError } from "./refusals.ts";
import {
  createExtensionHeaders,
  readLastSequence,
  readVersion,
  resolveDialect,
} from "./request-headers.ts";
import { createUpdateStream } from "./stream-response.ts";

/** A result: a value, or the updates of a stream. */
type RpcResult =
  | { readonly value: object | null }
  | { readonly updates: AsyncIterable<readonly PlacedUpdate[]> };

interface MethodCall {
  readonly params: JsonValue | undefined;
  readonly context: CallContext;
  readonly dialect: Dialect;
  readonly request: ServedRequest;
}

type Method = (call: MethodCall) => Promise<RpcResult>;

/** The JSON-RPC binding. Without a requested version, the name of the method determines the version. */
export function createRpcRoute(options: A2aOptions, operations: Operations): GuardedRoute {
  const methods = createMethods(options, operations);
  return {
    method: "POST",
    path: A2A_PATH,
    async handle(request, _params, caller) {
      let id: RequestId = null;
      try {
        const message = readRpcMessage(readJsonText(request));
        if ("id" in message) id = message.id;
        const response = await respond(request, requireRequest(message), {
          methods,
          caller,
          options,
        });
        return {
          ...response,
          headers: { ...response.headers, ...createExtensionHeaders(request) },
        };
      } catch (error) {
        return createErrorResponse(id, toRpcError(error, options.report));
      }
    },
  };
}

function requireRequest(message: RpcMessage): RpcRequest {
  if (message.type === "request") return message;
  if (message.type === "invalid") throw toProtocolError(message.error);
  throw new A2aError(
    "INVALID_REQUEST",
    "The message is not a request: expected an id and a method",
  );
}

/** A bug is reported here, because its response needs the id of the request. */
function toRpcError(error: unknown, report: (error: unknown) => void): A2aError {
  const refusal = toA2aError(error);
  if (refusal !== undefined) return refusal;
  report(error);
  return new A2aError("INTERNAL_ERROR", "The bridge failed; its log says why");
}

interface RpcContext {
  readonly methods: ReadonlyMap<string, readonly [Dialect, Method]>;
  readonly caller: Caller;
  readonly options: A2aOptions;
}

async function respond(
  request: ServedRequest,
  { id, method: name, params }: RpcRequest,
  { methods, caller, options }: RpcContext,
): Promise<ServedResponse> {
  const requested = readVersion(request, ["1.0", "0.3"]);
  const known = methods.get(name);
  if (known === undefined || (requested !== undefined && known[0] !== DIALECTS[requested]))
    throw createMethodError(name, requested);
  const [spoken, method] = known;
  const dialect = resolveDialect(request, spoken);
  const signal = request.disconnectSignal;
  const context = { caller, version: spoken.version, signal, ...readLastSequence(request) };
  const result = await method({ params, context, dialect, request });
  if ("value" in result)
    return createJsonResponse(200, { jsonrpc: "2.0", id, result: result.value });
  const encode = (placed: PlacedUpdate): object => ({
    jsonrpc: "2.0",
    id,
    result: dialect.encodeUpdate(placed),
  });
  return createUpdateStream(result.updates, encode, options.streaming);
}

const DIALECTS = { "1.0": A2A_V1, "0.3": A2A_V03 } as const;

function createMethodError(name: string, version = ""): A2aError {
  const protocol = version === "" ? "A2A" : `A2A ${version}`;
  return new A2aError("METHOD_NOT_FOUND", `"${name.slice(0, 100)}" is not a method of ${protocol}`);
}

function createErrorResponse(id: RequestId, error: A2aError): ServedResponse {
  return createJsonResponse(200, { jsonrpc: "2.0", id, error: encodeRpcError(error) });
}

/** -32700 means invalid JSON; any other code means an invalid request. */
function toProtocolError({
  code,
  message,
}: {
  readonly code: number;
  readonly message: string;
}): A2aError {
  return new A2aError(code === -32_700 ? "INVALID_JSON" : "INVALID_REQUEST", message);
}

function createMethods(
  options: A2aOptions,
  operations: Operations,
): ReadonlyMap<string, readonly [Dialect, Method]> {
  const { send, stream, get, list, cancel, subscribe } = createHandlers(operations);
  const getCard: Method = async ({ context, request }) => ({
    value: createExtendedCard(options, request, context.caller),
  });
  const push = createPushOperations(options);
  const callPush = (operation: keyof PushOperations): Method => {
    return async ({ params, context }) => ({ value: await push[operation](params, context) });
  };
  return new Map<string, readonly [Dialect, Method]>([
    ...createExternalMethods(options),
    ["SendMessage", [A2A_V1, send]],
    ["SendStreamingMessage", [A2A_V1, stream]],
    ["GetTask", [A2A_V1, get]],
    ["ListTasks", [A2A_V1, list]],
    ["CancelTask", [A2A_V1, cancel]],
    ["SubscribeToTask", [A2A_V1, subscribe]],
    ["GetExtendedAgentCard", [A2A_V1, getCard]],
    ["CreateTaskPushNotificationConfig", [A2A_V1, callPush("create")]],
    ["GetTaskPushNotificationConfig", [A2A_V1, callPush("get")]],
    ["ListTaskPushNotificationConfigs", [A2A_V1, callPush("list")]],
    ["DeleteTaskPushNotificationConfig", [A2A_V1, callPush("delete")]],
    ["message/send", [A2A_V03, send]],
    ["message/stream", [A2A_V03, stream]],
    ["tasks/get", [A2A_V03, get]],
    ["tasks/cancel", [A2A_V03, cancel]],
    ["tasks/resubscribe", [A2A_V03, subscribe]],
    ["agent/getAuthenticatedExtendedCard", [A2A_V03, getCard]],
    ["tasks/pushNotificationConfig/set", [A2A_V03, callPush("create")]],
    ["tasks/pushNotificationConfig/get", [A2A_V03, callPush("get")]],
    ["tasks/pushNotificationConfig/list", [A2A_V03, callPush("list")]],
    ["tasks/pushNotificationConfig/delete", [A2A_V03, callPush("delete")]],
  ]);
}

/** The methods of paid work. Absent without the setting. */
function createExternalMethods(
  options: A2aOptions,
): readonly (readonly [string, readonly [Dialect, Method]])[] {
  if (options.settings.externalAgent !== true) return [];
  const external = createExternalAgent(options);
  return [
    [
      PLAN_METHOD,
      [
        A2A_V1,
        async ({ params, context }) => ({ value: await external.plan(params ?? null, context) }),
      ],
    ],
    [
      DISPATCH_METHOD,
      [
        A2A_V1,
        async ({ params, context }) => ({
          value: await external.dispatch(params ?? null, context),
        }),
      ],
    ],
  ];
}

function createHandlers(operations: Operations): { readonly [Name in keyof Operations]: Method } {
  return {
    send: async ({ params, context, dialect }) => ({
      value: dialect.encodeSent(await operations.send(readSendRequest(params), context)),
    }),
    stream: async ({ params, context }) => ({
      updates: await operations.stream(readSendRequest(params), context),
    }),
    get: async ({ params, context, dialect }) => ({
      value: dialect.encodeTask(await operations.get(readTaskRequest(params), context)),
    }),
    list: async ({ params, context, dialect }) => ({
      value: await listPage(operations, { params, context, dialect }),
    }),
    cancel: async ({ params, context, dialect }) => ({
      value: dialect.encodeTask(await operations.cancel(readTaskRequest(params), context)),
    }),
    subscribe: async ({ params, context }) => ({
      updates: await operations.subscribe(readTaskRequest(params), context),
    }),
  };
}

/** Encodes a page of tasks. `totalSize` counts the tasks up to this page, because further tasks are not read. */
export async function listPage(
  operations: Operations,
  { params, context, dialect }: Omit<MethodCall, "request">,
): Promise<object> {
  const request = readListRequest(params);
  const { tasks, nextPageToken, count } = await operations.list(request, context);
  return {
    tasks: tasks.map((task) => dialect.encodeTask(task)),
    nextPageToken,
    pageSize: request.pageSize,
    totalSize: count,
  };
}
