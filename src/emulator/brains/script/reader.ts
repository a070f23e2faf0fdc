import { SpanlineError } from "../../../domain/errors.ts";
import {
  isObject,
  jsonText,
  parseJson,
  type JsonObject,
  type JsonValue,
} from "../../../domain/json.ts";
import { isHeaderText } from "../../../http/answer-limits.ts";

/** A place in a scenario. What is wrong there is said with the file and the path. */
export class Spot {
  readonly #file: string;
  readonly #path: string;
  readonly value: unknown;

  constructor(file: string, value: unknown, path = "") {
    this.#file = file;
    this.#path = path;
    this.value = value;
  }

  get isGiven(): boolean {
    return this.value !== undefined && this.value !== null;
  }

  refuse(wanted: string): never {
    const found = this.isGiven ? shortened(jsonText(this.value)) : "nothing";
    const place = this.#path === "" ? "the scenario" : this.#path;
    throw new SpanlineError(
      "invalid_option",
      `${this.#file}: ${place}: found ${found}, wanted ${wanted}`,
    );
  }

  /** A member of the object here. */
  at(name: string): Spot {
    const value = isObject(this.value) ? this.value[name] : undefined;
    return new Spot(this.#file, value, this.#path === "" ? name : `${this.#path}.${name}`);
  }

  /** Refuses names that mean nothing here: they are slips of the pen. */
  object(names: readonly string[]): { readonly [name: string]: unknown } {
    if (!isObject(this.value)) this.refuse(`an object with some of ${names.join(", ")}`);
    for (const name of Object.keys(this.value)) {
      if (!names.includes(name)) {
        const place = new Spot(this.#file, name, this.#path);
        place.refuse(`one of the names ${names.join(", ")}`);
      }
    }
    return this.value;
  }

  list(): Spot[] {
    if (!Array.isArray(this.value)) this.refuse("a list");
    return this.value.map((entry, at) => new Spot(this.#file, entry, `${this.#path}[${at}]`));
  }

  text(): string {
    return typeof this.value === "string" ? this.value : this.refuse("text");
  }

  optionalText(): string | undefined {
    return this.isGiven ? this.text() : undefined;
  }

  /** Of an HTTP header. */
  headerText(): string {
    const text = this.text();
    return isHeaderText(text) ? text : this.refuse("text that an HTTP header can carry: one line");
  }

  wholeNumber({ least = 0, most = Number.MAX_SAFE_INTEGER }: Bounds = {}): number {
    const { value } = this;
    const isWhole = typeof value === "number" && Number.isSafeInteger(value);
    if (isWhole && value >= least && value <= most) return value;
    const end = most === Number.MAX_SAFE_INTEGER ? "on" : `to ${most}`;
    return this.refuse(`a whole number from ${least} ${end}`);
  }

  /** Whatever is here, as JSON has it. */
  json(): JsonValue {
    const parsed = parseJson(jsonText(this.value));
    return parsed.ok ? parsed.value : this.refuse(`JSON (${parsed.reason})`);
  }

  /** The members of an object, whatever they are; none where nothing is here. */
  members(): JsonObject {
    const value = this.isGiven ? this.json() : {};
    return isObject(value) ? value : this.refuse("an object");
  }

  isOn(): boolean {
    if (!this.isGiven) return false;
    return typeof this.value === "boolean" ? this.value : this.refuse("true or false");
  }

  oneOf<const Word extends string>(words: readonly Word[]): Word {
    return words.find((word) => word === this.value) ?? this.refuse(`one of ${words.join(", ")}`);
  }

  /** A number, or two between which the seed picks one. */
  amount(bounds: Bounds = {}): Amount {
    if (!Array.isArray(this.value)) return this.wholeNumber(bounds);
    const [least, most, ...rest] = this.list().map((spot) => spot.wholeNumber(bounds));
    const isPair = least !== undefined && most !== undefined && rest.length === 0 && least <= most;
    return isPair ? [least, most] : this.refuse("a number, or a list of the least and the most");
  }
}

interface Bounds {
  readonly least?: number;
  readonly most?: number;
}

export type Amount = number | readonly [least: number, most: number];

function shortened(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 77)}...`;
}
