import type { JsonObject } from "../../../data/json.ts";
import { type Caller, requireRight } from "../../../http/access/caller.ts";
import { ApiError, toApiError, createBridgeFailedError } from "../../../http/routing/api-error.ts";
import { parseJsonObject } from "../../../http/routing/json-body.ts";
import { encodeOpenAiError } from "../../../http/routing/openai-errors.ts";
import type { RequestHead } from "../../../http/server/http-types.ts";
import type { OpenSocket } from "../../../http/sockets/open-socket.ts";
import type { SocketRoute } from "../../../http/sockets/web-sockets.ts";
import type { CreateRequest } from "../../../wire/responses/request/create-request.ts";
import { readCreateFrame } from "../../../wire/responses/request/read-create-request.ts";
import type { ResponseObject } from "../../../wire/responses/response-object.ts";
import { createResponsePromptRequest } from "../prompt/response-prompt-request.ts";
import { computeFingerprint } from "../prompt/request-context.ts";
import { isStatelessAgent } from "../prompt/stateless-agents.ts";
import { submitPrompt } from "../prompt/submit-prompt.ts";
import { followResponse } from "../routes/post-response-route.ts";
import { resolveTrace } from "../routes/request-headers.ts";
import type { SurfaceContext } from "../surface-context.ts";
import { isSteerFrame, steerResponse, type RunningResponse } from "./steer-response.ts";

export interface SocketClient {
  readonly head: RequestHead;
  readonly caller: Caller;
}

/**
 * Serves one response after the other until the connection ends or expires. Requests received meanwhile wait, except
 * messages to the running response.
 */
async function serveResponsesSocket(
  surface: SurfaceContext,
  client: SocketClient,
  socket: OpenSocket,
): Promise<void> {
  const responses = createSocketResponses();
  const endSignal = AbortSignal.any([socket.disconnectSignal, socket.expirySignal]);
  const context: SocketContext = {
    surface,
    client,
    socket,
    responses,
    endSignal,
    running: undefined,
    whenSteered: Promise.resolve(),
  };
  await Promise.all([
    handleMessages(socket.messages, endSignal, (text) => handleFrame(text, context)),
    handleMessages(socket.urgentMessages, endSignal, (text) => {
      context.whenSteered = handleSteerFrame(text, context);
      return context.whenSteered;
    }),
  ]);
  if (socket.expirySignal.aborted)
    await sendError(createConnectionExpiredError(), { surface, socket });
}

/** Handles one message after the other until the connection ends. */
async function handleMessages(
  messages: AsyncIterable<string>,
  endSignal: AbortSignal,
  handle: (text: string) => Promise<void>,
): Promise<void> {
  const whenEnded = waitForAbort(endSignal);
  const texts = messages[Symbol.asyncIterator]();
  for (;;) {
    const next = await Promise.race([texts.next(), whenEnded]);
    if (next === "aborted" || next.done === true) return;
    await handle(next.value);
  }
}

interface SocketContext {
  readonly surface: SurfaceContext;
  readonly client: SocketClient;
  readonly socket: OpenSocket;
  readonly responses: SocketResponses;
  readonly endSignal: AbortSignal;
  /** The response which the connection sends now. */
  running: RunningResponse | undefined;
  /** Resolves when the outcome of the last steer frame is sent. */
  whenSteered: Promise<void>;
}

/** Sends the outcome of a steer frame. The events of the response wait, so the outcome precedes its consequences. */
async function handleSteerFrame(text: string, context: SocketContext): Promise<void> {
  const { surface, client, socket, running } = context;
  const events = await steerResponse(text, { surface, caller: client.caller, running });
  for (const event of events) await socket.send(JSON.stringify(event));
}

async function handleFrame(text: string, context: SocketContext): Promise<void> {
  const { surface, client, responses: memory, endSignal: over } = context;
  let endTurn = (): void => {};
  let previous: string | null = null;
  try {
    const body = parseJsonObject(text, "frame");
    previous = readPreviousId(body);
    surface.rates?.countRequest(client.caller.id);
    const createRequest = readCreateFrame(body);
    endTurn = surface.rates?.startTurn(client.caller.id) ?? endTurn;
    const response = await sendResponse(createRequest, body, context);
    const isFailed = response?.status === "failed";
    if (isFailed && previous !== null) memory.drop(previous);
    if (!isFailed && response !== undefined && !createRequest.store) memory.add(response.id);
  } catch (error) {
    // The state of the conversation is unknown after a failure, so the connection forgets its last response.
    if (previous !== null) memory.drop(previous);
    if (!over.aborted) await sendError(error, context);
  } finally {
    context.running = undefined;
    endTurn();
  }
}

/** Sends the events of a response and returns the final response object. */
async function sendResponse(
  createRequest: CreateRequest,
  body: JsonObject,
  context: SocketContext,
): Promise<ResponseObject | undefined> {
  const { surface, client, socket, responses: memory, endSignal: over } = context;
  const { caller, head } = client;
  const trace = resolveTrace(head, createRequest, { caller, settings: surface.settings });
  const retry = { fingerprint: computeFingerprint(body, caller), isRepeated: false };
  const { previousResponseId } = createRequest;
  const isConnectionLocal = previousResponseId !== null && memory.has(previousResponseId);
  const promptRequest = createResponsePromptRequest({
    request: createRequest,
    caller,
    trace,
    retry,
    isConnectionLocal,
    isStateless: isStatelessAgent(surface, createRequest.model, caller),
  });
  const submitted = await submitPrompt(promptRequest, surface);
  const outputs = await followResponse(surface, submitted, {
    caller,
    disconnectSignal: over,
    isDetached: false,
  });
  let last: ResponseObject | undefined;
  const running = { submitted, sequenceNumber: 0 };
  context.running = running;
  for await (const batch of outputs) {
    for (const event of batch) {
      if ("response" in event) last = event.response;
      await context.whenSteered;
      running.sequenceNumber = event.sequence_number;
      await socket.send(JSON.stringify(event));
    }
  }
  return last;
}

/** Reads the previous response id, also from a frame with other errors. */
function readPreviousId({ previous_response_id: id }: JsonObject): string | null {
  return typeof id === "string" ? id : null;
}

async function sendError(
  thrown: unknown,
  { surface, socket }: Pick<SocketContext, "surface" | "socket">,
): Promise<void> {
  const apiError = toApiError(thrown);
  if (apiError === undefined) surface.report(thrown);
  const error = apiError ?? createBridgeFailedError();
  await socket.send(encodeErrorFrame(error));
}

/** A WebSocket frame has no HTTP status, so the frame carries it. */
function encodeErrorFrame(error: ApiError): string {
  return JSON.stringify({ type: "error", status: error.status, error: encodeOpenAiError(error) });
}

function createConnectionExpiredError(): ApiError {
  return new ApiError(400, "deadline_exceeded", "The connection has reached its maximum age", {
    reason: "websocket_connection_limit_reached",
    hint: "Connect again and continue from the last stored response",
  });
}

function waitForAbort(signal: AbortSignal): Promise<"aborted"> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve("aborted");
    else signal.addEventListener("abort", () => resolve("aborted"), { once: true });
  });
}

/** Serves responses over a WebSocket, on the path of the HTTP route. */
export function createResponsesSocketRoute(surface: SurfaceContext): SocketRoute {
  return {
    path: "/responses",
    isUrgent: isSteerFrame,
    async accept(head) {
      const caller = surface.access.authenticate(head);
      requireRight(caller, "prompt", "Submitting a prompt");
      surface.rates?.countRequest(caller.id);
      return (socket) => serveResponsesSocket(surface, { head, caller }, socket);
    },
  };
}

/** Responses with `store: false`, remembered only by the connection on which they were created. */
interface SocketResponses {
  has(responseId: string): boolean;
  add(responseId: string): void;
  drop(responseId: string): void;
}

/** Limit for a connection with many conversations. The oldest responses are forgotten first. */
const MAX_RESPONSES = 256;

function createSocketResponses(): SocketResponses {
  const responseIds = new Set<string>();
  return {
    has: (responseId) => responseIds.has(responseId),
    add(responseId) {
      responseIds.add(responseId);
      const [oldest] = responseIds;
      if (responseIds.size > MAX_RESPONSES && oldest !== undefined) responseIds.delete(oldest);
    },
    drop: (responseId) => void responseIds.delete(responseId),
  };
}
