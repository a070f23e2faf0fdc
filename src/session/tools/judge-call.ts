import type { AgentFacts } from "../../domain/agent-event.ts";
import { fitsPattern } from "../../domain/tool-pattern.ts";
import type { ToolRun } from "./tools-state.ts";

export type Judgement =
  | { readonly verdict: "run" }
  | { readonly verdict: "ask" }
  | { readonly verdict: "refuse"; readonly ending: "refused" | "denied"; readonly message: string };

/** What is to become of a call that nobody has decided about. */
export function judgeCall({ name, call, problem }: ToolRun, agent: AgentFacts): Judgement {
  if (problem !== undefined) return { verdict: "refuse", ending: "refused", message: problem };
  if (call === null || call.input === null) {
    const reason = call?.inputError?.message ?? "its arguments never came";
    const message = `${name} was not run: its arguments could not be read (${reason}). Call it again with a JSON object.`;
    return { verdict: "refuse", ending: "refused", message };
  }
  const { deny, ask, allow, otherwise } = agent.approvals;
  if (names(deny, name)) return denied(name);
  if (names(ask, name)) return { verdict: "ask" };
  if (names(allow, name)) return { verdict: "run" };
  if (otherwise === "deny") return denied(name);
  return { verdict: otherwise === "allow" ? "run" : "ask" };
}

function denied(name: string): Judgement {
  const message = `${name} was not run: the rules of this session do not allow it.`;
  return { verdict: "refuse", ending: "denied", message };
}

/** A log may hold a definition that was never checked: what it does not say is no yes. */
function names(patterns: readonly string[] | undefined, name: string): boolean {
  return patterns?.some((pattern) => fitsPattern(pattern, name)) === true;
}
