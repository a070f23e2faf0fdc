import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createSessionWorkspace } from "./session-workspace.ts";

describe("Session workspace", () => {
  it("A missing folder is created for the user alone", async () => {
    const place = mkdtempSync(join(tmpdir(), "spanline-workspace-"));
    onTestFinished(() => rmSync(place, { recursive: true, force: true }));
    const folder = await createSessionWorkspace(join(place, "sessions", "one")).openFolder();
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it.skipIf(process.platform !== "linux")(
    "Opening fails if the folder cannot be created",
    async () => {
      await expect(createSessionWorkspace("/proc/x/one").openFolder()).rejects.toMatchObject({
        code: "ENOENT",
      });
    },
  );
});
