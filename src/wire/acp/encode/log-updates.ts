import type {
  DiagnosticRaised,
  MessageSent,
  ProviderUnknown,
} from "../../../domain/events/turn-events.ts";
import type { Emit } from "../../../domain/codec.ts";
import type { JsonObject } from "../../../data/json.ts";
import { RECOVERY_NOTICE } from "../../../domain/events/turn-events.ts";
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

/** Emits only the name of the unknown data. The raw data is for the operator and stays in the log. */
export function encodeUnknown(
  state: UpdateState,
  { what, name }: ProviderUnknown,
  emit: Emit<AcpOutput>,
): void {
  const message = `The provider sent unknown data: ${name}`;
  emitWarning(state, message, { what, name }, emit);
}

/**
 * Emits a short notice in place of the recovery message to the agent. A client without notices receives it as a
 * thought.
 */
export function encodeRecovery(
  state: UpdateState,
  { messageId }: MessageSent,
  emit: Emit<AcpOutput>,
): void {
  const { isBridgeHost, acceptsNotices } = state.getProfile();
  if (isBridgeHost || acceptsNotices) return emitWarning(state, RECOVERY_NOTICE, {}, emit);
  emitChunks(state, "agent_thought_chunk", { messageId, text: `${RECOVERY_NOTICE}.` }, emit);
}

/**
 * Emits a log entry for bridge hosts, or a notice for clients that accept notices. Notices are sent live only, never in
 * a replay.
 */
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
