import type { PolicyContext } from "../domain/policy-decision.ts";

type Said = Pick<PolicyContext, "kind" | "sideEffect">;

/** What says of itself that it only reads, in both words that there are for it. */
export function isReadOnly({ kind, sideEffect }: Said): boolean {
  return READING.has(kind) && HARMLESS.has(sideEffect);
}

/** What may write, by either word. What only asks another machine does neither. */
export function mayWrite({ kind, sideEffect }: Said): boolean {
  return !READING.has(kind) || WRITING.has(sideEffect);
}

const READING: ReadonlySet<string> = new Set(["read", "search", "think", "fetch"]);
const HARMLESS: ReadonlySet<string> = new Set(["none", "read_only"]);
const WRITING: ReadonlySet<string> = new Set(["workspace_write", "process_exec"]);
