import { SpanlineError } from "../../domain/errors.ts";
import { isSecretName } from "../../text/is-secret-name.ts";
import type { Environment } from "../../platform/environment.ts";

/** The environment of commands: a few inherited variables, and those added by the configuration. */
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

/** Throws `invalid_option` for an invalid variable name, and for the name of a credential. */
export function checkAddedNames(added: readonly string[]): void {
  for (const name of added) {
    const problem = !/^[a-z_][a-z0-9_]*$/i.test(name)
      ? "is not a valid variable name"
      : isCredential(name)
        ? "looks like a credential, which is never passed to commands"
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
  // A bash without `SHLVL` whose input is a socket assumes a remote login and reads the user's startup files.
  ["SHLVL", "1"],
] as const;

function isCredential(name: string): boolean {
  return isSecretName(name) || /^AWS_(?!(?:DEFAULT_)?REGION$)|^SPANLINE_/i.test(name);
}

/** For example a proxy URL with a password. */
const URL_WITH_PASSWORD = /:\/\/[^/\s@]*:[^/\s@]*@/;
