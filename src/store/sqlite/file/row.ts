import { isObject } from "../../../data/json.ts";
import { StoreError } from "../../store-error.ts";

/** A row as it came out of the file; nothing in it is believed before it was looked at. */
export class Row {
  readonly #columns: { readonly [name: string]: unknown };

  constructor(columns: unknown) {
    this.#columns = isObject(columns) ? columns : {};
  }

  text(name: string): string {
    const value = this.#columns[name];
    return typeof value === "string" ? value : throwUnexpected(name, "text", value);
  }

  number(name: string): number {
    const value = this.#columns[name];
    return typeof value === "number" ? value : throwUnexpected(name, "a number", value);
  }

  bytes(name: string): Uint8Array {
    const value = this.#columns[name];
    return value instanceof Uint8Array ? value : throwUnexpected(name, "bytes", value);
  }

  textOrNull(name: string): string | null {
    return this.#columns[name] === null ? null : this.text(name);
  }

  numberOrNull(name: string): number | null {
    return this.#columns[name] === null ? null : this.number(name);
  }
}

function throwUnexpected(name: string, expected: string, actual: unknown): never {
  const message = `The column ${name} holds ${actual === null ? "null" : typeof actual}, wanted ${expected}`;
  throw new StoreError("store_damaged", message, { details: { column: name } });
}
