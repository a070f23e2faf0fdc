import { StoreError } from "../../store-error.ts";

export type SqlValue = null | number | string | Uint8Array;

/** What `node:sqlite` and its twin have in common, as far as it is used here. */
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

/** Node's own SQLite, else the same interface from a package, for Node before 22.13. */
export async function loadEngine(): Promise<Engine> {
  const builtIn: unknown = process.getBuiltinModule?.("node:sqlite");
  if (isEngine(builtIn)) return builtIn;
  const twin: unknown = await import("@photostructure/sqlite");
  if (isEngine(twin)) return twin;
  throw new StoreError("store_failed", "Neither node:sqlite nor @photostructure/sqlite is there");
}

function isEngine(module: unknown): module is Engine {
  return (
    typeof module === "object" &&
    module !== null &&
    "DatabaseSync" in module &&
    typeof module.DatabaseSync === "function"
  );
}
