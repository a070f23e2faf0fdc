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

/**
 * The members of a request, read one by one. What breaks a rule is noted and reads as absent; `finish` then throws all of it
 * as one `ValidationException`, in the words of the service. A null member is an absent one.
 */
export class Fields {
  readonly #source: JsonObject;
  readonly #path: string;
  readonly #violations: Violation[];

  constructor(source: JsonObject, path = "", violations: Violation[] = []) {
    this.#source = source;
    this.#path = path;
    this.#violations = violations;
  }

  finish(): void {
    if (this.#violations.length === 0) return;
    const count = this.#violations.length;
    const details = this.#violations.map(
      ({ name, message }) =>
        `Value at '/${name.replaceAll(".", "/")}' failed to satisfy constraint: ${message}`,
    );
    throw validationError(
      `${count} validation error${count === 1 ? "" : "s"} detected. ${details.join("; ")}`,
      "FieldValidationFailed",
      this.#violations,
    );
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
    const isNoted = this.#violations.some((one) => one.name === this.#at(name));
    if (!isNoted) this.#violate(name, "Member must not be null");
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
    this.#violations.push({ name: this.#at(name), message });
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
