import type { StdioServerSettings } from "../mcp-server-settings.ts";
import type { Environment } from "../../../platform/environment.ts";

/** What every program may need to run at all, and nothing in which a secret would be. */
const SAFE_VARIABLES = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "TERM",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
  "TZ",
  "TMPDIR",
];

export function createServerEnvironment(
  { env = {}, inheritEnv = [] }: StdioServerSettings,
  environment: Environment,
): { readonly [name: string]: string } {
  const inherited = [...SAFE_VARIABLES, ...inheritEnv].flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries([...inherited, ...Object.entries(env)]);
}
