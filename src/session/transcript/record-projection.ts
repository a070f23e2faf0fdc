import type { Decision } from "../decision.ts";
import type { TimedInput } from "../session-input.ts";

type ProjectionInput = Extract<TimedInput, { readonly type: "transcript-projected" }>;

/** Logs the projection of the request of an invocation. Ignored for an invocation which has ended. */
export function recordProjection(
  decision: Decision,
  { invocationId, projection }: ProjectionInput,
): void {
  const stage = decision.state.turn.current?.stage;
  if (stage?.type !== "invoking" || stage.invocation.invocationId !== invocationId) return;
  decision.emit({ type: "transcript.projected", invocationId, projection });
}
