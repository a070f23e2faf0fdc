import { describe, expect, it } from "vitest";
import { createPolicyContext, readCallFacts } from "../../../policy/facts/tool-call-facts.ts";
import { readPolicy } from "../../../policy/document/read-policy.ts";
import { evaluatePolicy } from "../../../policy/evaluate-policy.ts";
import { readListedTool } from "./listed-tool.ts";

/** The policy decision about a server's tool. */
function decided(server: string, name: string, match: object): string {
  const settings = { name: server, type: "stdio", command: "x" } as const;
  const { tool } = readListedTool({ inputSchema: {} }, name, settings);
  if (tool === undefined) throw new Error("it cannot be used");
  const { modelName, description, schema, idempotent, traits } = tool;
  const facts = { name: modelName, description, schema, idempotent, traits, timeoutMs: 1_000 };
  const context = createPolicyContext(readCallFacts(facts, {}), [], 0);
  const policy = readPolicy({ default: "allow", rules: [{ deny: match }] });
  return evaluatePolicy(policy, context, {}).action;
}

describe("Tools of MCP servers", () => {
  it.each([
    ["a", "repo.delete"],
    ["a", "repo/delete"],
    ["a", "delete repo"],
    ["a", "delete"],
    ["a", "my__delete"],
    ["a", `${"x".repeat(70)}delete`],
    ["the server", "delete"],
    ["the.server", "repo.delete"],
  ])("A rule denies a tool of the server %j by its server-side name %j", (server, name) => {
    expect(decided(server, name, { mcp_server: server, mcp_tool: name })).toBe("deny");
    expect(decided(server, name, { mcp_server: server, mcp_tool: `${name}d` })).toBe("allow");
  });

  it("The server-side name is recorded only if the model name differs", () => {
    const settings = { name: "a", type: "stdio", command: "x" } as const;
    const executors = ["delete", "repo.delete"].map(
      (name) => readListedTool({ inputSchema: {} }, name, settings).tool?.traits.executor,
    );
    expect(executors).toEqual([
      { type: "mcp", server: "a" },
      { type: "mcp", server: "a", tool: "repo.delete" },
    ]);
  });
});
