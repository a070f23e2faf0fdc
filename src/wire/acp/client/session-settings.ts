import type { JsonObject, JsonValue } from "../../../data/json.ts";
import { readObject, readObjects, readString } from "../json-fields.ts";

/** The modes of a session. `current` is the id of an available mode. */
export interface SessionModes {
  readonly current: string;
  readonly available: readonly AvailableMode[];
}

export interface AvailableMode {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
}

/** A config option of a session. Change it with `setOption` and its id. */
export type ConfigOption = OptionBase &
  (
    | {
        readonly type: "select";
        readonly value: string;
        readonly choices: readonly ConfigChoice[];
      }
    | { readonly type: "boolean"; readonly value: boolean }
    /** An option type of a later ACP version, with its raw fields. */
    | { readonly type: "other"; readonly fields: JsonObject }
  );

export interface OptionBase {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  /** The category of the option, such as `mode` or `model`. Null if the agent does not set it. */
  readonly category: string | null;
}

export interface ConfigChoice {
  readonly value: string;
  readonly name: string;
  readonly description: string | null;
  /** The name of the choice's group. Null outside a group. */
  readonly group: string | null;
}

/** Reads the modes. Null if the agent has none. Entries without an id are dropped. */
export function readSessionModes(modes: JsonValue | undefined): SessionModes | null {
  const { currentModeId, availableModes } = readObject(modes);
  const current = readString(currentModeId);
  if (current === undefined) return null;
  const available = readObjects(availableModes).flatMap(({ id, name, description }) =>
    typeof id === "string"
      ? [{ id, name: readString(name) ?? id, description: readString(description) ?? null }]
      : [],
  );
  return { current, available };
}

export function readConfigOptions(options: JsonValue | undefined): readonly ConfigOption[] {
  return readObjects(options).flatMap((item) => readConfigOption(item) ?? []);
}

function readConfigOption(fields: JsonObject): ConfigOption | undefined {
  const { id, name, description, category, type, currentValue, options } = fields;
  if (typeof id !== "string") return undefined;
  const named: OptionBase = {
    id,
    name: readString(name) ?? id,
    description: readString(description) ?? null,
    category: readString(category) ?? null,
  };
  if (type === "select" && typeof currentValue === "string") {
    return { ...named, type, value: currentValue, choices: readConfigChoices(options, null) };
  }
  if (type === "boolean" && typeof currentValue === "boolean") {
    return { ...named, type, value: currentValue };
  }
  return { ...named, type: "other", fields };
}

/** Reads choices, which may be grouped. */
function readConfigChoices(
  options: JsonValue | undefined,
  group: string | null,
): readonly ConfigChoice[] {
  return readObjects(options).flatMap((item): readonly ConfigChoice[] => {
    const { value, name, description } = item;
    if (typeof value === "string") {
      const words = {
        name: readString(name) ?? value,
        description: readString(description) ?? null,
      };
      return [{ value, ...words, group }];
    }
    // ACP has no nested groups.
    if (group !== null) return [];
    return readConfigChoices(item["options"], readString(name) ?? readString(item["group"]) ?? "");
  });
}
