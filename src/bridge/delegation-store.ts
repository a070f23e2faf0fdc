import { join } from "node:path";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import type { Store } from "../store/store.ts";
import { prepareDirectory } from "./owner/data-directory.ts";

/**
 * Opens the records of delegations to external agents. They have a file of their own, so that a person can delegate
 * while another process owns the sessions of the directory.
 */
export async function openDelegationStore(
  directory: string,
): Promise<Pick<Store, "readRecord" | "putRecord" | "close">> {
  await prepareDirectory(directory);
  return openSqliteStore({ file: join(directory, "delegations.db") });
}
