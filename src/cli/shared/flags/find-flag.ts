/**
 * Returns the flag behind an option of the code, such as `--session` for `sessionId`. Undefined if the option came from
 * another source, such as a file, where users see the option's own name.
 */
export function findFlag(path: string, flags: object): string | undefined {
  const option = path.replace(/[.[].*$/s, "");
  const key = FLAG_NAMES.get(path) ?? FLAG_NAMES.get(option) ?? option;
  if (!Object.hasOwn(flags, key)) return undefined;
  return `--${key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** Options whose flag has a different name. */
const FLAG_NAMES: ReadonlyMap<string, string> = new Map([
  ["harnessArn", "harness"],
  ["runtimeArn", "runtime"],
  ["sessionId", "session"],
  ["userId", "user"],
  ["roleArn", "role"],
  ["limits.connect", "connectTimeout"],
  ["limits.firstEvent", "firstEventTimeout"],
  ["limits.idle", "idleTimeout"],
  ["limits.total", "timeout"],
]);
