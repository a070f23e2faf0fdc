import type { JsonObject, JsonValue } from "../../../data/json.ts";
import { readObject, readObjects, readString } from "../json-fields.ts";

/** The modes that a session can be in. */
export interface SessionModes {
  readonly current: string;
  readonly available: readonly AvailableMode[];
}

export interface AvailableMode {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
}

/** Something of a session that can be set, by its id, with `setOption`. */
export type ConfigOption = OptionBase &
  (
    | {
        readonly type: "select";
        readonly value: string;
        readonly choices: readonly ConfigChoice[];
      }
    | { readonly type: "boolean"; readonly value: boolean }
    /** Of a kind that a later version has: all of it as it came. */
    | { readonly type: "other"; readonly fields: JsonObject }
  );

export interface OptionBase {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  /** What it is about, such as `mode` or `model`, where the agent says so. */
  readonly category: string | null;
}

export interface ConfigChoice {
  readonly value: string;
  readonly name: string;
  readonly description: string | null;
  /** The name of the group that it stands in. */
  readonly group: string | null;
}

/** Null where an agent has none. What cannot be named is left out. */
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

/** They come by themselves, or in groups. */
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
    // A group in a group is none of ACP's.
    if (group !== null) return [];
    return readConfigChoices(item["options"], readString(name) ?? readString(item["group"]) ?? "");
  });
}
