import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openSqliteStore, type SqliteStoreOptions } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { storeContract } from "../contracts/store-contract.ts";
import { temporaryFolder } from "./sqlite-support.ts";

contract("sqlite", {});
contract("sqlite, without full-text search", { search: "plain" });

function contract(name: string, options: Omit<SqliteStoreOptions, "file">): void {
  const opened = new WeakMap<Store, SqliteStoreOptions>();
  const openFile = async (fileOptions: SqliteStoreOptions): Promise<Store> => {
    const store = await openSqliteStore({ ...fileOptions, ...options });
    opened.set(store, fileOptions);
    onTestFinished(() => store.close());
    return store;
  };
  storeContract(name, {
    open: (openOptions) => openFile({ ...openOptions, file: join(temporaryFolder(), "store.db") }),
    async reopen(store) {
      await store.close();
      return openFile(opened.get(store) ?? { file: "" });
    },
  });
}
