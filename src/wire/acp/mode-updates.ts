import type { SessionConfigured } from "../../domain/agent-event.ts";
import type { Emit } from "../../domain/codec.ts";
import { optionsAnswer } from "./session-modes.ts";
import { tell, type AcpOutput, type UpdateState } from "./update-state.ts";

/** What was there before the client came is in the answer to its request. */
export function tellMode(
  state: UpdateState,
  { mode }: SessionConfigured,
  emit: Emit<AcpOutput>,
): void {
  state.mode = mode;
  if (!state.isLive) return;
  tell(state, { sessionUpdate: "current_mode_update", currentModeId: mode }, emit);
  tell(state, { sessionUpdate: "config_option_update", ...optionsAnswer(mode) }, emit);
}
