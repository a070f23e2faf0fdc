import { StoreError } from "../../store-error.ts";

export type SqlValue = null | number | string | Uint8Array;

/** The common interface of `node:sqlite` and `@photostructure/sqlite`, reduced to the methods used here. */
export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

export interface Statement {
  run(...values: readonly SqlValue[]): unknown;
  get(...values: readonly SqlValue[]): unknown;
  all(...values: readonly SqlValue[]): readonly unknown[];
}

export interface Engine {
  readonly DatabaseSync: new (file: string, options: { readonly readOnly: boolean }) => Database;
}

/** Node's built-in SQLite if available, otherwise the package with the same interface (Node before 22.13). */
export async function loadEngine(): Promise<Engine> {
  const builtIn: unknown = process.getBuiltinModule?.("node:sqlite");
  if (isEngine(builtIn)) return builtIn;
  const twin: unknown = await import("@photostructure/sqlite");
  if (isEngine(twin)) return twin;
  throw new StoreError(
    "store_failed",
    "No SQLite engine was found: expected node:sqlite or @photostructure/sqlite. Fix: use Node 22.13 or later",
  );
}

function isEngine(module: unknown): module is Engine {
  return (
    typeof module === "object" &&
    module !== null &&
    "DatabaseSync" in module &&
    typeof module.DatabaseSync === "function"
  );
}
