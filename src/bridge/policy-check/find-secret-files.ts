import type { PathFact, PolicyContext } from "../../domain/policy/policy-decision.ts";
import { SENSITIVE_PATHS } from "../../policy/path-check.ts";
import { parsePathPattern } from "../../policy/matching/path-pattern.ts";
import { mayNamePath } from "../../policy/matching/path-matching.ts";

/**
 * Finds words of a command that look like files with secrets. This is a hint for people only; no rule uses the result,
 * since a command can name a file in countless ways.
 */
export function findSecretFiles({ simpleCommands = [] }: PolicyContext): string[] {
  const patterns = SENSITIVE_PATHS.map(parsePathPattern);
  const words = simpleCommands.flatMap((simpleCommand) => simpleCommand.words.slice(1, MAX_WORDS));
  const named = words.filter((word) => mayNamePath(patterns, toPathFact(word), false));
  return [...new Set(named)].slice(0, MAX_REPORTED);
}

const MAX_WORDS = 1000;
const MAX_REPORTED = 5;

/** For an option with a value, such as `--file=.env`, the value is used. */
function toPathFact(word: string): PathFact {
  const input = word.replace(/^-[^=]*=|^@|^~\//, "").replace(/^\/+/, "");
  return { argument: "command", input, location: "inside", workspacePath: input, hostPath: null };
}
