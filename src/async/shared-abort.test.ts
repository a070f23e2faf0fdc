import { describe, expect, it } from "vitest";
import { createSharedAbort } from "./shared-abort.ts";

describe("createSharedAbort", () => {
  it("A joined signal aborts with the shared signal and its reason", () => {
    const shared = new AbortController();
    const { signal } = createSharedAbort(shared.signal).join(new AbortController().signal);
    const reason = new Error("The server ends");
    shared.abort(reason);
    expect({ aborted: signal.aborted, reason: signal.reason }).toEqual({ aborted: true, reason });
  });

  it("A joined signal aborts with its own signal and reason, and the other signals do not", () => {
    const shared = createSharedAbort(new AbortController().signal);
    const caller = new AbortController();
    const joined = shared.join(caller.signal);
    const other = shared.join(new AbortController().signal);
    const reason = new Error("The caller is gone");
    caller.abort(reason);
    expect([joined.signal.reason, other.signal.aborted]).toEqual([reason, false]);
  });

  it("A signal that joins after an abort is aborted at once", () => {
    const early = new Error("Too late");
    const shared = new AbortController();
    const ends = createSharedAbort(shared.signal);
    expect(ends.join(AbortSignal.abort(early)).signal.reason).toBe(early);
    shared.abort(early);
    expect(ends.join(new AbortController().signal).signal.reason).toBe(early);
  });

  it("A signal does not abort after leave", () => {
    const shared = new AbortController();
    const caller = new AbortController();
    const { signal, leave } = createSharedAbort(shared.signal).join(caller.signal);
    leave();
    caller.abort();
    shared.abort();
    expect(signal.aborted).toBe(false);
  });
});
