import { isObject, type JsonObject, type JsonValue } from "../../data/json.ts";
import {
  Constraints,
  isAbsent,
  type Member,
  type NumberRule,
  type TextRule,
} from "../service/constraints.ts";

export interface TextMapRule {
  readonly max: number;
  readonly name: TextRule;
  readonly value: TextRule;
}

/**
 * Reads the members of a request and collects violations, which `throwIfInvalid` throws together. A null member counts
 * as absent.
 */
export class RequestFields {
  readonly #source: JsonObject;
  readonly #path: string;
  readonly #constraints: Constraints;

  constructor(source: JsonObject, path = "", constraints = new Constraints()) {
    this.#source = source;
    this.#path = path;
    this.#constraints = constraints;
  }

  throwIfInvalid(): void {
    this.#constraints.throwIfInvalid();
  }

  readText(name: string, rule: TextRule = {}): string | undefined {
    return this.#read(name, (path, value) => this.#constraints.readText(path, value, rule));
  }

  readWholeNumber(name: string, rule: NumberRule = {}): number | undefined {
    return this.#read(name, (path, value) => this.#constraints.readWholeNumber(path, value, rule));
  }

  /** Reads a required enum member. */
  readChoice<Word extends string>(name: string, words: readonly [Word, ...Word[]]): Word {
    const word = this.#read(name, (path, value) =>
      this.#constraints.readChoice(path, value, words),
    );
    if (word === undefined) this.refuseMissing(name);
    return word ?? words[0];
  }

  readList(name: string): readonly JsonValue[] | undefined {
    return this.#read(name, (path, value) => this.#constraints.readList(path, value));
  }

  /** Reads a list and checks each item. */
  readCheckedList(
    name: string,
    check: (constraints: Constraints, path: string, item: JsonValue) => void,
  ): readonly JsonValue[] | undefined {
    const items = this.readList(name);
    for (const [index, item] of items?.entries() ?? []) {
      check(this.#constraints, `${this.#at(name)}.${index + 1}.member`, item);
    }
    return items;
  }

  readTextList(name: string, rule: TextRule): readonly string[] | undefined {
    return this.readList(name)?.map((item, index) =>
      this.#constraints.readText(`${this.#at(name)}.${index + 1}.member`, item, rule),
    );
  }

  readObject(name: string): JsonObject | undefined {
    return this.#read(name, (path, value) => this.#constraints.readStructure(path, value));
  }

  /** Reads an object with exactly one member set. */
  readUnion(name: string): JsonObject | undefined {
    return this.#read(name, (path, value) => {
      this.#constraints.readUnion(path, value);
      return isObject(value) ? value : {};
    });
  }

  /** Reads `{optionalValue}` around a union. An absent value means clear. */
  readWrapper(name: string): { readonly value: JsonObject | undefined } | undefined {
    const fields = this.openNested(name);
    return fields === undefined ? undefined : { value: fields.readUnion("optionalValue") };
  }

  /** Reads a map of strings. */
  readTextMap(name: string, rule: TextMapRule): { readonly [name: string]: string } | undefined {
    const map = this.readObject(name);
    if (map === undefined) return undefined;
    const entries = Object.entries(map);
    const path = this.#at(name);
    if (entries.length > rule.max) {
      this.#constraints.refuse(path, map, `have length less than or equal to ${rule.max}`);
      return {};
    }
    return Object.fromEntries(
      entries.map(([key, value]) => {
        this.#constraints.readText(`${path}.${key}`, key, rule.name);
        return [key, this.#constraints.readText(`${path}.${key}`, value, rule.value)];
      }),
    );
  }

  openNested(name: string): RequestFields | undefined {
    const value = this.readObject(name);
    return value === undefined ? undefined : this.openObject(name, value);
  }

  openObject(name: string, value: JsonObject): RequestFields {
    return new RequestFields(value, this.#at(name), this.#constraints);
  }

  /** Reports a missing required member. The returned value is never used, because `throwIfInvalid` throws. */
  refuseMissing(name: string): string {
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
