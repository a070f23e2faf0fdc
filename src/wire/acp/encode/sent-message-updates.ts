import type { MessageSent } from "../../../domain/events/turn-events.ts";
import type { Emit } from "../../../domain/codec.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import { formatPromptPart } from "../../../domain/format-prompt-part.ts";
import { fits, LINE_MARGIN } from "../fit-json.ts";
import type { UserMessage } from "./acp-session-update.ts";
import { encodeRecovery } from "./log-updates.ts";
import { emitChunks } from "./text-updates.ts";
import { emitUpdate, type AcpOutput, type UpdateState } from "./update-state.ts";

/** What was said to the agent. The client that just said it has it on its screen. */
export function encodeSentMessage(
  state: UpdateState,
  event: MessageSent,
  emit: Emit<AcpOutput>,
  { actor }: Envelope,
): void {
  if (event.origin === "recovery") return encodeRecovery(state, event, emit);
  const { promptId, messageId } = event;
  const isFromClient = promptId !== undefined && state.clientPrompts.delete(promptId);
  if (isFromClient && state.isLive) return;
  const texts = event.content.map(formatPromptPart);
  const content = texts.map((text) => ({ type: "text", text }) as const);
  const clientId = actor?.clientId;
  const message: UserMessage = {
    sessionUpdate: "user_message",
    messageId,
    content,
    ...(clientId !== undefined && { _meta: { harn: { clientId } } }),
  };
  const { isBridgeHost, acceptsEvents } = state.getProfile();
  // Only hosts of the bridge know it, where their SDK lets it through, and it cannot come in pieces.
  if (isBridgeHost && !acceptsEvents && fits(message, state.lineBytes - LINE_MARGIN)) {
    return emitUpdate(state, message, emit);
  }
  for (const text of texts) emitChunks(state, "user_message_chunk", { messageId, text }, emit);
}
