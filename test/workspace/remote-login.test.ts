import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createTestWorkspace } from "../support/session/test-workspace.ts";

it("A command line runs without the files that bash reads at a remote login", async () => {
  const home = mkdtempSync(join(tmpdir(), "spanline-home-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  writeFileSync(join(home, ".bashrc"), "echo read by mistake\n");
  const { run } = createTestWorkspace({ environment: { ...process.env, HOME: home } });
  const { text } = await run("run_command", { command: "echo hi", shell: "bash" });
  expect(text).toContain("hi");
  expect(text).not.toContain("read by mistake");
});
