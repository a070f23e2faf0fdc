import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { systemClock } from "../platform/clock.ts";
import { digestOf } from "../platform/digest.ts";
import { configuredPolicy } from "./policy-agent.ts";

it("the digest of an agent to be judged is that of its own lists", async () => {
  const root = mkdtempSync(join(tmpdir(), "spanline-policy-agent-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const file = join(root, "spanline.config.json");
  const provider = { type: "local", model: "ollama:none" };
  const approvals = { allow: ["notes__*"], otherwise: "deny" };
  writeFileSync(file, JSON.stringify({ agents: { coder: { provider, approvals } } }));
  const notice = (line: string): void => expect(line).toBe("");
  const { facts, digest } = await configuredPolicy(file, {
    root,
    protectedFolders: [],
    notice,
    tool: "notes__add",
    around: {
      directory: root,
      clock: systemClock,
      environment: {},
      version: "1",
      isTrusted: async () => false,
    },
  });
  expect(facts.approvals).toEqual({ deny: [], ask: [], allow: ["notes__*"], otherwise: "deny" });
  expect(digest).toBe(digestOf(facts));
});
