import { isObject, parseJson, type JsonObject } from "../../../data/json.ts";
import type { Failure } from "../../../domain/errors.ts";
import type { Caller } from "../../../http/access/caller.ts";
import { createBridgeFailedError, toApiError } from "../../../http/routing/api-error.ts";
import { parseJsonObject } from "../../../http/routing/json-body.ts";
import { encodeOpenAiError } from "../../../http/routing/openai-errors.ts";
import {
  readSteerFrame,
  STEER_TYPE,
  type SteerRequest,
} from "../../../wire/responses/request/read-steer-frame.ts";
import { formatResponseId } from "../../../wire/responses/response-ids.ts";
import {
  encodeAcceptedSteer,
  type SteerEvent,
  type SteerFailure,
} from "../../../wire/responses/stream/steer-events.ts";
import type { SubmittedPrompt } from "../prompt/prompt-request.ts";
import type { SurfaceContext } from "../surface-context.ts";
import { readLoggedResponse } from "../turn/logged-response.ts";
import { findStoredResponse } from "../turn/stored-response.ts";

/** The response which a connection sends now. */
export interface RunningResponse {
  readonly submitted: SubmittedPrompt;
  /** The number of the last event sent. */
  sequenceNumber: number;
}

interface SteerContext {
  readonly surface: SurfaceContext;
  readonly caller: Caller;
  /** Undefined while the connection sends no response. */
  readonly running: RunningResponse | undefined;
}

/** Whether a frame steers a response. Such a frame does not wait for the end of the running response. */
export function isSteerFrame(text: string): boolean {
  // Cheap check before parsing: nearly all frames are large requests for a response.
  if (!text.includes(STEER_TYPE)) return false;
  const parsed = parseJson(text);
  return parsed.ok && isObject(parsed.value) && parsed.value["type"] === STEER_TYPE;
}

/** Sends the message of a `response.steer` frame to the running turn of its response. Returns the outcome. */
export async function steerResponse(
  text: string,
  context: SteerContext,
): Promise<readonly SteerEvent[]> {
  let frame: JsonObject = {};
  try {
    frame = parseJsonObject(text, "frame");
    context.surface.rates?.countRequest(context.caller.id);
    return await injectSteer(readSteerFrame(frame), context);
  } catch (error) {
    const { previous_response_id: id, input = null } = frame;
    const responseId = typeof id === "string" ? id : "";
    return [
      {
        type: "response.steer.failed",
        sequence_number: findOwnResponse(responseId, context)?.sequenceNumber ?? 0,
        steer: { previous_response_id: responseId, input },
        error: { type: "invalid_request_error", ...encodeFailure(error, context) },
      },
    ];
  }
}

async function injectSteer(
  { previousResponseId: responseId, content }: SteerRequest,
  context: SteerContext,
): Promise<readonly SteerEvent[]> {
  const { surface, caller } = context;
  // A response that is not stored is known to its connection only.
  const own = findOwnResponse(responseId, context);
  const submitted = own?.submitted ?? (await findStoredResponse(surface, responseId, caller));
  const { openTurnId: turnId, end } = await readLoggedResponse(submitted, surface.sessions);
  if (turnId === undefined) throw new SteerError(end === undefined ? NOT_ACTIVE : COMPLETED);
  const command = { type: "inject", mode: "steer", content, turnId } as const;
  const reply = await surface.sessions.command(submitted.sessionId, command, { principal: caller });
  if (reply.status === "refused") throw new SteerError(toSteerFailure(reply.failure));
  const { messageId, deliveredAs } = reply;
  if (messageId === undefined || deliveredAs === undefined)
    throw new Error("The reply to an injected message has no message id");
  const sequenceNumber = own?.sequenceNumber ?? 0;
  return encodeAcceptedSteer({ messageId, responseId, deliveredAs, sequenceNumber });
}

/** The response of this connection, if it has this id. */
function findOwnResponse(
  responseId: string,
  { running }: SteerContext,
): RunningResponse | undefined {
  const isOwn = running !== undefined && formatResponseId(running.submitted) === responseId;
  return isOwn ? running : undefined;
}

const NOT_ACTIVE: SteerFailure = {
  code: "response_not_active",
  message: "The response has not started. Fix: wait until its turn runs",
};

const COMPLETED: SteerFailure = {
  code: "response_already_completed",
  message: "The response has ended. Fix: send the message with the next response.create",
};

/** A failure with a code of the steering events. */
class SteerError extends Error {
  readonly failure: SteerFailure;

  constructor(failure: SteerFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Maps the refusal of the session to the codes of the steering events. */
function toSteerFailure({ code, message, details }: Failure): SteerFailure {
  const { reason } = details;
  if (reason === "no_running_turn") return COMPLETED;
  if (reason === "queue_full") return { code: "too_many_pending_steers", message };
  return { code: code === "invalid_message" ? "invalid_input" : code, message };
}

function encodeFailure(thrown: unknown, { surface }: SteerContext): SteerFailure {
  if (thrown instanceof SteerError) return thrown.failure;
  const apiError = toApiError(thrown);
  if (apiError === undefined) surface.report(thrown);
  const { code, message } = encodeOpenAiError(apiError ?? createBridgeFailedError());
  return { code: apiError?.status === 400 ? "invalid_input" : code, message };
}
