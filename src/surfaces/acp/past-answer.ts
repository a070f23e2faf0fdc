import type { RpcOutcome } from "../../wire/jsonrpc/rpc-message.ts";
import { STOCK_CLIENT } from "../../wire/acp/client-profile.ts";
import { updateEncoder } from "../../wire/acp/update-encoder.ts";
import type { ClientLink } from "./client-link.ts";

interface Span {
  readonly sessionId: string;
  readonly promptId: string;
  /** Where the log has the prompt, and how far it is read. */
  readonly from: number;
  readonly upTo: number;
}

/** What came of a prompt, as far as the log has it; undefined while it is not over there. */
export async function pastAnswer(
  { sessions }: Pick<ClientLink, "sessions">,
  { sessionId, promptId, from, upTo }: Span,
): Promise<RpcOutcome | undefined> {
  const found = await sessions.find(sessionId);
  if (found === undefined) return undefined;
  const { incarnation } = found;
  const place = { upTo: 0, history: "shown", clientId: "" } as const;
  const encoder = updateEncoder({ sessionId, profile: () => STOCK_CLIENT, ...place });
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
