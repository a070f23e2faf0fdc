import { isObject, type JsonObject, type JsonValue } from "../../../data/json.ts";
import { createShell } from "../../../domain/tools/create-shell.ts";
import { SHELL_SOURCES, type ShellList, type Shell } from "../../../domain/tools/shell.ts";
import { acceptValue, rejectValue, type ReadResult } from "./read-result.ts";

/** Encodes a shell with all fields, because hosts validate shells against a schema in which every field is required. */
export function encodeShell(shell: Shell): JsonObject {
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

/** Context for reading an incomplete shell. */
interface ShellHints {
  /** The program of the invocation, used as the path. */
  readonly program?: string;
  /** The shells of this host. A host may name a listed shell by its id alone. */
  readonly knownShells?: ShellList;
}

/** Reads a shell. Missing fields are derived from the path. */
export function readShell(
  value: JsonValue | undefined,
  { program, knownShells }: ShellHints = {},
): ReadResult<Shell> {
  if (!isObject(value)) return rejectValue("a shell is not an object");
  const shellId = readStringField(value, "id");
  const path = readStringField(value, "path") ?? program;
  if (path === undefined) {
    const knownShell = knownShells?.shells.find(({ id }) => id === shellId);
    return knownShell === undefined ? rejectValue("a shell has no path") : acceptValue(knownShell);
  }
  const platform = readStringField(value, "platform") ?? "unknown";
  const usual = createShell({ path, platform, source: "host", isAvailable: true });
  const id = shellId ?? usual.id;
  if (id === "") return rejectValue("a shell has no id");
  return acceptValue({
    id,
    label: readStringField(value, "label") ?? id,
    path,
    platform,
    isAvailable: value["available"] !== false,
    supportsLogin: readBooleanField(value, "supports_login") ?? usual.supportsLogin,
    supportsInteractive:
      readBooleanField(value, "supports_interactive") ?? usual.supportsInteractive,
    defaultArgs: readStringListField(value, "default_args") ?? usual.defaultArgs,
    loginArgs: readStringListField(value, "login_args") ?? usual.loginArgs,
    source: SHELL_SOURCES.find((source) => source === value["source"]) ?? "host",
  });
}

/** Returns undefined for an empty string and for a string of more than 4,096 characters. */
export function readStringField(fields: JsonObject, key: string): string | undefined {
  const value = fields[key];
  return isBoundedString(value) && value !== "" ? value : undefined;
}

export function readBooleanField(fields: JsonObject, key: string): boolean | undefined {
  const value = fields[key];
  return typeof value === "boolean" ? value : undefined;
}

function readStringListField(fields: JsonObject, key: string): readonly string[] | undefined {
  const value = fields[key];
  if (!Array.isArray(value) || value.length > MAX_ARGS) return undefined;
  return value.every(isBoundedString) ? value : undefined;
}

function isBoundedString(value: JsonValue | undefined): value is string {
  return typeof value === "string" && value.length <= MAX_STRING_LENGTH;
}

const MAX_STRING_LENGTH = 4096;
const MAX_ARGS = 64;
