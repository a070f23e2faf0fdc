import type { SessionModeChanged } from "../../../domain/events/session-event.ts";
import type { Emit } from "../../../domain/codec.ts";
import { encodeOptions } from "../decode/session-mode-messages.ts";
import { emitUpdate, type AcpOutput, type UpdateState } from "./update-state.ts";

/** What was there before the client came is in the answer to its request. */
export function encodeModeChanged(
  state: UpdateState,
  { mode }: SessionModeChanged,
  emit: Emit<AcpOutput>,
): void {
  state.mode = mode;
  if (!state.isLive) return;
  emitUpdate(state, { sessionUpdate: "current_mode_update", currentModeId: mode }, emit);
  emitUpdate(state, { sessionUpdate: "config_option_update", ...encodeOptions(mode) }, emit);
}
