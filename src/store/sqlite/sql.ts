import { SpanlineError, thrownMessage } from "../../domain/errors.ts";
import { StoreError } from "../store-error.ts";
import type { Database, SqlValue, Statement } from "./engine.ts";
import { Row } from "./row.ts";

/** A database whose statements are kept, whose rows are looked at, and whose errors are ours. */
export class Sql {
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Several statements without values: schemas and settings. */
  exec(sql: string): void {
    named(() => this.#database.exec(sql));
  }

  run(sql: string, ...values: readonly SqlValue[]): void {
    named(() => this.prepared(sql).run(...values));
  }

  get(sql: string, ...values: readonly SqlValue[]): Row | undefined {
    const row = named(() => this.prepared(sql).get(...values));
    return row === undefined ? undefined : new Row(row);
  }

  all(sql: string, ...values: readonly SqlValue[]): readonly Row[] {
    return named(() => this.prepared(sql).all(...values)).map((row) => new Row(row));
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
      throw storeError(error);
    }
  }

  close(): void {
    this.#statements.clear();
    named(() => this.#database.close());
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

/** Does something with a database; what it throws becomes an error of the store. */
export function named<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw storeError(error);
  }
}

function storeError(error: unknown): unknown {
  const isOurs = error instanceof SpanlineError || !(error instanceof Error);
  if (isOurs || !("errcode" in error) || typeof error.errcode !== "number") return error;
  // The low byte is the primary code: https://www.sqlite.org/rescode.html
  const isDamage = DAMAGE.has(error.errcode & 0xff);
  return new StoreError(isDamage ? "store_damaged" : "store_failed", thrownMessage(error), {
    details: { sqlite: error.errcode },
    cause: error,
  });
}

/** `SQLITE_CORRUPT` and `SQLITE_NOTADB`. */
const DAMAGE: ReadonlySet<number> = new Set([11, 26]);
