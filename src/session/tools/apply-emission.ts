import type { StoredEmission } from "../../domain/tools/tool-output.ts";
import { emitArtifact } from "../artifacts/emit-artifact.ts";
import { emitHandoff } from "../artifacts/emit-handoff.ts";
import type { Decision } from "../decision.ts";
import { addAgentWatch, removeAgentWatch } from "../watches/watch-commands.ts";
import { emitPlan } from "./agent-plan.ts";

/** Emits an emission of a finished tool, in the same append as the end of its tool call. */
export function applyEmission(decision: Decision, emission: StoredEmission): void {
  switch (emission.type) {
    case "handoff":
      emitHandoff(decision, emission.handoff);
      return;
    case "artifact":
      emitArtifact(decision, emission.artifact);
      return;
    case "plan":
      emitPlan(decision, emission.plan);
      return;
    case "progress":
      decision.emit({ type: "progress.reported", ...emission.progress });
      return;
    case "log":
      decision.emit({ type: "log.reported", ...emission.log });
      return;
    case "watch":
      addAgentWatch(decision, emission.subscriptionId, emission.watch);
      return;
    case "unwatch":
      removeAgentWatch(decision, emission.subscriptionId);
      return;
    default:
      emission satisfies never;
  }
}
