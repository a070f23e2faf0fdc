import { isObject, type JsonObject, type JsonValue } from "../../../domain/json.ts";
import { shellAt } from "../../../domain/shell-at.ts";
import { SHELL_SOURCES, type KnownShells, type Shell } from "../../../domain/shell.ts";
import { read, unreadable, type Reading } from "./reading.ts";

/** All of its fields, always: hosts check them against a schema that wants each one. */
export function shellFields(shell: Shell): JsonObject {
  return {
    id: shell.id,
    label: shell.label,
    path: shell.path,
    platform: shell.platform,
    available: shell.isAvailable,
    supports_login: shell.supportsLogin,
    supports_interactive: shell.supportsInteractive,
    default_args: shell.defaultArgs,
    login_args: shell.loginArgs,
    source: shell.source,
  };
}

/** What else tells of a shell that a host names. */
interface ShellHints {
  /** What is started where this shell is meant. */
  readonly program?: string;
  /** Hosts say only the id of one that they told us of. */
  readonly known?: KnownShells;
}

/** What is missing of a shell follows from its path. */
export function readShell(
  given: JsonValue | undefined,
  { program, known }: ShellHints = {},
): Reading<Shell> {
  if (!isObject(given)) return unreadable("a shell is not an object");
  const said = textIn(given, "id");
  const path = textIn(given, "path") ?? program;
  if (path === undefined) {
    const meant = known?.shells.find(({ id }) => id === said);
    return meant === undefined ? unreadable("a shell has no path") : read(meant);
  }
  const platform = textIn(given, "platform") ?? "unknown";
  const usual = shellAt({ path, platform, source: "host", isAvailable: true });
  const id = said ?? usual.id;
  if (id === "") return unreadable("a shell has no id");
  return read({
    id,
    label: textIn(given, "label") ?? id,
    path,
    platform,
    isAvailable: given["available"] !== false,
    supportsLogin: flagIn(given, "supports_login") ?? usual.supportsLogin,
    supportsInteractive: flagIn(given, "supports_interactive") ?? usual.supportsInteractive,
    defaultArgs: textsIn(given, "default_args") ?? usual.defaultArgs,
    loginArgs: textsIn(given, "login_args") ?? usual.loginArgs,
    source: SHELL_SOURCES.find((source) => source === given["source"]) ?? "host",
  });
}

/** Undefined also for what is longer than any path. */
export function textIn(given: JsonObject, key: string): string | undefined {
  const value = given[key];
  return isText(value) && value !== "" ? value : undefined;
}

export function flagIn(given: JsonObject, key: string): boolean | undefined {
  const value = given[key];
  return typeof value === "boolean" ? value : undefined;
}

function textsIn(given: JsonObject, key: string): readonly string[] | undefined {
  const value = given[key];
  if (!Array.isArray(value) || value.length > MOST_ARGS) return undefined;
  return value.every(isText) ? value : undefined;
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === "string" && value.length <= MOST_CHARACTERS;
}

const MOST_CHARACTERS = 4096;
const MOST_ARGS = 64;
