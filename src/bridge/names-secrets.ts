import type { PathFact, PolicyContext } from "../domain/policy-decision.ts";
import { SENSITIVE_PATHS } from "../policy/guards.ts";
import { parsePathPattern } from "../policy/path-pattern.ts";
import { isNamedPath } from "../policy/path-places.ts";

/**
 * Words of a command that look like files where secrets are kept. A hint for people alone: no rule goes by it, since a
 * command has a thousand ways to name a file.
 */
export function namesSecrets({ simpleCommands = [] }: PolicyContext): string[] {
  const patterns = SENSITIVE_PATHS.map(parsePathPattern);
  const words = simpleCommands.flatMap((one) => one.words.slice(1, MOST_WORDS));
  const named = words.filter((word) => isNamedPath(patterns, asPath(word), false));
  return [...new Set(named)].slice(0, MOST_NAMED);
}

const MOST_WORDS = 1000;
const MOST_NAMED = 5;

/** Of an option with a value, such as `--file=.env`, the value. */
function asPath(word: string): PathFact {
  const input = word.replace(/^-[^=]*=|^@|^~\//, "").replace(/^\/+/, "");
  return { argument: "command", input, place: "inside", workspacePath: input, hostPath: null };
}
