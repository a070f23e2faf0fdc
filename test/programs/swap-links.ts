import { renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Replaces a folder and a file with links and restores them, as fast as possible, until a message requests the stop.
 * Reports the number of rounds at intervals.
 */
const [root = "", outside = ""] = process.argv.slice(2);
const folder = join(root, "folder");
const file = join(root, "file.txt");
let rounds = 0;
let isOver = false;
process.on("message", () => {
  isOver = true;
});

function swap(): void {
  for (let count = 0; count < 50; count++) {
    renameSync(folder, join(root, "kept"));
    // A writing tool may have created a folder of that name in the meantime.
    while (!isDone(() => symlinkSync(outside, folder))) remove(folder);
    remove(folder);
    while (!isDone(() => renameSync(join(root, "kept"), folder))) remove(folder);
    symlinkSync(join(outside, "file.txt"), join(root, "link"));
    renameSync(join(root, "link"), file);
    writeFileSync(join(root, "plain"), "inside");
    renameSync(join(root, "plain"), file);
    rounds += 1;
  }
  if (isOver) return void process.send?.(rounds, () => process.disconnect());
  process.send?.(rounds);
  setImmediate(swap);
}

function isDone(change: () => void): boolean {
  try {
    change();
    return true;
  } catch {
    return false;
  }
}

function remove(path: string): void {
  isDone(() => rmSync(path, { recursive: true, force: true }));
}

swap();
