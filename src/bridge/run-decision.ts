import type { ApprovalRequested, Decision } from "../domain/agent-event.ts";
import type { RunOptions } from "./run-options.ts";

/** What the caller decides; what it cannot, or may not, is a no: otherwise the run would wait for nothing. */
export async function decisionFor(
  request: ApprovalRequested,
  caller: Pick<RunOptions, "approve" | "report">,
): Promise<Decision> {
  const { options, action } = request;
  const no = NOES.find((decision) => options.includes(decision)) ?? "deny";
  try {
    const decision = (await caller.approve?.(request)) ?? no;
    if (options.includes(decision)) return decision;
    const wanted = options.join(", ");
    throw new TypeError(`"${decision}" is no answer to "${action}"; it takes ${wanted}`);
  } catch (error) {
    caller.report?.(error);
    return no;
  }
}

const NOES: readonly Decision[] = ["deny", "failed", "stop"];
