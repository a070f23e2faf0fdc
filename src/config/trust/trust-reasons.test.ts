import { describe, expect, it } from "vitest";
import { findTrustReason, findServeTrustReason } from "./trust-reasons.ts";
import { readConfig } from "../read-config.ts";

const ARN = "arn:aws:bedrock-agentcore:eu-central-1:123456789012:harness/support-abcdefghij";
const LOCAL = { type: "local", model: "ollama:qwen3" };

function reasonFor(agent: object): string | undefined {
  const [config] = readConfig({ agents: { coder: { provider: LOCAL, ...agent } } }).agents;
  return config === undefined ? "no agent" : findTrustReason(config);
}

describe("a configuration that was merely found", () => {
  it.each<[string, object]>([
    ["asks about everything", { workspace: true, policy: {} }],
    ["lets read", { workspace: true, policy: { auto_approve: ["read_file", "search"] } }],
    [
      "lets read some files",
      { policy: { rules: [{ allow: { tool: "read_file", path: "src/**" } }] } },
    ],
    ["lets read by lists", { approvals: { allow: ["list_files"] } }],
    ["is of a harness", { provider: { type: "harness", arn: ARN } }],
  ])("needs no trust when it %s", (_, agent) => {
    expect(reasonFor(agent)).toBeUndefined();
  });

  it.each<[string, object, RegExp]>([
    ["tools of its own", { tools: ["./tools.mjs"] }, /code/],
    ["a program", { mcpServers: { s: { command: "node" } } }, /code/],
    [
      "a server elsewhere",
      { mcpServers: { s: { type: "http", url: "https://x.example/mcp" } } },
      /MCP/,
    ],
    ["variables", { environment: { OPENAI_BASE_URL: "http://evil.example/v1" } }, /variables/],
    [
      "an endpoint",
      { provider: { type: "harness", arn: ARN, endpoint: "http://e.example" } },
      /reached/,
    ],
    [
      "the address of a model's server",
      { provider: { ...LOCAL, baseUrl: "http://e.example/v1" } },
      /reached/,
    ],
    ["a folder elsewhere", { workspace: { root: "../other" } }, /folder/],
    ["another folder by its full path", { workspace: { root: "/etc" } }, /folder/],
    ["variables for commands", { workspace: { passEnvironment: ["HOME"] } }, /folder/],
    ["everything allowed", { policy: { default: "allow" } }, /more than read/],
    ["a tool that writes", { policy: { auto_approve: ["write_file"] } }, /more than read/],
    ["a pattern of tools", { policy: { auto_approve: ["read_*"] } }, /more than read/],
    ["commands", { policy: { rules: [{ allow: { command: "npm test" } }] } }, /more than read/],
    ["reading elsewhere", { policy: { external_roots: ["/home"] } }, /more than read/],
    ["all that no list names", { approvals: { default: "allow" } }, /more than read/],
  ])("needs it for %s", (_, agent, reason) => {
    expect(reasonFor(agent)).toMatch(reason);
  });
});

describe("a configuration that was merely found, and how it serves", () => {
  const reason = (serve: object): string | undefined =>
    findServeTrustReason(readConfig({ agents: { coder: { provider: LOCAL } }, serve }).serve);
  const digest = "a".repeat(64);

  it.each<[string, object]>([
    ["says nothing of it", {}],
    ["says where on this machine", { host: "localhost", port: 4000 }],
    ["says how much", { rates: { turns: 1 }, trace: "mcp" }],
  ])("needs no trust when it %s", (_, serve) => {
    expect(reason(serve)).toBeUndefined();
  });

  it.each<[string, object]>([
    ["other machines", { host: "0.0.0.0" }],
    ["keys of somebody", { keys: [{ name: "eve", sha256: digest }] }],
    ["pages", { allowedOrigins: ["https://evil.example"] }],
    ["another name of this machine", { allowedHosts: ["evil.example"] }],
  ])("needs it for %s", (_, serve) => {
    expect(reason(serve)).toMatch(/others/);
  });
});
