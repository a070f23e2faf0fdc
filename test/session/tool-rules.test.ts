import { describe, expect, it } from "vitest";
import { toolRules } from "../../src/session/tools/tool-rules.ts";
import { scriptedProvider } from "../support/scripted-provider.ts";
import { agentOf, tool } from "../support/session-world.ts";
import { policyOf } from "../support/policy.ts";
import { TRAITS } from "../support/writing-agent.ts";

const READS = { kind: "read", sideEffect: "read_only" } as const;

const { facts } = agentOf({
  provider: scriptedProvider([]),
  tools: [
    tool({ name: "read", traits: READS }, () => ""),
    tool({ name: "write", traits: TRAITS }, () => ""),
    tool({ name: "send" }, () => ""),
    tool({ name: "remove" }, () => ""),
  ],
  policy: policyOf([
    ["read", "allow"],
    ["wr?te", "allow", 1, { path: ["docs/**"] }],
    ["send", "allow"],
    ["remove", "deny"],
  ]),
});

function said(mode: Parameters<typeof toolRules>[1]) {
  return toolRules(facts, mode).map(({ name, action, isOpen }) => [name, action, isOpen]);
}

describe("what is said of tools that nobody has called", () => {
  it("is what the rules say, with whether arguments may lead elsewhere", () => {
    expect(said("default")).toEqual([
      ["read", "allow", false],
      ["write", "ask", true],
      ["send", "allow", false],
      ["remove", "deny", false],
    ]);
  });

  it("is what the mode leaves of that", () => {
    expect(said("ask").map(([, action]) => action)).toEqual(["allow", "ask", "ask", "deny"]);
    expect(said("read-only")).toEqual([
      ["read", "allow", false],
      ["write", "deny", false],
      ["send", "deny", false],
      ["remove", "deny", false],
    ]);
  });

  it("is open where a list says where may be written, for what that list is about", () => {
    const policy = policyOf([["*", "allow"]], { writePathAllowlist: ["docs/**"] });
    const kinds = [
      { kind: "edit", sideEffect: "read_only" },
      { kind: "fetch", sideEffect: "network" },
      { kind: "read", sideEffect: "workspace_write" },
    ] as const;
    const tools = kinds.map((traits) => tool({ name: traits.kind, traits }, () => ""));
    const agent = agentOf({ provider: scriptedProvider([]), tools, policy });
    expect(toolRules(agent.facts, "default").map(({ name, isOpen }) => [name, isOpen])).toEqual([
      ["edit", true],
      ["fetch", false],
      ["read", true],
    ]);
  });
});
