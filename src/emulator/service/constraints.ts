import { isObject, type JsonObject, type JsonValue } from "../../data/json.ts";
import { createValidationError, type Violation } from "./validation-error.ts";

export interface TextRule {
  readonly min?: number;
  readonly max?: number;
  /** Must match the whole text, like in the service model. */
  readonly pattern?: string;
}

export interface NumberRule {
  readonly min?: number;
  readonly max?: number;
}

/** A member of a request. Absent and null are the same. */
export type Member = JsonValue | undefined;

/**
 * Collects violations of the service model, so a single error reports several of them. The messages are those of the
 * service. An invalid member is read as a default value; `throwIfInvalid` then throws.
 */
export class Constraints {
  readonly #violations: Violation[] = [];

  /**
   * Records a violation. `rule` completes "Member must". Throws at 20 violations, because a request may have millions.
   */
  refuse(path: string, value: Member, rule: string): void {
    const name = path.length <= MAX_NAME_LENGTH ? path : `${path.slice(0, MAX_NAME_LENGTH)}…`;
    const message = `${describeValue(value)} at '${name}' failed to satisfy constraint: Member must ${rule}`;
    this.#violations.push({ name, message });
    if (this.#violations.length === MAX_VIOLATIONS) this.throwIfInvalid();
  }

  /** Throws if there are violations. */
  throwIfInvalid(): void {
    const count = this.#violations.length;
    if (count === 0) return;
    const sentences = this.#violations.map(({ message }) => message);
    if (count === MAX_VIOLATIONS) sentences.push("the rest was not checked");
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

  /** Reads a list. A list over the limit is read as empty, so its entries are not checked. */
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

  /** The only set member of a union. Default: any member name is allowed. */
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

/** Far above any real conversation or configuration. */
const MAX_LIST_LENGTH = 10_000;

/** The name may contain text from the client, such as the key of a map. */
const MAX_NAME_LENGTH = 300;

const MAX_VALUE_LENGTH = 100;

/** Formats a value for a message. Long values and structures are left out. */
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
