import type { ToolEmission } from "../../domain/tools/tool-output.ts";
import { emitHandoff } from "../artifacts/emit-handoff.ts";
import type { Decision } from "../decision.ts";

/** Emits what a finished tool emitted: part of the same append as the end of its tool call. */
export function applyEmission(decision: Decision, emission: ToolEmission): void {
  switch (emission.type) {
    case "handoff":
      emitHandoff(decision, emission.handoff);
      return;
    default:
      emission.type satisfies never;
  }
}
