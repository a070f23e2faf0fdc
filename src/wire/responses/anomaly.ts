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
  | "open_call_unknown"
  | "result_superseded"
  | "result_unmatched"
  | "text_from_user"
  | "text_role_unknown";
