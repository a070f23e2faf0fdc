import type { PolicyContext } from "../../domain/policy/policy-decision.ts";

type DeclaredEffect = Pick<PolicyContext, "kind" | "sideEffect">;

/** What says of itself that it only reads, in both words that there are for it. */
export function isReadOnly({ kind, sideEffect }: DeclaredEffect): boolean {
  return READING_KINDS.has(kind) && HARMLESS_EFFECTS.has(sideEffect);
}

/** What may write, by either word. What only asks another machine does neither. */
export function mayWrite({ kind, sideEffect }: DeclaredEffect): boolean {
  return !READING_KINDS.has(kind) || WRITING_EFFECTS.has(sideEffect);
}

const READING_KINDS: ReadonlySet<string> = new Set(["read", "search", "think", "fetch"]);
const HARMLESS_EFFECTS: ReadonlySet<string> = new Set(["none", "read_only"]);
const WRITING_EFFECTS: ReadonlySet<string> = new Set(["workspace_write", "process_exec"]);
