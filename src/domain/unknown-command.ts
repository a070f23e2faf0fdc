import { suggestNames } from "../text/suggest-name.ts";

/**
 * Returns an error message for a prompt which is a mistyped command, such as `/staus`; undefined for text to send to
 * the agent. A single word is a command. A word followed by text counts as a command only if its name is close to a
 * known name: `/data is full` is about a folder.
 */
export function describeUnknownCommand(text: string, names: readonly string[]): string | undefined {
  const [, name, argument] = COMMAND.exec(text) ?? [];
  if (name === undefined || names.includes(name) || ROOT_FOLDERS.has(name)) return undefined;
  const suggestions = suggestNames(name, names);
  if (suggestions.length > 0) {
    return `Unknown command /${name}; did you mean ${formatNames(suggestions, " or ")}? ${NOT_SENT}`;
  }
  if (argument !== undefined) return undefined;
  const listed = names.slice(0, MAX_LISTED_NAMES);
  const rest = names.length > listed.length ? ", …" : "";
  return `Unknown command /${name}; expected one of ${formatNames(listed, ", ")}${rest}. ${NOT_SENT}`;
}

/** A path has a second slash, and a file name usually has a dot: neither is a command. */
const COMMAND = /^\/([A-Za-z][\w-]*)(?:\s+(\S[^]*))?\s*$/;
const MAX_LISTED_NAMES = 20;
const NOT_SENT =
  "Nothing was sent to the agent. To send the text as it is, put a space before the slash.";

/** Folders at the root of Linux and macOS. */
const ROOT_FOLDERS: ReadonlySet<string> = new Set(
  "bin boot dev etc home lib lib64 media mnt opt proc root run sbin srv sys tmp usr var Applications Library System Users Volumes private".split(
    " ",
  ),
);

function formatNames(names: readonly string[], separator: string): string {
  return names.map((name) => `/${name}`).join(separator);
}
