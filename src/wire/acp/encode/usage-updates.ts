import type { UsageReported } from "../../../domain/events/session-event.ts";
import type { Emit } from "../../../domain/codec.ts";
import { emitUpdate, type AcpOutput, type UpdateState } from "./update-state.ts";

/** How full the model's context is after a call of it. Nothing is told where either number would be a guess. */
export function encodeUsageReported(
  state: UpdateState,
  { usage }: UsageReported,
  emit: Emit<AcpOutput>,
): void {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const used = inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
  const size = state.agent?.contextTokens;
  if (size === undefined || used === 0) return;
  emitUpdate(state, { sessionUpdate: "usage_update", used, size }, emit);
}
