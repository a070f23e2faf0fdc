import type { MessageSent } from "../../domain/agent-event.ts";
import type { Emit } from "../../domain/codec.ts";
import type { Envelope } from "../../domain/envelope.ts";
import { partText } from "../../domain/part-text.ts";
import { fits, LINE_MARGIN } from "./fitted.ts";
import type { UserMessage } from "./session-update.ts";
import { tellChunks } from "./text-updates.ts";
import { tell, type AcpOutput, type UpdateState } from "./update-state.ts";

/** What was said to the agent. The client that just said it has it on its screen. */
export function showSent(
  state: UpdateState,
  event: MessageSent,
  emit: Emit<AcpOutput>,
  { actor }: Envelope,
): void {
  const { promptId, messageId } = event;
  const isOwn = promptId !== undefined && state.ownPrompts.delete(promptId);
  if (isOwn && state.isLive) return;
  const texts = event.content.map(partText);
  const content = texts.map((text) => ({ type: "text", text }) as const);
  const clientId = actor?.clientId;
  const message: UserMessage = {
    sessionUpdate: "user_message",
    messageId,
    content,
    ...(clientId !== undefined && { _meta: { harn: { clientId } } }),
  };
  const { isBridgeHost, takesEvents } = state.profile();
  // Only hosts of the bridge know it, where their SDK lets it through, and it cannot come in pieces.
  if (isBridgeHost && !takesEvents && fits(message, state.lineBytes - LINE_MARGIN)) {
    return tell(state, message, emit);
  }
  for (const text of texts) tellChunks(state, "user_message_chunk", { messageId, text }, emit);
}
