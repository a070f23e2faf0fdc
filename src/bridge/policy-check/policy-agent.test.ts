import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { digestValue } from "../../platform/digest.ts";
import { loadConfiguredAgent } from "./policy-agent.ts";

it("The digest of an agent for policy checks includes its own approval lists", async () => {
  const root = mkdtempSync(join(tmpdir(), "spanline-policy-agent-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const file = join(root, "spanline.config.json");
  const provider = { type: "local", model: "ollama:none" };
  const approvals = { allow: ["notes__*"], default: "deny" };
  writeFileSync(file, JSON.stringify({ agents: { coder: { provider, approvals } } }));
  const notice = (line: string): void => expect(line).toBe("");
  const { spec, digest } = await loadConfiguredAgent(file, {
    root,
    protectedFolders: [],
    notice,
    tool: "notes__add",
    configContext: {
      directory: root,
      clock: systemClock,
      environment: {},
      version: "1",
      isTrusted: async () => false,
    },
  });
  expect(spec.approvals).toEqual({ deny: [], ask: [], allow: ["notes__*"], default: "deny" });
  expect(digest).toBe(digestValue(spec));
});
