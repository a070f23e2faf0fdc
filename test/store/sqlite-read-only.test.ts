import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { describe, expect, it, onTestFinished } from "vitest";
import { bundleProgram } from "../support/bundle-program.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import {
  acquire,
  delta,
  entry,
  headOf,
  NOW,
  readUntil,
  seqs,
  sessionOf,
} from "../contracts/store/store-subject.ts";
import { opened, temporaryFile } from "./sqlite-support.ts";

describe("Read-only store", () => {
  it("A read-only store shows the events of the owner and follows new events", async () => {
    const file = temporaryFile();
    const owner = await opened({ file });
    const lease = await sessionOf(owner, "ses_1", 2);
    const clock = createFakeClock();
    const reader = await opened({ file, readOnly: true, clock });
    expect(seqs(await reader.read("ses_1", 0, 9))).toEqual([1, 2]);
    expect(await reader.readHead("ses_1")).toEqual(await owner.readHead("ses_1"));
    expect((await reader.listSessions({ limit: 9 })).sessions).toMatchObject([
      { sessionId: "ses_1" },
    ]);
    const batches = reader.subscribe("ses_1", undefined, new AbortController().signal);
    const reading = batches[Symbol.asyncIterator]();
    expect((await reading.next()).value?.events).toHaveLength(2);
    const next = reading.next();
    await owner.append(lease, 2, entry([delta("3"), delta("4")], { sync: true }));
    clock.advance(1000);
    expect((await next).value?.events).toMatchObject([{ seq: 3 }, { seq: 4 }]);
    await reading.return?.();
    expect(clock.pending).toBe(0);
  });

  it("A read-only store refuses every write", async () => {
    const file = temporaryFile();
    const owner = await opened({ file });
    const lease = await sessionOf(owner, "ses_1", 1);
    const reader = await opened({ file, readOnly: true });
    const refusal = {
      code: "store_failed",
      message: expect.stringContaining("opened for reading"),
    };
    await expect(acquire(reader, "ses_1")).rejects.toMatchObject(refusal);
    await expect(reader.append(lease, 1, entry([]))).rejects.toMatchObject(refusal);
    await expect(reader.deleteSession("ses_1")).rejects.toMatchObject(refusal);
    await expect(reader.applyRetention({ now: NOW })).rejects.toMatchObject(refusal);
    expect(await headOf(owner, "ses_1")).toMatchObject({ seq: 1 });
  });

  it("A read-only store reads a file without an owner", async () => {
    const file = temporaryFile();
    const owner = await opened({ file });
    await sessionOf(owner, "ses_1", 2);
    await owner.close();
    const reader = await opened({ file, readOnly: true });
    expect(await reader.read("ses_1", 0, 9)).toHaveLength(2);
    expect(await reader.checkIntegrity()).toEqual([]);
  });

  it("A read-only store follows an owner in another process without blocking it", async () => {
    const program = await bundleProgram("append-to-store.ts");
    const file = temporaryFile();
    const child = spawn(process.execPath, [program, file], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const lines = createInterface(child.stdout);
    await once(lines, "line");
    const reader = await opened({ file, readOnly: true });
    const { seq } = await headOf(reader, "ses_a");
    const events = await readUntil(reader, { sessionId: "ses_a", until: seq + 500 });
    expect(seqs(events)).toEqual(Array.from({ length: events.length }, (_, index) => index + 1));
    await reader.close();
    await once(lines, "line");
  });
});
