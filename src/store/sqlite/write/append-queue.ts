import type { AppendOutcome, Lease, LogEntry } from "../../log-store.ts";
import { encodeEntry, type EncodedEntry } from "../../encode-entry.ts";

export interface WaitingEntry {
  readonly encoded: EncodedEntry;
  readonly resolve: (appended: AppendOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Entries that arrive in one turn of the loop are written together. The queue is bounded in number and in size, and so is
 * a transaction; whoever comes when it is full waits outside, with nothing encoded, until there is room.
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

  /** Writes all that is there now, for somebody whose own writing comes after it. */
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

/** Some milliseconds of writing, so that nobody else waits longer for the loop. */
const MAX_ENTRIES = 512;
const MAX_BYTES = 1_000_000;
