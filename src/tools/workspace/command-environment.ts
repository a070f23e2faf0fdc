import { SpanlineError } from "../../domain/errors.ts";
import { isSecretName } from "../../text/is-secret-name.ts";
import type { Environment } from "../../platform/environment.ts";

/** What a command sees of the environment: a few names, and those that the configuration adds. */
export function createCommandEnvironment(
  environment: Environment,
  added: readonly string[],
): { readonly [name: string]: string } {
  const names = [...INHERITED_VARIABLES, ...added];
  const variables = names.flatMap((name) => {
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
    return value === undefined || URL_WITH_PASSWORD.test(value) ? [] : [[name, value] as const];
  });
  return Object.fromEntries([...DEFAULTS, ...variables]);
}

/** Throws for a name that is none, and for one that a credential goes by. */
export function checkAddedNames(added: readonly string[]): void {
  for (const name of added) {
    const problem = !/^[a-z_][a-z0-9_]*$/i.test(name)
      ? "is no name of a variable"
      : isCredential(name)
        ? "sounds like a credential, which no command gets"
        : undefined;
    if (problem === undefined) continue;
    const details = { path: "passEnvironment" };
    throw new SpanlineError("invalid_option", `${JSON.stringify(name)} ${problem}`, { details });
  }
}

const INHERITED_VARIABLES = ["PATH", "HOME", "LANG", "TERM", "TMPDIR"];

const DEFAULTS = [
  ["PATH", "/usr/local/bin:/usr/bin:/bin"],
  ["LANG", "C.UTF-8"],
  ["TERM", "dumb"],
  // A bash that is nobody's child, with a socket for its input, takes itself for a remote login and reads the user's own files first.
  ["SHLVL", "1"],
] as const;

function isCredential(name: string): boolean {
  return isSecretName(name) || /^AWS_(?!(?:DEFAULT_)?REGION$)|^SPANLINE_/i.test(name);
}

/** Such as a proxy's address with a password in it. */
const URL_WITH_PASSWORD = /:\/\/[^/\s@]*:[^/\s@]*@/;
