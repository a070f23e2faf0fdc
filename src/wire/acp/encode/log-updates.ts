import type {
  DiagnosticRaised,
  MessageSent,
  ProviderUnknown,
} from "../../../domain/events/turn-events.ts";
import type { Emit } from "../../../domain/codec.ts";
import type { JsonObject } from "../../../data/json.ts";
import { RECOVERY_NOTICE } from "../../../domain/recovery-notice.ts";
import { fitText } from "../fit-json.ts";
import { emitChunks } from "./text-updates.ts";
import { emitUpdate, emitVendorUpdate, type AcpOutput, type UpdateState } from "./update-state.ts";
import { encodeLog } from "./vendor-updates.ts";

export function encodeDiagnostic(
  state: UpdateState,
  { diagnostic }: DiagnosticRaised,
  emit: Emit<AcpOutput>,
): void {
  const { message, ...fields } = diagnostic;
  emitWarning(state, message, fields, emit);
}

/** Without what it was: that is for the operator, who reads the log. */
export function encodeUnknown(
  state: UpdateState,
  { what, name }: ProviderUnknown,
  emit: Emit<AcpOutput>,
): void {
  const message = `The agent's side sent something unknown: ${name}`;
  emitWarning(state, message, { what, name }, emit);
}

/** Emits one line in place of the message to the agent. A client without notices shows it beside the answer, as a thought. */
export function encodeRecovery(
  state: UpdateState,
  { messageId }: MessageSent,
  emit: Emit<AcpOutput>,
): void {
  const { isBridgeHost, acceptsNotices } = state.getProfile();
  if (isBridgeHost || acceptsNotices) return emitWarning(state, RECOVERY_NOTICE, {}, emit);
  emitChunks(state, "agent_thought_chunk", { messageId, text: `${RECOVERY_NOTICE}.` }, emit);
}

/** Hosts have it in their log. Others show it to their user, where they can, and when it happens. */
function emitWarning(
  state: UpdateState,
  message: string,
  fields: JsonObject,
  emit: Emit<AcpOutput>,
): void {
  const { isBridgeHost, acceptsNotices } = state.getProfile();
  if (isBridgeHost) {
    return emitVendorUpdate(state, encodeLog({ level: "warn", message, fields }), emit);
  }
  if (!acceptsNotices || !state.isLive || message === "") return;
  const title = fitText(message, state.lineBytes / 4);
  emitUpdate(state, { sessionUpdate: "notice", severity: "warning", title }, emit);
}
