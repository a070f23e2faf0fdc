import { describe, expect, it } from "vitest";
import { findTrustReason, findServeTrustReason } from "./trust-reasons.ts";
import { readConfig } from "../read-config.ts";

const ARN = "arn:aws:bedrock-agentcore:eu-central-1:123456789012:harness/support-abcdefghij";
const LOCAL = { type: "local", model: "ollama:qwen3" };

function reasonFor(agent: object): string | undefined {
  const [config] = readConfig({ agents: { coder: { provider: LOCAL, ...agent } } }).agents;
  return config === undefined ? "no agent" : findTrustReason(config);
}

describe("A configuration that was found, not named", () => {
  it.each<[string, object]>([
    ["asks about everything", { workspace: true, policy: {} }],
    ["allows reading", { workspace: true, policy: { auto_approve: ["read_file", "search"] } }],
    [
      "allows reading some files",
      { policy: { rules: [{ allow: { tool: "read_file", path: "src/**" } }] } },
    ],
    ["allows reading by lists", { approvals: { allow: ["list_files"] } }],
    ["uses a harness", { provider: { type: "harness", arn: ARN } }],
  ])("A found configuration needs no trust if it %s", (_, agent) => {
    expect(reasonFor(agent)).toBeUndefined();
  });

  it.each<[string, object, RegExp]>([
    ["tool modules", { tools: ["./tools.mjs"] }, /code/],
    ["a program", { mcpServers: { s: { command: "node" } } }, /code/],
    [
      "a remote server",
      { mcpServers: { s: { type: "http", url: "https://x.example/mcp" } } },
      /MCP/,
    ],
    ["variables", { environment: { OPENAI_BASE_URL: "http://evil.example/v1" } }, /variables/],
    [
      "an endpoint",
      { provider: { type: "harness", arn: ARN, endpoint: "http://e.example" } },
      /address/,
    ],
    [
      "the URL of a model server",
      { provider: { ...LOCAL, baseUrl: "http://e.example/v1" } },
      /address/,
    ],
    ["a folder outside", { workspace: { root: "../other" } }, /folder/],
    ["an absolute folder", { workspace: { root: "/etc" } }, /folder/],
    ["variables for commands", { workspace: { passEnvironment: ["HOME"] } }, /folder/],
    ["everything allowed", { policy: { default: "allow" } }, /more than read/],
    ["a tool that writes", { policy: { auto_approve: ["write_file"] } }, /more than read/],
    ["a pattern of tools", { policy: { auto_approve: ["read_*"] } }, /more than read/],
    ["commands", { policy: { rules: [{ allow: { command: "npm test" } }] } }, /more than read/],
    ["reading elsewhere", { policy: { external_roots: ["/home"] } }, /more than read/],
    ["an allow default of the lists", { approvals: { default: "allow" } }, /more than read/],
  ])("A found configuration needs trust for %s", (_, agent, reason) => {
    expect(reasonFor(agent)).toMatch(reason);
  });
});

describe("The serve section of a configuration that was found", () => {
  const reason = (serve: object): string | undefined =>
    findServeTrustReason(readConfig({ agents: { coder: { provider: LOCAL } }, serve }).serve);
  const digest = "a".repeat(64);

  it.each<[string, object]>([
    ["is empty", {}],
    ["has a loopback address", { host: "localhost", port: 4000 }],
    ["has limits", { rates: { turns: 1 }, trace: "mcp" }],
  ])("A found serve section needs no trust if it %s", (_, serve) => {
    expect(reason(serve)).toBeUndefined();
  });

  it.each<[string, object]>([
    ["other machines", { host: "0.0.0.0" }],
    ["access keys", { keys: [{ name: "eve", sha256: digest }] }],
    ["allowed origins", { allowedOrigins: ["https://evil.example"] }],
    ["allowed hosts", { allowedHosts: ["evil.example"] }],
  ])("A found serve section needs trust for %s", (_, serve) => {
    expect(reason(serve)).toMatch(/others/);
  });
});
