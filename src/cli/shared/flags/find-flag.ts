/**
 * The flag that an option of the code came from, such as `--session` for `sessionId`. Undefined where it did not come
 * from a flag but, say, from a file, which has the names of the code.
 */
export function findFlag(path: string, flags: object): string | undefined {
  const option = path.replace(/[.[].*$/s, "");
  const key = FLAG_NAMES.get(path) ?? FLAG_NAMES.get(option) ?? option;
  if (!Object.hasOwn(flags, key)) return undefined;
  return `--${key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** Where the flag has another name. */
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
