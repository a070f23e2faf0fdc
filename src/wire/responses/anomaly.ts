/** Something about a turn that its items cannot say, with all that they leave out. */
export interface Anomaly {
  readonly code: AnomalyCode;
  readonly message: string;
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly output?: string;
  readonly text?: string;
}

export type AnomalyCode =
  | "call_id_missing"
  | "call_repeated"
  | "call_unanswered"
  | "instructions_as_text"
  | "open_call_unknown"
  | "result_superseded"
  | "result_unmatched"
  | "text_from_user"
  | "text_role_unknown";

/** The request has instructions, and its agent's provider has no place for them. */
export const INSTRUCTIONS_AS_TEXT: Anomaly = {
  code: "instructions_as_text",
  message: "The agent takes no instructions: it was sent them as text before the message",
};
