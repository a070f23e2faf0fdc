import type { StdioServerSettings } from "./mcp-server-settings.ts";
import type { Environment } from "../../platform/environment.ts";

/** What every program may need to run at all, and nothing in which a secret would be. */
const HARMLESS = [
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

export function serverEnvironment(
  { env = {}, inheritEnv = [] }: StdioServerSettings,
  ours: Environment,
): { readonly [name: string]: string } {
  const inherited = [...HARMLESS, ...inheritEnv].flatMap((name) => {
    const value = ours[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries([...inherited, ...Object.entries(env)]);
}
