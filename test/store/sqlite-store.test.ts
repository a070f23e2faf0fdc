import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openSqliteStore, type SqliteStoreOptions } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { storeContract } from "../contracts/store-contract.ts";
import { temporaryFolder } from "./sqlite-support.ts";

contract("sqlite", {});
contract("sqlite, without full-text search", { search: "plain" });

function contract(name: string, options: Omit<SqliteStoreOptions, "file">): void {
  const files = new WeakMap<Store, string>();
  const openFile = async (file: string): Promise<Store> => {
    const store = await openSqliteStore({ file, ...options });
    files.set(store, file);
    onTestFinished(() => store.close());
    return store;
  };
  storeContract(name, {
    open: () => openFile(join(temporaryFolder(), "store.db")),
    async reopen(store) {
      await store.close();
      return openFile(files.get(store) ?? "");
    },
  });
}
