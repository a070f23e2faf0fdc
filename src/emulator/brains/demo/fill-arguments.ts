import { isObject, type JsonObject, type JsonValue } from "../../../data/json.ts";
import type { DemoPrompt } from "./demo-prompt.ts";
import { extractWords } from "./extract-words.ts";

/**
 * Creates tool arguments from a schema and a prompt. Required properties come first and are always filled; optional
 * properties are filled if the prompt mentions them. Only the first 200 properties of a schema are filled.
 */
export function fillArguments(schema: JsonValue, prompt: DemoPrompt): JsonObject {
  return fillObject(schema, new PromptParts(prompt));
}

function fillObject(schema: JsonValue, prompt: PromptParts): JsonObject {
  const { properties, required } = isObject(schema) ? schema : {};
  if (!isObject(properties)) return {};
  const needed = new Set(Array.isArray(required) ? required : []);
  const candidates = Object.entries(properties).map(([name, property]) => ({
    name,
    schema: isObject(property) ? property : {},
    isRequired: needed.has(name),
    // A schema without required properties may expect any of them.
    isMentioned: needed.has(name) || needed.size === 0 || prompt.mentions(name),
    prompt,
  }));
  // Required properties first, so optional properties do not use up parts of the prompt.
  const ordered = [
    ...candidates.filter((property) => property.isRequired),
    ...candidates.filter((property) => !property.isRequired),
  ];
  return Object.fromEntries(
    ordered.flatMap((property) => {
      if (!prompt.countProperty()) return [];
      const value =
        fillValue(property) ?? (property.isRequired ? createPlaceholder(property) : undefined);
      return value === undefined ? [] : [[property.name, value]];
    }),
  );
}

/** Properties per tool, including nested objects. */
export const MAX_FILLED_PROPERTIES = 200;

/** Choices per enum. */
const MAX_CHOICES = 1000;

/** Characters per property name. */
const MAX_NAME_LENGTH = 100;

interface PropertyRequest {
  readonly name: string;
  readonly schema: { readonly [name: string]: unknown };
  readonly isRequired: boolean;
  readonly isMentioned: boolean;
  readonly prompt: PromptParts;
}

/** Undefined if the prompt has no value for the property. */
function fillValue(request: PropertyRequest): JsonValue | undefined {
  const { name, schema, isMentioned, prompt } = request;
  const { type, default: defaultValue, enum: choices } = schema;
  if (Array.isArray(choices))
    return prompt.findChoice(choices) ?? (defaultValue as JsonValue | undefined);
  switch (type) {
    case "integer":
    case "number":
      return (
        (isMentioned ? prompt.takeNumber(type === "integer") : undefined) ??
        (defaultValue as JsonValue | undefined)
      );
    case "boolean":
      return prompt.mentions(name) ? true : (defaultValue as JsonValue | undefined);
    case "array": {
      const items = isObject(schema["items"]) ? schema["items"] : {};
      const item = fillValue({ ...request, schema: items });
      return item === undefined ? (defaultValue as JsonValue | undefined) : [item];
    }
    case "object": {
      const inner = fillObject(schema as JsonValue, prompt);
      return Object.keys(inner).length > 0 ? inner : (defaultValue as JsonValue | undefined);
    }
    default:
      return (
        prompt.takeText(extractWords(name.slice(0, MAX_NAME_LENGTH)), isMentioned) ??
        (defaultValue as JsonValue | undefined)
      );
  }
}

/** A value of the right type for a required property. */
function createPlaceholder({ schema, prompt }: PropertyRequest): JsonValue {
  const { type, enum: choices, minimum } = schema;
  if (Array.isArray(choices)) return choices[0] as JsonValue;
  if (type === "integer" || type === "number") return typeof minimum === "number" ? minimum : 1;
  if (type === "boolean") return false;
  if (type === "array") return [];
  if (type === "object") return {};
  return prompt.readObjectText();
}

/** The parts of a prompt. Each number and each quoted text is used only once. */
class PromptParts {
  readonly #whole: string;
  readonly #lower: string;
  readonly #said: ReadonlySet<string>;
  readonly #denied: readonly NegatedWords[];
  readonly #quoted: string[];
  readonly #numbers: string[];
  #properties = 0;

  constructor({ text: whole, words }: DemoPrompt) {
    this.#whole = whole;
    this.#lower = whole.toLowerCase();
    this.#said = words;
    this.#denied = [...this.#lower.matchAll(NEGATION_PATTERN)].map(
      ([, next = "", second = ""]) => ({
        next,
        second,
      }),
    );
    this.#quoted = [
      ...whole.matchAll(/"([^"]+)"|`([^`]+)`|“([^“”]+)”|(?<!\w)'([^']+)'(?!\w)/g),
    ].map((match) => match.slice(1).find((part) => part !== undefined) ?? "");
    const unquoted = whole.replaceAll(/"[^"]*"|`[^`]*`/g, " ");
    this.#numbers = unquoted.match(/(?<![\p{L}\p{N}_])-?\d+(?:\.\d+)?/gu) ?? [];
  }

  /** Counts the properties. False above the limit, so a schema of any size ends. */
  countProperty(): boolean {
    this.#properties += 1;
    return this.#properties <= MAX_FILLED_PROPERTIES;
  }

  takeNumber(isWhole: boolean): number | undefined {
    const at = this.#numbers.findIndex((number) => !isWhole || !number.includes("."));
    const [number] = at === -1 ? [] : this.#numbers.splice(at, 1);
    return number === undefined ? undefined : Number(number);
  }

  findChoice(choices: readonly unknown[]): JsonValue | undefined {
    const found = choices.slice(0, MAX_CHOICES).find((choice) => {
      const words = isPrimitive(choice) ? extractWords(String(choice)) : [];
      return words.length > 0 && words.every((word) => this.#said.has(word));
    });
    return found as JsonValue | undefined;
  }

  mentions(name: string): boolean {
    const words = extractWords(name.slice(0, MAX_NAME_LENGTH));
    const [first] = words;
    if (first === undefined || !words.some((word) => this.#said.has(word))) return false;
    return !this.#denied.some(
      ({ next, second }) => next.includes(first) || second.startsWith(first),
    );
  }

  /**
   * Takes a value for a string property. If the property is not mentioned (`isMeant` is false), only an unambiguous
   * pattern such as a URL is used.
   */
  takeText(names: readonly string[], isMeant: boolean): string | undefined {
    for (const { names: meant, pattern, isUnambiguous = false } of ARGUMENT_SHAPES) {
      if (!isMeant && !isUnambiguous) continue;
      if (!names.some((name) => meant.includes(name))) continue;
      const match = pattern.exec(this.#whole);
      const found = match?.[1] ?? match?.[0];
      if (found !== undefined) return trimPunctuation(found);
    }
    if (!isMeant) return undefined;
    const quoted = this.#quoted.shift();
    if (quoted !== undefined) return quoted;
    return this.#after(names);
  }

  /** Finds the value after a name: "city Paris", "title: Lunch", "the id is 7". */
  #after(names: readonly string[]): string | undefined {
    for (const name of names) {
      if (!this.#lower.includes(name)) continue;
      const pattern = new RegExp(`\\b${name}\\w*(?:\\s*(?:is|=|:))?\\s+([\\p{L}\\p{N}_-]+)`, "iu");
      const found = pattern.exec(this.#whole)?.[1];
      if (found !== undefined && extractWords(found).length > 0) return found;
    }
    return undefined;
  }

  /** The text after the verb. The whole prompt if no verb is found. */
  readObjectText(): string {
    const match =
      /^(?:please\s+|can you\s+|could you\s+|would you\s+)*\w+\s+(?:the\s+|a\s+|an\s+|for\s+|me\s+)*(.+)$/is.exec(
        this.#whole.trim(),
      );
    return trimPunctuation(match?.[1] ?? this.#whole) || this.#whole;
  }
}

/** True for values which can occur in a prompt. Objects are excluded: converting them to a string may throw. */
function isPrimitive(value: unknown): value is string | number | boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}

function trimPunctuation(text: string): string {
  return text.trim().replace(/(?<![.?!,;:])[.?!,;:]+$/, "");
}

/** The two words after a negation: "no preview", "without a preview". */
interface NegatedWords {
  readonly next: string;
  readonly second: string;
}

const NEGATION_PATTERN = /\b(?:not|no|without)\s+(?=([\p{L}\p{N}_]+)(?:\s+([\p{L}\p{N}_]+))?)/gu;

/**
 * Patterns for the values of well-known argument names. Names are stems. A pattern for a run of characters may match
 * only at the start of the run: otherwise a long word would take quadratic time.
 */
const ARGUMENT_SHAPES: readonly ArgumentShape[] = [
  { names: listStems("url link address uri"), pattern: /https?:\/\/\S+/, isUnambiguous: true },
  {
    names: listStems("email mail recipient"),
    pattern: /(?<![^\s@])[^\s@]+@[^\s@]+\.\w+/,
    isUnambiguous: true,
  },
  {
    names: listStems("path file filename folder directory"),
    pattern: /(?<![\w:/.-])(?:[\w.-]*\/[\w./-]+|[\w-]+\.[a-z][a-z0-9]{0,4})\b/i,
    isUnambiguous: true,
  },
  {
    names: listStems("date day when"),
    pattern: /\d{4}-\d{2}-\d{2}|\btoday\b|\btomorrow\b|\byesterday\b/i,
    isUnambiguous: true,
  },
  {
    names: listStems("order ticket id reference number"),
    pattern: /\b[A-Z]+-?\d+\b|#\d+/,
    isUnambiguous: true,
  },
  {
    names: listStems("city location place town country region where"),
    pattern: /\b(?:in|at|for|of|from|to)\s+(\p{Lu}[\p{L}'-]*(?:\s+\p{Lu}[\p{L}'-]*)*)/u,
  },
  { names: listStems("command script shell"), pattern: /\b(?:run|execute)\s+["'`]?([^"'`]+)/i },
  {
    names: listStems("content text body message note"),
    pattern: /(?:\bsay(?:ing|s)?|\bthat|\bwith(?: the text)?|:)\s+["'`“]?([^"'`”]+)/i,
  },
  { names: listStems("recipient person user to"), pattern: /\bto\s+(\p{Lu}\p{L}+)/u },
  {
    names: listStems("name title"),
    pattern: /\b(?:named|called|titled)\s+["'`]?([\p{L}\p{N} _-]+)/iu,
  },
  {
    names: listStems("query search phrase topic term keyword question"),
    pattern: /\b(?:for|about|up|on)\s+(.+)$/is,
  },
];

interface ArgumentShape {
  readonly names: readonly string[];
  readonly pattern: RegExp;
  /** True if no other kind of value matches the pattern. */
  readonly isUnambiguous?: boolean;
}

function listStems(names: string): string[] {
  return names.split(" ").flatMap((name) => [name, ...extractWords(name)]);
}
