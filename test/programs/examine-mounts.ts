import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { examinePaths } from "../../src/tools/workspace/paths/examine-paths.ts";

/**
 * Runs in a separate mount namespace. Gives parts of the data directory other names in the workspace, as an
 * administrator or a case-insensitive file system would, and prints the resolved paths.
 */
const [root = "", data = ""] = process.argv.slice(2);

function mounted(from: string, to: string): void {
  const { status, stderr } = spawnSync("mount", ["--bind", from, to]);
  if (status !== 0) throw new Error(String(stderr));
}

mkdirSync(join(data, "blobs"));
writeFileSync(join(data, "blobs", "one"), "");
for (const name of ["alias", "blobs", ".SPANLINE", "plain"]) mkdirSync(join(root, name));
writeFileSync(join(root, "file"), "");
mounted(data, join(root, "alias"));
mounted(join(data, "blobs"), join(root, "blobs"));
mounted(join(data, "log.db"), join(root, "file"));
mounted(data, join(root, ".SPANLINE"));
const inputs = ["alias", "alias/new", "blobs/one", "file", ".SPANLINE/log.db", "plain/x"];
const facts = await examinePaths(
  inputs.map((input) => ({ argument: "path", input })),
  { root, protectedFolders: [data] },
);
process.stdout.write(JSON.stringify(facts.map(({ input, location }) => [input, location])));
