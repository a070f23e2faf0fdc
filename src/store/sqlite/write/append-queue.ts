import type { AppendOutcome, Lease, LogEntry } from "../../log-store.ts";
import { encodeEntry, type EncodedEntry } from "../../encode-entry.ts";

export interface WaitingEntry {
  readonly encoded: EncodedEntry;
  readonly resolve: (appended: AppendOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Collects the entries of one tick and writes them in one transaction. The queue is limited in entries and bytes, and
 * so is a transaction. If the queue is full, later entries wait unencoded until the next transaction.
 */
export class AppendQueue {
  readonly #write: (entries: readonly WaitingEntry[]) => void;
  #entries: WaitingEntry[] = [];
  #bytes = 0;
  #outside: (() => void)[] = [];
  #isScheduled = false;

  constructor(write: (entries: readonly WaitingEntry[]) => void) {
    this.#write = write;
  }

  append(lease: Lease, expectedSeq: number, entry: LogEntry): Promise<AppendOutcome> {
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        try {
          const encoded = encodeEntry(lease, expectedSeq, entry);
          this.#entries.push({ encoded, resolve, reject });
          this.#bytes += encoded.bytes;
        } catch (error) {
          reject(error);
        }
      };
      if (this.#hasRoom && this.#outside.length === 0) enter();
      else this.#outside.push(enter);
      this.#schedule();
    });
  }

  /** Writes all queued entries now. Called before any other write, which must come after the entries. */
  flush(): void {
    while (this.#entries.length > 0) this.#flushOnce();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#entries.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#flushOnce();
      this.#schedule();
    });
  }

  #flushOnce(): void {
    const entries = this.#entries;
    this.#entries = [];
    this.#bytes = 0;
    if (entries.length > 0) this.#write(entries);
    let entered = 0;
    for (; entered < this.#outside.length && this.#hasRoom; entered++) this.#outside[entered]?.();
    this.#outside.splice(0, entered);
  }

  get #hasRoom(): boolean {
    return this.#entries.length < MAX_ENTRIES && this.#bytes < MAX_BYTES;
  }
}

/** A few milliseconds of writing, which is the longest time that the event loop is blocked. */
const MAX_ENTRIES = 512;
const MAX_BYTES = 1_000_000;
