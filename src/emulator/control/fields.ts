import { isObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import {
  Constraints,
  isAbsent,
  type Member,
  type NumberRule,
  type TextRule,
} from "../constraints.ts";

export interface TextsRule {
  readonly most: number;
  readonly name: TextRule;
  readonly value: TextRule;
}

/** The members of a request, read one by one. What breaks a rule is noted; `finish` then throws it. A null member is an absent one. */
export class Fields {
  readonly #source: JsonObject;
  readonly #path: string;
  readonly #constraints: Constraints;

  constructor(source: JsonObject, path = "", constraints = new Constraints()) {
    this.#source = source;
    this.#path = path;
    this.#constraints = constraints;
  }

  finish(): void {
    this.#constraints.check();
  }

  text(name: string, rule: TextRule = {}): string | undefined {
    return this.#read(name, (path, value) => this.#constraints.text(path, value, rule));
  }

  wholeNumber(name: string, rule: NumberRule = {}): number | undefined {
    return this.#read(name, (path, value) => this.#constraints.wholeNumber(path, value, rule));
  }

  /** Required. */
  oneOf<Word extends string>(name: string, words: readonly [Word, ...Word[]]): Word {
    const word = this.#read(name, (path, value) => this.#constraints.oneOf(path, value, words));
    if (word === undefined) this.missing(name);
    return word ?? words[0];
  }

  list(name: string): readonly JsonValue[] | undefined {
    return this.#read(name, (path, value) => this.#constraints.list(path, value));
  }

  /** A list whose items are checked one by one. */
  checkedList(
    name: string,
    check: (constraints: Constraints, path: string, item: JsonValue) => void,
  ): readonly JsonValue[] | undefined {
    const items = this.list(name);
    for (const [index, item] of items?.entries() ?? []) {
      check(this.#constraints, `${this.#at(name)}.${index + 1}.member`, item);
    }
    return items;
  }

  textList(name: string, rule: TextRule): readonly string[] | undefined {
    return this.list(name)?.map((item, index) =>
      this.#constraints.text(`${this.#at(name)}.${index + 1}.member`, item, rule),
    );
  }

  object(name: string): JsonObject | undefined {
    return this.#read(name, (path, value) => this.#constraints.structure(path, value));
  }

  /** An object with exactly one member that is set. */
  union(name: string): JsonObject | undefined {
    return this.#read(name, (path, value) => {
      this.#constraints.union(path, value);
      return isObject(value) ? value : {};
    });
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
    const path = this.#at(name);
    if (entries.length > rule.most) {
      this.#constraints.refuse(path, map, `have length less than or equal to ${rule.most}`);
      return {};
    }
    return Object.fromEntries(
      entries.map(([key, value]) => {
        this.#constraints.text(`${path}.${key}`, key, rule.name);
        return [key, this.#constraints.text(`${path}.${key}`, value, rule.value)];
      }),
    );
  }

  nested(name: string): Fields | undefined {
    const value = this.object(name);
    return value === undefined ? undefined : this.within(name, value);
  }

  within(name: string, value: JsonObject): Fields {
    return new Fields(value, this.#at(name), this.#constraints);
  }

  /** For a required member; the value is never seen, since `finish` throws. */
  missing(name: string): string {
    this.#constraints.refuse(this.#at(name), undefined, "not be null");
    return "";
  }

  #read<Value>(name: string, read: (path: string, value: JsonValue) => Value): Value | undefined {
    const value: Member = Object.hasOwn(this.#source, name) ? this.#source[name] : undefined;
    return isAbsent(value) ? undefined : read(this.#at(name), value);
  }

  #at(name: string): string {
    return this.#path === "" ? name : `${this.#path}.${name}`;
  }
}
