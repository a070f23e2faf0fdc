import { isObject } from "../../../data/json.ts";
import { StoreError } from "../../store-error.ts";
import { toStoreError } from "./database-error.ts";
import type { Database, SqlValue, Statement } from "./engine.ts";

/** A database connection with a statement cache, validated rows and errors converted to `StoreError`. */
export class Sql {
  /** The path, for error messages. */
  readonly file: string;
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();

  constructor(database: Database, file: string) {
    this.#database = database;
    this.file = file;
  }

  /** Runs several statements without parameters, for schemas and pragmas. */
  exec(sql: string): void {
    this.#named(() => this.#database.exec(sql));
  }

  run(sql: string, ...values: readonly SqlValue[]): void {
    this.#named(() => this.prepare(sql).run(...values));
  }

  get(sql: string, ...values: readonly SqlValue[]): Row | undefined {
    const row = this.#named(() => this.prepare(sql).get(...values));
    return row === undefined ? undefined : new Row(row);
  }

  all(sql: string, ...values: readonly SqlValue[]): readonly Row[] {
    return this.#named(() => this.prepare(sql).all(...values)).map((row) => new Row(row));
  }

  /** A cached statement for hot loops. Errors of this statement are not converted to `StoreError`. */
  prepare(sql: string): Statement {
    const cached = this.#statements.get(sql);
    if (cached !== undefined) return cached;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  /** Runs `operation` in a transaction: commits on success, rolls back on any error. */
  transaction<Result>(operation: () => Result): Result {
    this.run("BEGIN IMMEDIATE");
    try {
      const result = operation();
      this.run("COMMIT");
      return result;
    } catch (error) {
      this.#rollBack();
      throw toStoreError(error, this.file);
    }
  }

  close(): void {
    this.#statements.clear();
    this.#named(() => this.#database.close());
  }

  #named<Result>(operation: () => Result): Result {
    return withStoreErrors(this.file, operation);
  }

  /**
   * Rolls back. After some errors SQLite has already rolled back and reports an inactive transaction; this error is
   * ignored.
   */
  #rollBack(): void {
    try {
      this.prepare("ROLLBACK").run();
    } catch {
      return;
    }
  }
}

/** Runs `operation`. Errors of the engine become `StoreError`s that name the file. */
export function withStoreErrors<Result>(file: string, operation: () => Result): Result {
  try {
    return operation();
  } catch (error) {
    throw toStoreError(error, file);
  }
}

/** A row of the database. Each column is validated when it is read; an unexpected type throws `store_damaged`. */
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
  const message = `Column ${name} contains ${actual === null ? "null" : typeof actual}: expected ${expected}`;
  throw new StoreError("store_damaged", message, { details: { column: name } });
}
