import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../../test/support/fake-clock.ts";
import type { FileChangeEntry, FileChangeKind } from "../../../domain/outputs/file-watch.ts";
import { createChangeCollector } from "./change-collector.ts";

function createWorld() {
  const clock = createFakeClock();
  const batches: (readonly FileChangeEntry[])[] = [];
  const collector = createChangeCollector(clock, (entries) => void batches.push(entries));
  const add = (kind: FileChangeKind, relativePath: string) =>
    collector.add({ kind, path: `/w/${relativePath}`, relativePath, rawKind: "change" });
  return { clock, batches, collector, add };
}

const list = (entries: readonly FileChangeEntry[] | undefined) =>
  entries?.map(({ kind, relativePaths, error }) => error ?? `${kind} ${relativePaths.join()}`);

describe("Collector of file changes", () => {
  it("Changes within 100 ms are one batch, in which each path has one change", () => {
    const { clock, batches, add } = createWorld();
    for (const path of ["b", "a", "b"]) add("modify", path);
    add("create", "new");
    add("modify", "new");
    add("create", "gone");
    add("remove", "gone");
    add("remove", "replaced");
    add("create", "replaced");
    clock.advance(99);
    expect(batches).toEqual([]);
    clock.advance(1);
    expect(batches.map(list)).toEqual([["modify a,b,replaced", "create new"]]);
    expect(clock.pending).toBe(0);
  });

  it("Continuing changes cause fewer and fewer batches, and a quiet time resets the pause", () => {
    const { clock, batches, add } = createWorld();
    for (let second = 0; second < 600; second++) {
      add("modify", "log");
      clock.advance(1000);
    }
    // 500 ms, 1 s, 2 s … 30 s: about one batch in 30 s after the first minute.
    expect(batches.length).toBeLessThan(30);
    expect(batches.length).toBeGreaterThan(15);
    clock.advance(120_000);
    const before = batches.length;
    add("modify", "log");
    clock.advance(100);
    expect(batches.length).toBe(before + 1);
  });

  it("Changes beyond 500 paths are counted, and an entry has at most 100 paths", () => {
    const { clock, batches, add, collector } = createWorld();
    for (let at = 0; at < 620; at++) add("modify", `f${at}`);
    collector.addError("A folder is no longer watched");
    clock.advance(100);
    const [entries = []] = batches;
    expect(entries.map(({ paths }) => paths.length)).toEqual([100, 100, 100, 100, 100, 0, 0]);
    expect(list(entries.slice(5))).toEqual([
      "A folder is no longer watched",
      "120 more changes were not recorded",
    ]);
  });

  it("A closed collector reports nothing more", () => {
    const { clock, batches, add, collector } = createWorld();
    add("modify", "a");
    collector.close();
    clock.advance(10_000);
    expect(batches).toEqual([]);
  });

  it("A storm of 10,000 changes is one small batch, also with long paths", () => {
    const { clock, batches, add } = createWorld();
    for (let at = 0; at < 10_000; at++) add("create", `${"x".repeat(4000)}${at}`);
    clock.advance(100);
    expect(batches).toHaveLength(1);
    expect(JSON.stringify(batches).length).toBeLessThan(200_000);
    expect(list(batches[0])?.at(-1)).toBe("9984 more changes were not recorded");
    add("create", "after");
    clock.advance(60_000);
    expect(batches.slice(1).map(list)).toEqual([["create after"]]);
  });

  it("Files which are created and removed again leave room for other changes", () => {
    const { clock, batches, add } = createWorld();
    for (let at = 0; at < 10_000; at++) {
      add("create", `temporary${at}`);
      add("remove", `temporary${at}`);
    }
    add("modify", "a");
    clock.advance(100);
    expect(batches.map(list)).toEqual([["modify a"]]);
  });

  it("Errors beyond ten in a batch are counted, and a repeated error is one entry", () => {
    const { clock, batches, collector } = createWorld();
    for (let at = 0; at < 2000; at++) collector.addError(`Folder ${at % 25} cannot be watched`);
    clock.advance(100);
    expect(list(batches[0])).toHaveLength(11);
    expect(list(batches[0])?.at(-1)).toBe("1200 more errors occurred");
  });

  it("A closed collector reports nothing, and starts no timer", () => {
    const { clock, batches, collector, add } = createWorld();
    add("modify", "a");
    collector.close();
    add("modify", "b");
    collector.addError("A folder is gone");
    expect(clock.pending).toBe(0);
    clock.advance(60_000);
    expect(batches).toEqual([]);
  });
});
