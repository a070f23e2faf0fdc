import { databaseError } from "./database-error.ts";
import type { Database, SqlValue, Statement } from "./engine.ts";
import { Row } from "./row.ts";

/** A database whose statements are kept, whose rows are looked at, and whose errors are ours. */
export class Sql {
  /** The path, for error messages. */
  readonly file: string;
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();

  constructor(database: Database, file: string) {
    this.#database = database;
    this.file = file;
  }

  /** Several statements without values: schemas and settings. */
  exec(sql: string): void {
    this.#named(() => this.#database.exec(sql));
  }

  run(sql: string, ...values: readonly SqlValue[]): void {
    this.#named(() => this.prepared(sql).run(...values));
  }

  get(sql: string, ...values: readonly SqlValue[]): Row | undefined {
    const row = this.#named(() => this.prepared(sql).get(...values));
    return row === undefined ? undefined : new Row(row);
  }

  all(sql: string, ...values: readonly SqlValue[]): readonly Row[] {
    return this.#named(() => this.prepared(sql).all(...values)).map((row) => new Row(row));
  }

  /** For loops that cannot afford a look at every error. */
  prepared(sql: string): Statement {
    const kept = this.#statements.get(sql);
    if (kept !== undefined) return kept;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  /** All of it or nothing. */
  transaction<Result>(work: () => Result): Result {
    this.run("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.run("COMMIT");
      return result;
    } catch (error) {
      this.#rollBack();
      throw databaseError(error, this.file);
    }
  }

  close(): void {
    this.#statements.clear();
    this.#named(() => this.#database.close());
  }

  #named<Result>(work: () => Result): Result {
    return named(this.file, work);
  }

  /** SQLite has rolled back by itself after some errors, and then says that there is nothing to roll back. */
  #rollBack(): void {
    try {
      this.prepared("ROLLBACK").run();
    } catch {
      return;
    }
  }
}

/** Runs `work`. Errors of the engine become `StoreError`s that name the file. */
export function named<Result>(file: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw databaseError(error, file);
  }
}
