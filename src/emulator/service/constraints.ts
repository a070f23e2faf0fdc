import { isObject, type JsonObject, type JsonValue } from "../../data/json.ts";
import { createValidationError, type Violation } from "./validation-error.ts";

export interface TextRule {
  readonly min?: number;
  readonly max?: number;
  /** Of all of the text, as the service's model has it. */
  readonly pattern?: string;
}

export interface NumberRule {
  readonly min?: number;
  readonly max?: number;
}

/** A member of a request; absent and null are the same. */
export type Member = JsonValue | undefined;

/**
 * What is wrong with a request, in the words of the service's own checks, collected so that much of it is said at once. What
 * breaks a rule still reads as something; `check` then throws.
 */
export class Constraints {
  readonly #violations: Violation[] = [];

  /** `rule` continues the sentence "Member must". Throws when there is enough to complain of: a request may have millions. */
  refuse(path: string, value: Member, rule: string): void {
    const name = path.length <= MAX_NAME_LENGTH ? path : `${path.slice(0, MAX_NAME_LENGTH)}…`;
    const message = `${describeValue(value)} at '${name}' failed to satisfy constraint: Member must ${rule}`;
    this.#violations.push({ name, message });
    if (this.#violations.length === MAX_VIOLATIONS) this.throwIfInvalid();
  }

  /** Throws when anything was refused. */
  throwIfInvalid(): void {
    const count = this.#violations.length;
    if (count === 0) return;
    const sentences = this.#violations.map(({ message }) => message);
    if (count === MAX_VIOLATIONS) sentences.push("the rest was not looked at");
    const errors = `${count} validation error${count === 1 ? "" : "s"} detected`;
    const text = `${errors}: ${sentences.join("; ")}`;
    throw createValidationError(text, "FieldValidationFailed", this.#violations);
  }

  readText(
    path: string,
    value: Member,
    { min = 0, max = Infinity, pattern }: TextRule = {},
  ): string {
    if (typeof value !== "string") {
      this.#refuseType(path, value, "be a string");
      return "";
    }
    if (value.length < min) {
      this.refuse(path, value, `have length greater than or equal to ${min}`);
    }
    if (value.length > max) this.refuse(path, value, `have length less than or equal to ${max}`);
    if (pattern !== undefined && !new RegExp(`^(?:${pattern})$`).test(value)) {
      this.refuse(path, value, `satisfy regular expression pattern: ${pattern}`);
    }
    return value;
  }

  readChoice<Word extends string>(
    path: string,
    value: Member,
    words: readonly [Word, ...Word[]],
  ): Word {
    const word = words.find((one) => one === value);
    if (word !== undefined) return word;
    this.#refuseType(path, value, `satisfy enum value set: [${words.join(", ")}]`);
    return words[0];
  }

  readWholeNumber(path: string, value: Member, rule: NumberRule = {}): number {
    const { min = -Infinity, max = Infinity } = rule;
    if (typeof value !== "number" || !Number.isInteger(value)) {
      this.#refuseType(path, value, "be an integer");
      return 0;
    }
    if (value < min) this.refuse(path, value, `have value greater than or equal to ${min}`);
    if (value > max) this.refuse(path, value, `have value less than or equal to ${max}`);
    return value;
  }

  /** A list that is too long reads as an empty one: nobody looks at its entries. */
  readList(path: string, value: Member): readonly JsonValue[] {
    if (!isList(value)) this.#refuseType(path, value, "be a list");
    else if (value.length <= MAX_LIST_LENGTH) return value;
    else this.refuse(path, value, `have length less than or equal to ${MAX_LIST_LENGTH}`);
    return [];
  }

  readStructure(path: string, value: Member): JsonObject {
    if (isStructure(value)) return value;
    this.#refuseType(path, value, "be a structure");
    return {};
  }

  /** The one member of a union that is set. Any will do where the members are not given. */
  readUnion(
    path: string,
    value: Member,
    members?: readonly string[],
  ): readonly [string, JsonValue] | null {
    const set = Object.entries(this.readStructure(path, value)).filter(
      ([, member]) => member !== null,
    );
    const [one] = set;
    const isOne = set.length === 1 && one !== undefined && members?.includes(one[0]) !== false;
    if (isOne) return one;
    const which = members === undefined ? "member" : `of the members [${members.join(", ")}]`;
    if (isStructure(value)) this.refuse(path, value, `have exactly one ${which} set`);
    return null;
  }

  #refuseType(path: string, value: Member, rule: string): void {
    this.refuse(path, value, isAbsent(value) ? "not be null" : rule);
  }
}

const MAX_VIOLATIONS = 20;

/** No conversation and no configuration comes near it. */
const MAX_LIST_LENGTH = 10_000;

/** A name holds what a client chose, such as the key of a map. */
const MAX_NAME_LENGTH = 300;

const MAX_VALUE_LENGTH = 100;

/** What is long, or no plain value, is not repeated. */
function describeValue(value: Member): string {
  if (isAbsent(value)) return "Value null";
  if (typeof value === "object") return "Value";
  const text = String(value);
  return text.length <= MAX_VALUE_LENGTH ? `Value '${text}'` : "Value";
}

export function isAbsent(value: Member): value is null | undefined {
  return value === undefined || value === null;
}

function isList(value: Member): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function isStructure(value: Member): value is JsonObject {
  return isObject(value);
}
