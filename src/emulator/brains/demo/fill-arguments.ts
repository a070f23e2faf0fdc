import { isObject, type JsonObject, type JsonValue } from "../../../domain/json.ts";
import type { Heard } from "./heard.ts";
import { wordsIn } from "./words.ts";

/**
 * Arguments for a tool, from its schema and what the prompt offers: what is required always, and first; the rest where the
 * prompt speaks of it. Only the first properties of a very large schema are filled.
 */
export function fillArguments(schema: JsonValue, prompt: Heard): JsonObject {
  return filledObject(schema, new Prompt(prompt));
}

function filledObject(schema: JsonValue, prompt: Prompt): JsonObject {
  const { properties, required } = isObject(schema) ? schema : {};
  if (!isObject(properties)) return {};
  const needed = new Set(Array.isArray(required) ? required : []);
  const all = Object.entries(properties).map(([name, property]) => ({
    name,
    schema: isObject(property) ? property : {},
    isNeeded: needed.has(name),
    // A schema that insists on nothing may mean any of it.
    isMeant: needed.has(name) || needed.size === 0 || prompt.says(name),
    prompt,
  }));
  // What may be left out takes nothing away from what is needed.
  const inTurn = [...all.filter((one) => one.isNeeded), ...all.filter((one) => !one.isNeeded)];
  return Object.fromEntries(
    inTurn.flatMap((one) => {
      if (!prompt.fillsOneMore()) return [];
      const value = filled(one) ?? (one.isNeeded ? standIn(one) : undefined);
      return value === undefined ? [] : [[one.name, value]];
    }),
  );
}

/** Of a tool, those of nested objects included. */
export const FILLED_PROPERTIES = 200;

/** Of an enum. */
const READ_CHOICES = 1000;

/** Of a property's name. */
const READ_NAME = 100;

interface Wanted {
  readonly name: string;
  readonly schema: { readonly [name: string]: unknown };
  readonly isNeeded: boolean;
  readonly isMeant: boolean;
  readonly prompt: Prompt;
}

/** Undefined when the prompt says nothing of it. */
function filled(wanted: Wanted): JsonValue | undefined {
  const { name, schema, isMeant, prompt } = wanted;
  const { type, default: usual, enum: choices } = schema;
  if (Array.isArray(choices)) return prompt.oneOf(choices) ?? (usual as JsonValue | undefined);
  switch (type) {
    case "integer":
    case "number":
      return (
        (isMeant ? prompt.number(type === "integer") : undefined) ??
        (usual as JsonValue | undefined)
      );
    case "boolean":
      return prompt.says(name) ? true : (usual as JsonValue | undefined);
    case "array": {
      const items = isObject(schema["items"]) ? schema["items"] : {};
      const item = filled({ ...wanted, schema: items });
      return item === undefined ? (usual as JsonValue | undefined) : [item];
    }
    case "object": {
      const inner = filledObject(schema as JsonValue, prompt);
      return Object.keys(inner).length > 0 ? inner : (usual as JsonValue | undefined);
    }
    default:
      return (
        prompt.text(wordsIn(name.slice(0, READ_NAME)), isMeant) ?? (usual as JsonValue | undefined)
      );
  }
}

/** Something of the right type, for what a tool insists on. */
function standIn({ schema, prompt }: Wanted): JsonValue {
  const { type, enum: choices, minimum } = schema;
  if (Array.isArray(choices)) return choices[0] as JsonValue;
  if (type === "integer" || type === "number") return typeof minimum === "number" ? minimum : 1;
  if (type === "boolean") return false;
  if (type === "array") return [];
  if (type === "object") return {};
  return prompt.rest();
}

/** A prompt that gives each of its parts away once. */
class Prompt {
  readonly #whole: string;
  readonly #lower: string;
  readonly #said: ReadonlySet<string>;
  readonly #denied: readonly Denied[];
  readonly #quoted: string[];
  readonly #numbers: string[];
  #properties = 0;

  constructor({ text: whole, words }: Heard) {
    this.#whole = whole;
    this.#lower = whole.toLowerCase();
    this.#said = words;
    this.#denied = [...this.#lower.matchAll(DENIED)].map(([, next = "", second = ""]) => ({
      next,
      second,
    }));
    this.#quoted = [
      ...whole.matchAll(/"([^"]+)"|`([^`]+)`|“([^“”]+)”|(?<!\w)'([^']+)'(?!\w)/g),
    ].map((match) => match.slice(1).find((part) => part !== undefined) ?? "");
    const unquoted = whole.replaceAll(/"[^"]*"|`[^`]*`/g, " ");
    this.#numbers = unquoted.match(/(?<![\p{L}\p{N}_])-?\d+(?:\.\d+)?/gu) ?? [];
  }

  /** Counts the properties, so that a schema of any size ends. */
  fillsOneMore(): boolean {
    this.#properties += 1;
    return this.#properties <= FILLED_PROPERTIES;
  }

  number(isWhole: boolean): number | undefined {
    const at = this.#numbers.findIndex((number) => !isWhole || !number.includes("."));
    const [number] = at === -1 ? [] : this.#numbers.splice(at, 1);
    return number === undefined ? undefined : Number(number);
  }

  oneOf(choices: readonly unknown[]): JsonValue | undefined {
    const found = choices.slice(0, READ_CHOICES).find((choice) => {
      const words = isPlain(choice) ? wordsIn(String(choice)) : [];
      return words.length > 0 && words.every((word) => this.#said.has(word));
    });
    return found as JsonValue | undefined;
  }

  says(name: string): boolean {
    const words = wordsIn(name.slice(0, READ_NAME));
    const [first] = words;
    if (first === undefined || !words.some((word) => this.#said.has(word))) return false;
    return !this.#denied.some(
      ({ next, second }) => next.includes(first) || second.startsWith(first),
    );
  }

  /** What is not meant for certain is taken only where it cannot be anything else. */
  text(names: readonly string[], isMeant: boolean): string | undefined {
    for (const { meant, pattern, isSure = false } of SHAPES) {
      if (!isMeant && !isSure) continue;
      if (!names.some((name) => meant.includes(name))) continue;
      const match = pattern.exec(this.#whole);
      const found = match?.[1] ?? match?.[0];
      if (found !== undefined) return trimmed(found);
    }
    if (!isMeant) return undefined;
    const quoted = this.#quoted.shift();
    if (quoted !== undefined) return quoted;
    return this.#after(names);
  }

  /** "city Paris", "title: Lunch", "the id is 7". */
  #after(names: readonly string[]): string | undefined {
    for (const name of names) {
      if (!this.#lower.includes(name)) continue;
      const pattern = new RegExp(`\\b${name}\\w*(?:\\s*(?:is|=|:))?\\s+([\\p{L}\\p{N}_-]+)`, "iu");
      const found = pattern.exec(this.#whole)?.[1];
      if (found !== undefined && wordsIn(found).length > 0) return found;
    }
    return undefined;
  }

  /** What follows the verb; all of it where there is none. */
  rest(): string {
    const match =
      /^(?:please\s+|can you\s+|could you\s+|would you\s+)*\w+\s+(?:the\s+|a\s+|an\s+|for\s+|me\s+)*(.+)$/is.exec(
        this.#whole.trim(),
      );
    return trimmed(match?.[1] ?? this.#whole) || this.#whole;
  }
}

/** What a prompt can say; an object may not even have a text. */
function isPlain(value: unknown): value is string | number | boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}

function trimmed(text: string): string {
  return text.trim().replace(/(?<![.?!,;:])[.?!,;:]+$/, "");
}

/** The two words behind a denial: "no preview", "without a preview". */
interface Denied {
  readonly next: string;
  readonly second: string;
}

const DENIED = /\b(?:not|no|without)\s+(?=([\p{L}\p{N}_]+)(?:\s+([\p{L}\p{N}_]+))?)/gu;

/**
 * What arguments of some names look like. Names are stems. A pattern that begins with a run of characters only begins where
 * the run does: tried from within it too, a long word would take the square of its length.
 */
const SHAPES: readonly Shape[] = [
  { meant: stems("url link address uri"), pattern: /https?:\/\/\S+/, isSure: true },
  {
    meant: stems("email mail recipient"),
    pattern: /(?<![^\s@])[^\s@]+@[^\s@]+\.\w+/,
    isSure: true,
  },
  {
    meant: stems("path file filename folder directory"),
    pattern: /(?<![\w:/.-])(?:[\w.-]*\/[\w./-]+|[\w-]+\.[a-z][a-z0-9]{0,4})\b/i,
    isSure: true,
  },
  {
    meant: stems("date day when"),
    pattern: /\d{4}-\d{2}-\d{2}|\btoday\b|\btomorrow\b|\byesterday\b/i,
    isSure: true,
  },
  {
    meant: stems("order ticket id reference number"),
    pattern: /\b[A-Z]+-?\d+\b|#\d+/,
    isSure: true,
  },
  {
    meant: stems("city location place town country region where"),
    pattern: /\b(?:in|at|for|of|from|to)\s+(\p{Lu}[\p{L}'-]*(?:\s+\p{Lu}[\p{L}'-]*)*)/u,
  },
  { meant: stems("command script shell"), pattern: /\b(?:run|execute)\s+["'`]?([^"'`]+)/i },
  {
    meant: stems("content text body message note"),
    pattern: /(?:\bsay(?:ing|s)?|\bthat|\bwith(?: the text)?|:)\s+["'`“]?([^"'`”]+)/i,
  },
  { meant: stems("recipient person user to"), pattern: /\bto\s+(\p{Lu}\p{L}+)/u },
  { meant: stems("name title"), pattern: /\b(?:named|called|titled)\s+["'`]?([\p{L}\p{N} _-]+)/iu },
  {
    meant: stems("query search phrase topic term keyword question"),
    pattern: /\b(?:for|about|up|on)\s+(.+)$/is,
  },
];

interface Shape {
  readonly meant: readonly string[];
  readonly pattern: RegExp;
  /** Nothing else looks like it. */
  readonly isSure?: boolean;
}

function stems(names: string): string[] {
  return names.split(" ").flatMap((name) => [name, ...wordsIn(name)]);
}
