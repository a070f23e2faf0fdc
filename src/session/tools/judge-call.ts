import type { AgentFacts } from "../../domain/agent-event.ts";
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
  return { verdict: otherwise === "ask" ? "ask" : "run" };
}

function denied(name: string): Judgement {
  const message = `${name} was not run: the rules of this session do not allow it.`;
  return { verdict: "refuse", ending: "denied", message };
}

function names(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => matches(pattern, name));
}

/** `*` stands for any characters; everything else for itself. */
function matches(pattern: string, name: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (rest.length === 0) return pattern === name;
  const last = rest.pop() ?? "";
  if (!name.startsWith(first) || name.length < first.length + last.length) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= name.length - last.length && name.endsWith(last);
}
