import { describe } from "vitest";
import { storeKeeping } from "./store/store-keeping.ts";
import { storeListing } from "./store/store-listing.ts";
import { storeReading } from "./store/store-reading.ts";
import { storeRecords } from "./store/store-records.ts";
import type { StoreSubject } from "./store/store-subject.ts";
import { storeWatching } from "./store/store-watching.ts";
import { storeWriting } from "./store/store-writing.ts";

/** The contract of every store. */
export function storeContract(name: string, subject: StoreSubject): void {
  describe(`The store contract: ${name}`, () => {
    storeWriting(subject);
    storeReading(subject);
    storeListing(subject);
    storeKeeping(subject);
    storeRecords(subject);
    storeWatching(subject);
  });
}
