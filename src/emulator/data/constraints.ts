import { isObject, parseJson } from "../../domain/json.ts";
import { Violations } from "../control/fields.ts";
import { ServiceError } from "../exchange.ts";

/** What is wrong with a request, in the words of the service's own checks, collected so that all of it is said at once. */
export class Constraints {
  readonly #violations = new Violations();

  /** `rule` continues the sentence "Member must". */
  refuse(path: string, value: unknown, rule: string): void {
    const quoted = typeof value === "string" && value.length <= 100 ? `Value '${value}'` : "Value";
    const subject = value === undefined || value === null ? "Value null" : quoted;
    this.#violations.add(
      path,
      (name) => `${subject} at '${name}' failed to satisfy constraint: Member must ${rule}`,
    );
  }

  text(path: string, value: unknown, limits: TextLimits = {}): string {
    if (typeof value !== "string") {
      this.refuse(
        path,
        value,
        value === undefined || value === null ? "not be null" : "be a string",
      );
      return "";
    }
    const { least = 0, most = Infinity, pattern } = limits;
    if (value.length < least) {
      this.refuse(path, value, `have length greater than or equal to ${least}`);
    }
    if (value.length > most) this.refuse(path, value, `have length less than or equal to ${most}`);
    if (pattern !== undefined && !new RegExp(`^(?:${pattern})$`).test(value)) {
      this.refuse(path, value, `satisfy regular expression pattern: ${pattern}`);
    }
    return value;
  }

  oneOf<Word extends string>(
    path: string,
    value: unknown,
    words: readonly [Word, ...Word[]],
  ): Word {
    const word = words.find((one) => one === value);
    if (word === undefined) {
      const rule =
        value === undefined || value === null
          ? "not be null"
          : `satisfy enum value set: [${words.join(", ")}]`;
      this.refuse(path, value, rule);
    }
    return word ?? words[0];
  }

  list(path: string, value: unknown): readonly unknown[] {
    if (Array.isArray(value)) return value;
    this.refuse(path, value, value === undefined || value === null ? "not be null" : "be a list");
    return [];
  }

  structure(path: string, value: unknown): { readonly [name: string]: unknown } {
    if (isObject(value)) return value;
    const rule = value === undefined || value === null ? "not be null" : "be a structure";
    this.refuse(path, value, rule);
    return {};
  }

  /** The one member of a union that is set. */
  union(
    path: string,
    value: unknown,
    members: readonly string[],
  ): readonly [string, unknown] | null {
    const fields = this.structure(path, value);
    const set = Object.keys(fields).filter((name) => fields[name] !== null);
    const [name] = set;
    if (isObject(value) && (set.length !== 1 || name === undefined || !members.includes(name))) {
      this.refuse(path, null, `have exactly one of the members [${members.join(", ")}] set`);
      return null;
    }
    return name === undefined ? null : [name, fields[name]];
  }

  wholeNumber(path: string, value: unknown, least = -Infinity): number | undefined {
    if (value === undefined || value === null) return undefined;
    if (typeof value !== "number" || !Number.isInteger(value)) {
      this.refuse(path, value, "be a whole number");
    } else if (value < least) {
      this.refuse(path, value, `have value greater than or equal to ${least}`);
    } else return value;
    return undefined;
  }

  /** Throws when anything was refused. */
  check(): void {
    if (this.#violations.count === 0) return;
    const message = this.#violations.summary(":", ({ message: sentence }) => sentence);
    throw new ServiceError(400, "ValidationException", message, {
      reason: "FieldValidationFailed",
      fieldList: this.#violations.kept,
    });
  }
}

export interface TextLimits {
  readonly least?: number;
  readonly most?: number;
  readonly pattern?: string;
}

/** A body of JSON, which must hold an object. */
export function readJsonBody(body: Uint8Array): { readonly [name: string]: unknown } {
  const refusal = (message: string): ServiceError =>
    new ServiceError(400, "ValidationException", message, { reason: "CannotParse" });
  const parsed = parseJson(new TextDecoder().decode(body));
  if (!parsed.ok) throw refusal(`The body is no JSON: ${parsed.reason}`);
  if (!isObject(parsed.value)) throw refusal("The body must be a JSON object");
  return parsed.value;
}
