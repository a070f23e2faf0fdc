import type { PolicyContext } from "../../domain/policy/policy-decision.ts";

type DeclaredEffect = Pick<PolicyContext, "kind" | "sideEffect">;

/** Whether a tool declares itself read-only, by both its kind and its side effect. */
export function isReadOnly({ kind, sideEffect }: DeclaredEffect): boolean {
  return READING_KINDS.has(kind) && HARMLESS_EFFECTS.has(sideEffect);
}

/**
 * Whether a tool may write, by its kind or its side effect. A `fetch` with the side effect `network` does not write.
 */
export function mayWrite({ kind, sideEffect }: DeclaredEffect): boolean {
  return !READING_KINDS.has(kind) || WRITING_EFFECTS.has(sideEffect);
}

const READING_KINDS: ReadonlySet<string> = new Set(["read", "search", "think", "fetch"]);
const HARMLESS_EFFECTS: ReadonlySet<string> = new Set(["none", "read_only"]);
const WRITING_EFFECTS: ReadonlySet<string> = new Set(["workspace_write", "process_exec"]);
