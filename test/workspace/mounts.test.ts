import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { bundleProgram } from "../support/bundle-program.ts";
import { createTestWorkspace } from "../support/session/test-workspace.ts";

const NAMESPACE = ["--map-root-user", "--mount"];
const canMount =
  spawnSync("unshare", [...NAMESPACE, "sh", "-c", "mount -t tmpfs none /tmp"]).status === 0;

it.skipIf(!canMount)(
  "Protected folders stay protected below a bind mount and in other letter case (skipped where mounting is not permitted)",
  async () => {
    const { root, data } = createTestWorkspace();
    const program = await bundleProgram("examine-mounts.ts");
    const args = [...NAMESPACE, process.execPath, program, root, data];
    const { stdout, stderr } = spawnSync("unshare", args, { encoding: "utf8" });
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual([
      ["alias", "protected"],
      ["alias/new", "protected"],
      ["blobs/one", "protected"],
      ["file", "protected"],
      [".SPANLINE/log.db", "protected"],
      ["plain/x", "inside"],
    ]);
  },
);
