import { SpanlineError } from "../../../domain/errors.ts";
import {
  isObject,
  toJsonText,
  parseJson,
  type JsonObject,
  type JsonValue,
} from "../../../data/json.ts";
import { isHeaderValue } from "../../../http/routing/response-limits.ts";
import { formatUnknownName } from "../../../text/unknown-name.ts";

/** A value in a scenario with its file and path, which are part of every error. */
export class ScenarioNode {
  readonly #file: string;
  readonly #path: string;
  readonly value: unknown;

  constructor(file: string, value: unknown, path = "") {
    this.#file = file;
    this.#path = path;
    this.value = value;
  }

  get isPresent(): boolean {
    return this.value !== undefined && this.value !== null;
  }

  refuse(expected: string): never {
    const location = this.#path === "" ? "scenario" : this.#path;
    const problem = this.isPresent
      ? `${shortenText(toJsonText(this.value))} is not a valid ${location}`
      : `${location} is missing`;
    throw new SpanlineError("invalid_option", `${this.#file}: ${problem}: expected ${expected}`);
  }

  /** A member of this object. Its value is undefined if absent. */
  member(name: string): ScenarioNode {
    const value = isObject(this.value) ? this.value[name] : undefined;
    return new ScenarioNode(this.#file, value, this.#path === "" ? name : `${this.#path}.${name}`);
  }

  /** Refuses unknown names, which are usually misspelt. */
  readObject(names: readonly string[]): { readonly [name: string]: unknown } {
    if (!isObject(this.value)) this.refuse(`an object with some of ${names.join(", ")}`);
    for (const name of Object.keys(this.value)) {
      if (!names.includes(name)) {
        const path = this.#path === "" ? name : `${this.#path}.${name}`;
        const problem = formatUnknownName("Key", name, { names, path });
        throw new SpanlineError("invalid_option", `${this.#file}: ${problem}`);
      }
    }
    return this.value;
  }

  readList(): ScenarioNode[] {
    if (!Array.isArray(this.value)) this.refuse("an array");
    return this.value.map(
      (entry, at) => new ScenarioNode(this.#file, entry, `${this.#path}[${at}]`),
    );
  }

  readText(): string {
    return typeof this.value === "string" ? this.value : this.refuse("a string");
  }

  readOptionalText(): string | undefined {
    return this.isPresent ? this.readText() : undefined;
  }

  /** A string that is valid as an HTTP header value. */
  readHeaderText(): string {
    const text = this.readText();
    return isHeaderValue(text)
      ? text
      : this.refuse("a string that an HTTP header can carry: one line");
  }

  readWholeNumber({ min = 0, max = Number.MAX_SAFE_INTEGER }: Bounds = {}): number {
    const { value } = this;
    const isWhole = typeof value === "number" && Number.isSafeInteger(value);
    if (isWhole && value >= min && value <= max) return value;
    const range = max === Number.MAX_SAFE_INTEGER ? `, at least ${min}` : ` from ${min} to ${max}`;
    return this.refuse(`a whole number${range}`);
  }

  /** Any value, converted to JSON. */
  readJson(): JsonValue {
    const parsed = parseJson(toJsonText(this.value));
    return parsed.ok ? parsed.value : this.refuse(`JSON (${parsed.reason})`);
  }

  /** The members of an object. Empty if the value is absent. */
  readMembers(): JsonObject {
    const value = this.isPresent ? this.readJson() : {};
    return isObject(value) ? value : this.refuse("an object");
  }

  readFlag(): boolean {
    if (!this.isPresent) return false;
    return typeof this.value === "boolean" ? this.value : this.refuse("true or false");
  }

  readChoice<const Word extends string>(words: readonly Word[]): Word {
    return words.find((word) => word === this.value) ?? this.refuse(`one of ${words.join(", ")}`);
  }

  /** A number, or a range from which the seed picks a number. */
  readAmount(bounds: Bounds = {}): Amount {
    if (!Array.isArray(this.value)) return this.readWholeNumber(bounds);
    const [min, max, ...rest] = this.readList().map((node) => node.readWholeNumber(bounds));
    const isPair = min !== undefined && max !== undefined && rest.length === 0 && min <= max;
    return isPair ? [min, max] : this.refuse("a number, or a list of the minimum and the maximum");
  }
}

interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

export type Amount = number | readonly [least: number, most: number];

function shortenText(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 77)}...`;
}
