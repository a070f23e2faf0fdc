import type { JsonValue } from "../../../data/json.ts";
import type { DeliveredAs } from "../../../domain/session-command.ts";

/**
 * The outcome of a `response.steer` frame. `sequence_number` repeats the number of the last event of the response: the
 * outcome is not part of the response, whose numbers are the same whenever it is read.
 */
export type SteerEvent = { readonly sequence_number: number } & (
  | {
      readonly type: "response.steer.accepted";
      readonly steer: SteerReference;
      readonly delivered_as: DeliveredAs;
    }
  | {
      readonly type: "response.steer.pending";
      readonly steer: SteerReference;
      readonly reason: "waiting_for_next_turn";
      readonly required_input: readonly [];
    }
  | {
      readonly type: "response.steer.failed";
      readonly steer: { readonly previous_response_id: string; readonly input: JsonValue };
      readonly error: SteerFailure & { readonly type: "invalid_request_error" };
    }
);

interface SteerReference {
  /** The id of the message in the session. */
  readonly id: string;
  readonly previous_response_id: string;
}

export interface SteerFailure {
  readonly code: string;
  readonly message: string;
}

/** An accepted message. */
interface AcceptedSteer {
  readonly messageId: string;
  readonly responseId: string;
  readonly deliveredAs: DeliveredAs;
  readonly sequenceNumber: number;
}

/** A message which waits for a separate turn is accepted and pending. */
export function encodeAcceptedSteer(accepted: AcceptedSteer): readonly SteerEvent[] {
  const { messageId: id, responseId, deliveredAs, sequenceNumber: sequence_number } = accepted;
  const fields = { sequence_number, steer: { id, previous_response_id: responseId } };
  const event = {
    type: "response.steer.accepted",
    ...fields,
    delivered_as: deliveredAs,
  } as const;
  if (deliveredAs === "steer") return [event];
  const reason = "waiting_for_next_turn";
  return [event, { type: "response.steer.pending", ...fields, reason, required_input: [] }];
}
