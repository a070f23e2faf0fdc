import type { Envelope } from "../../../domain/events/envelope.ts";
import type { Sessions } from "../../../session/sessions.ts";
import { readEnvelopes, type LogReference } from "../../log/read-log.ts";
import type { SubmittedPrompt } from "../prompt/prompt-request.ts";
import { createResponseSpan, type ResponseSpan } from "./response-span.ts";

/** A response in its current state, with its events. */
export interface LoggedResponse {
  readonly envelopes: readonly Envelope[];
  readonly end: ResponseSpan["end"];
  /** The turn of the response while it runs. Undefined before its start and after its end. */
  readonly openTurnId: string | undefined;
}

export async function readLoggedResponse(
  submitted: LogReference & Pick<SubmittedPrompt, "seq" | "promptId">,
  sessions: Sessions,
): Promise<LoggedResponse> {
  const span = createResponseSpan(submitted.promptId);
  const envelopes: Envelope[] = [];
  for await (const envelope of readEnvelopes(submitted, submitted.seq, sessions)) {
    span.apply(envelope);
    envelopes.push(envelope);
    if (span.end !== undefined) break;
  }
  const { end, turnId } = span;
  return { envelopes, end, openTurnId: end === undefined ? turnId : undefined };
}
