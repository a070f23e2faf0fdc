import type { RpcOutcome } from "../../../wire/jsonrpc/rpc-message.ts";
import { STOCK_CLIENT } from "../../../wire/acp/decode/client-profile.ts";
import { createUpdateEncoder } from "../../../wire/acp/encode/update-encoder.ts";
import type { ClientLink } from "../connection/client-link.ts";

interface PromptSpan {
  readonly sessionId: string;
  readonly promptId: string;
  /** The sequence number of the prompt, and the last event to read. */
  readonly from: number;
  readonly upTo: number;
}

/** Reads the outcome of a prompt from the log. Undefined if the prompt is not finished up to `upTo`. */
export async function readPromptOutcome(
  { sessions }: Pick<ClientLink, "sessions">,
  { sessionId, promptId, from, upTo }: PromptSpan,
): Promise<RpcOutcome | undefined> {
  const record = await sessions.find(sessionId);
  if (record === undefined) return undefined;
  const { incarnation } = record;
  const encoderOptions = { upTo: 0, history: "shown", clientId: "" } as const;
  const encoder = createUpdateEncoder({
    sessionId,
    getProfile: () => STOCK_CLIENT,
    ...encoderOptions,
  });
  const state = encoder.initial();
  let outcome: RpcOutcome | undefined;
  const end = new AbortController();
  const cursor = { incarnation, seq: from - 1 };
  try {
    for await (const { events } of sessions.subscribe(sessionId, cursor, end.signal)) {
      for (const envelope of events) {
        if (envelope.seq > upTo) return outcome;
        encoder.step(state, envelope, (output) => {
          if (output.type === "answer" && output.promptId === promptId) ({ outcome } = output);
        });
        if (outcome !== undefined || envelope.seq === upTo) return outcome;
      }
    }
    return outcome;
  } finally {
    end.abort();
  }
}
