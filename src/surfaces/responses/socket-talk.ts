import { isObject, parseJson, type JsonObject } from "../../domain/json.ts";
import { ApiError, apiErrorOf, bridgeFailed } from "../../http/api-error.ts";
import type { Caller } from "../../http/caller.ts";
import { jsonObjectIn } from "../../http/json-body.ts";
import { openAiError } from "../../http/openai-errors.ts";
import type { OpenSocket } from "../../http/open-socket.ts";
import type { RequestHead } from "../../http/served.ts";
import type { CreateRequest } from "../../wire/responses/request/create-request.ts";
import { readCreateFrame } from "../../wire/responses/request/read-create-request.ts";
import type { ResponseObject } from "../../wire/responses/response-object.ts";
import { askSession } from "./ask-session.ts";
import { events } from "./create-response.ts";
import { traceOf } from "./request-headers.ts";
import { responseAsk } from "./response-ask.ts";
import { fingerprintOf } from "./retry-of.ts";
import { socketMemory, type SocketMemory } from "./socket-memory.ts";
import { isStateless } from "./stateless-agents.ts";
import type { Surface } from "./surface.ts";

export interface SocketClient {
  readonly head: RequestHead;
  readonly caller: Caller;
}

/** One response after the other, for as long as the connection may last. What is asked for meanwhile waits. */
export async function talkOverSocket(
  surface: Surface,
  client: SocketClient,
  socket: OpenSocket,
): Promise<void> {
  const memory = socketMemory();
  const over = AbortSignal.any([socket.gone, socket.aged]);
  const ended = whenAborted(over);
  const texts = socket.texts[Symbol.asyncIterator]();
  for (;;) {
    const next = await Promise.race([texts.next(), ended]);
    if (next === "aborted" || next.done === true) break;
    await answerFrame(next.value, { surface, client, socket, memory, over });
  }
  if (socket.aged.aborted) await refuse(tooOld(), { surface, socket });
}

interface Talk {
  readonly surface: Surface;
  readonly client: SocketClient;
  readonly socket: OpenSocket;
  readonly memory: SocketMemory;
  readonly over: AbortSignal;
}

async function answerFrame(text: string, talk: Talk): Promise<void> {
  const { surface, client, memory, over } = talk;
  let end = (): void => {};
  let previous: string | null = null;
  try {
    const body = jsonObjectIn(text, "frame");
    previous = previousIn(body);
    surface.rates?.request(client.caller.id);
    const wanted = readCreateFrame(body);
    end = surface.rates?.turn(client.caller.id) ?? end;
    const response = await respond(wanted, body, talk);
    const isFailed = response?.status === "failed";
    if (isFailed && previous !== null) memory.drop(previous);
    if (!isFailed && response !== undefined && !wanted.store) memory.add(response.id);
  } catch (error) {
    // Nobody can tell what a conversation has come to that could not be gone on with.
    if (previous !== null) memory.drop(previous);
    if (!over.aborted) await refuse(error, talk);
  } finally {
    end();
  }
}

/** Sends the events, and gives what they came to. */
async function respond(
  wanted: CreateRequest,
  body: JsonObject,
  { surface, client, socket, memory, over }: Talk,
): Promise<ResponseObject | undefined> {
  const { caller, head } = client;
  const trace = traceOf(head, wanted, { caller, settings: surface.settings });
  const retry = { fingerprint: fingerprintOf(body, caller), isRepeated: false };
  const { previousResponseId } = wanted;
  const isHeld = previousResponseId !== null && memory.has(previousResponseId);
  const ask = responseAsk({
    request: wanted,
    caller,
    trace,
    retry,
    isHeld,
    isStateless: isStateless(surface, wanted.model, caller),
  });
  const asked = await askSession(ask, surface);
  const outputs = await events(surface, asked, { caller, gone: over, isDetached: false });
  let last: ResponseObject | undefined;
  for await (const batch of outputs) {
    for (const event of batch) {
      if ("response" in event) last = event.response;
      await socket.send(JSON.stringify(event));
    }
  }
  return last;
}

/** Also of a frame that is wrong in all else. */
function previousIn({ previous_response_id: id }: JsonObject): string | null {
  return typeof id === "string" ? id : null;
}

async function refuse(
  thrown: unknown,
  { surface, socket }: Pick<Talk, "surface" | "socket">,
): Promise<void> {
  const known = apiErrorOf(thrown);
  if (known === undefined) surface.report(thrown);
  const error = known ?? bridgeFailed();
  await socket.send(errorFrame(error));
}

/** There is no status over a WebSocket but in the frame. */
function errorFrame(error: ApiError): string {
  return JSON.stringify({ type: "error", status: error.status, error: openAiError(error) });
}

/** Refuses `response.steer` while a response runs, too. Undefined for any other frame. */
export function refuseSteering(text: string): string | undefined {
  // Nearly all frames are requests for a response, which may be large: this look is cheap.
  if (!text.includes(STEER)) return undefined;
  const parsed = parseJson(text);
  const isSteering = parsed.ok && isObject(parsed.value) && parsed.value["type"] === STEER;
  return isSteering ? errorFrame(STEERING_NOT_SUPPORTED) : undefined;
}

const STEER = "response.steer";

const STEERING_NOT_SUPPORTED = new ApiError(
  400,
  "validation_failed",
  "A response cannot be steered while it runs: response.steer is not supported",
  {
    param: "type",
    reason: "not_supported",
    hint: "Send the message with the next response.create, or cancel the response",
  },
);

function tooOld(): ApiError {
  return new ApiError(400, "deadline_exceeded", "The connection is as old as one may be", {
    reason: "websocket_connection_limit_reached",
    hint: "Connect again, and go on from the last response that was stored",
  });
}

function whenAborted(signal: AbortSignal): Promise<"aborted"> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve("aborted");
    else signal.addEventListener("abort", () => resolve("aborted"), { once: true });
  });
}
