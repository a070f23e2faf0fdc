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
 * Records in a file that this process writes. Each result waits until the records that it was made of are on the disk:
 * a caller that lost a compare-and-set relies on the winner's record as the winner does.
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
