import type { JsonObject, JsonValue } from "../../../domain/json.ts";
import { fieldsOf, objectsOf, textOf } from "../fields.ts";

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
export type ConfigOption = NamedOption &
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

export interface NamedOption {
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
export function readModes(modes: JsonValue | undefined): SessionModes | null {
  const { currentModeId, availableModes } = fieldsOf(modes);
  const current = textOf(currentModeId);
  if (current === undefined) return null;
  const available = objectsOf(availableModes).flatMap(({ id, name, description }) =>
    typeof id === "string"
      ? [{ id, name: textOf(name) ?? id, description: textOf(description) ?? null }]
      : [],
  );
  return { current, available };
}

export function readOptions(options: JsonValue | undefined): readonly ConfigOption[] {
  return objectsOf(options).flatMap((one) => readOption(one) ?? []);
}

function readOption(fields: JsonObject): ConfigOption | undefined {
  const { id, name, description, category, type, currentValue, options } = fields;
  if (typeof id !== "string") return undefined;
  const named: NamedOption = {
    id,
    name: textOf(name) ?? id,
    description: textOf(description) ?? null,
    category: textOf(category) ?? null,
  };
  if (type === "select" && typeof currentValue === "string") {
    return { ...named, type, value: currentValue, choices: readChoices(options, null) };
  }
  if (type === "boolean" && typeof currentValue === "boolean") {
    return { ...named, type, value: currentValue };
  }
  return { ...named, type: "other", fields };
}

/** They come by themselves, or in groups. */
function readChoices(
  options: JsonValue | undefined,
  group: string | null,
): readonly ConfigChoice[] {
  return objectsOf(options).flatMap((one): readonly ConfigChoice[] => {
    const { value, name, description } = one;
    if (typeof value === "string") {
      const words = { name: textOf(name) ?? value, description: textOf(description) ?? null };
      return [{ value, ...words, group }];
    }
    // A group in a group is none of ACP's.
    if (group !== null) return [];
    return readChoices(one["options"], textOf(name) ?? textOf(one["group"]) ?? "");
  });
}
