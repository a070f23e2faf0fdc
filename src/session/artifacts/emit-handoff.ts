import type { Handoff, HandoffRequest } from "../../domain/outputs/handoff.ts";
import { formatIsoTime } from "../../text/format-iso-time.ts";
import { readAgentSpec, type Decision } from "../decision.ts";

/** Hands work over, and returns the handoff. Its source is the session's agent unless the request names another. */
export function emitHandoff(decision: Decision, request: HandoffRequest): Handoff {
  const handoffId = decision.ids.next("handoff");
  const { source_persona: source, ...fields } = request;
  const handoff: Handoff = {
    _type: "handoff_artifact",
    id: handoffId,
    kind: "handoff",
    parent_run_id: decision.state.turn.current?.turnId ?? null,
    source_persona: source ?? readAgentSpec(decision).name,
    ...fields,
    created_at: formatIsoTime(decision.at),
  };
  const artifactId = decision.ids.next("artifact");
  decision.emit({ type: "handoff.emitted", handoffId, artifactId, handoff });
  return handoff;
}
