import type { Failure } from "../../domain/errors.ts";
import type { Decision } from "../decision.ts";

/** Says in the log what a client brought in vain, for whoever wonders where its tools are. */
export function reportClientToolProblems(decision: Decision, problems: readonly Failure[]): void {
  for (const { message } of problems) {
    const diagnostic = { code: "equipment_unusable", message } as const;
    decision.emit({ type: "diagnostic.raised", diagnostic });
  }
}
