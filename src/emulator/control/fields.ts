import { isObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import { ServiceError } from "../exchange.ts";

export interface TextRule {
  readonly pattern?: RegExp;
  readonly least?: number;
  readonly most?: number;
}

export interface NumberRule {
  readonly least: number;
  readonly most: number;
}

export interface TextsRule {
  readonly most: number;
  readonly name: TextRule;
  readonly value: TextRule;
}

interface Violation {
  readonly name: string;
  readonly message: string;
}

/** What breaks the rules of a request. The first violations are kept and the rest is counted, so that no request has an endless answer. */
export class Violations {
  readonly #kept: Violation[] = [];
  #newest = "";
  #count = 0;

  get kept(): readonly Violation[] {
    return this.#kept;
  }

  get count(): number {
    return this.#count;
  }

  /** The message is only asked for when it is kept. */
  add(name: string, messageAt: (shown: string) => string): void {
    this.#newest = name;
    this.#count += 1;
    if (this.#kept.length === KEPT_VIOLATIONS) return;
    const shown = name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME)}…`;
    this.#kept.push({ name: shown, message: messageAt(shown) });
  }

  has(name: string): boolean {
    return this.#newest === name || this.#kept.some((one) => one.name === name);
  }

  /** "2 validation errors detected", then the sentences of what is kept. */
  summary(separator: string, sentenceOf: (violation: Violation) => string): string {
    const more = this.#count - this.#kept.length;
    const sentences = [
      ...this.#kept.map(sentenceOf),
      ...(more === 0 ? [] : [`… and ${more} more`]),
    ];
    const errors = `${this.#count} validation error${this.#count === 1 ? "" : "s"} detected`;
    return `${errors}${separator} ${sentences.join("; ")}`;
  }
}

const KEPT_VIOLATIONS = 20;

/** A name holds what a client chose, such as the key of a map. */
const LONGEST_NAME = 300;

/**
 * The members of a request, read one by one. What breaks a rule is noted and reads as absent; `finish` then throws it
 * as one `ValidationException`, in the words of the service. A null member is an absent one.
 */
export class Fields {
  readonly #source: JsonObject;
  readonly #path: string;
  readonly #violations: Violations;

  constructor(source: JsonObject, path = "", violations = new Violations()) {
    this.#source = source;
    this.#path = path;
    this.#violations = violations;
  }

  finish(): void {
    if (this.#violations.count === 0) return;
    const message = this.#violations.summary(
      ".",
      ({ name, message: rule }) =>
        `Value at '/${name.replaceAll(".", "/")}' failed to satisfy constraint: ${rule}`,
    );
    throw validationError(message, "FieldValidationFailed", this.#violations.kept);
  }

  text(name: string, rule: TextRule = {}): string | undefined {
    return this.#checkedText(name, this.#member(name), rule);
  }

  wholeNumber(name: string, rule?: NumberRule): number | undefined {
    const value = this.#member(name);
    if (value === undefined) return undefined;
    if (typeof value !== "number" || !Number.isInteger(value)) {
      return this.#violate(name, "Member must be an integer");
    }
    if (rule !== undefined && (value < rule.least || value > rule.most)) {
      return this.#violate(
        name,
        `Member must be between ${rule.least} and ${rule.most}, inclusive`,
      );
    }
    return value;
  }

  list(name: string): readonly JsonValue[] | undefined {
    const value = this.#member(name);
    if (value === undefined || isList(value)) return value;
    return this.#violate(name, "Member must be a list");
  }

  textList(name: string, rule: TextRule): readonly string[] | undefined {
    return this.list(name)?.flatMap((item, index) => {
      const text = this.#checkedText(`${name}.${index}`, item, rule);
      return text === undefined ? [] : [text];
    });
  }

  object(name: string): JsonObject | undefined {
    const value = this.#member(name);
    if (value === undefined || isJsonObject(value)) return value;
    return this.#violate(name, "Member must be a structure");
  }

  /** An object with exactly one member that is set. */
  union(name: string): JsonObject | undefined {
    const value = this.object(name);
    if (value === undefined) return undefined;
    const set = Object.values(value).filter((member) => member !== null).length;
    if (set === 1) return value;
    return this.#violate(name, `Member must have exactly one member set, but has ${set}`);
  }

  /** `{optionalValue}` around a union; its value is absent to clear. */
  wrapper(name: string): { readonly value: JsonObject | undefined } | undefined {
    const fields = this.nested(name);
    return fields === undefined ? undefined : { value: fields.union("optionalValue") };
  }

  /** A map of texts. */
  texts(name: string, rule: TextsRule): { readonly [name: string]: string } | undefined {
    const map = this.object(name);
    if (map === undefined) return undefined;
    const entries = Object.entries(map);
    if (entries.length > rule.most) {
      return this.#violate(name, `Member must have length less than or equal to ${rule.most}`);
    }
    const checked = entries.flatMap(([key, value]) => {
      const path = `${name}.${key}`;
      const text = this.#checkedText(path, value, rule.value);
      return this.#checkedText(path, key, rule.name) === undefined || text === undefined
        ? []
        : [[key, text] as const];
    });
    return Object.fromEntries(checked);
  }

  nested(name: string): Fields | undefined {
    const value = this.object(name);
    return value === undefined ? undefined : this.within(name, value);
  }

  within(name: string, value: JsonObject): Fields {
    return new Fields(value, this.#at(name), this.#violations);
  }

  /** For a required member; the value is never seen, since `finish` throws. */
  missing(name: string): string {
    if (!this.#violations.has(this.#at(name))) this.#violate(name, "Member must not be null");
    return "";
  }

  #member(name: string): JsonValue | undefined {
    return Object.hasOwn(this.#source, name) ? (this.#source[name] ?? undefined) : undefined;
  }

  #checkedText(name: string, value: JsonValue | undefined, rule: TextRule): string | undefined {
    if (value === undefined || value === null) return undefined;
    if (typeof value !== "string") return this.#violate(name, "Member must be a string");
    const { pattern, least = 0, most = Infinity } = rule;
    if (value.length < least || value.length > most) {
      return this.#violate(name, `Member must have length between ${least} and ${most}, inclusive`);
    }
    if (pattern !== undefined && !pattern.test(value)) {
      const shown = pattern.source.replaceAll(/^\^|\$$/g, "").replaceAll("\\/", "/");
      return this.#violate(name, `Member must satisfy regular expression pattern: ${shown}`);
    }
    return value;
  }

  #violate(name: string, message: string): undefined {
    this.#violations.add(this.#at(name), () => message);
    return undefined;
  }

  #at(name: string): string {
    return this.#path === "" ? name : `${this.#path}.${name}`;
  }
}

export type ValidationReason =
  | "CannotParse"
  | "FieldValidationFailed"
  | "IdempotentParameterMismatchException"
  | "ResourceConflict";

export function validationError(
  message: string,
  reason: ValidationReason,
  fieldList: readonly Violation[] = [],
): ServiceError {
  const members = fieldList.length === 0 ? { reason } : { reason, fieldList };
  return new ServiceError(400, "ValidationException", message, members);
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function isJsonObject(value: JsonValue): value is JsonObject {
  return isObject(value);
}
