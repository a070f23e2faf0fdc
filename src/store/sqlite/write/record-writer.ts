import type { RecordStore } from "../../record-store.ts";
import type { RecordRows } from "../file/record-rows.ts";
import type { GroupSync } from "./group-sync.ts";

export interface RecordWriterParts {
  readonly records: RecordRows;
  readonly sync: GroupSync;
  /** Throws if the store is closed or its disk failed. */
  readonly checkUsable: () => void;
}

/**
 * Reads and writes records in a file of this process. Each result waits for the last commit of a record: a caller whose
 * compare-and-set failed relies on the winner's record, so the record must be on the disk.
 */
export function createRecordWriter({ records, sync, checkUsable }: RecordWriterParts): RecordStore {
  let lastCommit = 0;
  const runThenSync = async <Result>(operation: () => Result): Promise<Result> => {
    checkUsable();
    const result = operation();
    await sync.waitUntilSynced(lastCommit);
    return result;
  };
  return {
    readRecord: (scope, key) => runThenSync(() => records.read(scope, key)),
    listRecords: (query) => runThenSync(() => records.list(query)),
    putRecord: (scope, key, write) =>
      runThenSync(() => {
        const outcome = records.put(scope, key, write);
        if (outcome.status === "stored") lastCommit = sync.commit();
        return outcome;
      }),
    deleteRecord: (scope, key, expectedVersion) =>
      runThenSync(() => {
        const isDeleted = records.delete(scope, key, expectedVersion);
        if (isDeleted) lastCommit = sync.commit();
        return isDeleted;
      }),
  };
}
