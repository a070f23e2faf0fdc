/** A fact about a turn which its items cannot express, with the omitted content. */
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

/** The request has instructions, but the provider of the agent does not accept instructions. */
export const INSTRUCTIONS_AS_TEXT: Anomaly = {
  code: "instructions_as_text",
  message: "The agent does not support instructions: they were sent as text before the message",
};
