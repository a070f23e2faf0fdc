import { describe, expect, it } from "vitest";
import { listToolRules } from "../../../src/session/tools/list-tool-rules.ts";
import { createScriptedProvider } from "../../support/session/scripted-provider.ts";
import { createAgent, createTool } from "../../support/session/session-world.ts";
import { createPolicy } from "../../support/session/create-policy.ts";
import { WRITE_TRAITS } from "../../support/session/writing-agent.ts";

const READS = { kind: "read", sideEffect: "read_only" } as const;

const { spec } = createAgent({
  provider: createScriptedProvider([]),
  tools: [
    createTool({ name: "read", traits: READS }, () => ""),
    createTool({ name: "write", traits: WRITE_TRAITS }, () => ""),
    createTool({ name: "send" }, () => ""),
    createTool({ name: "remove" }, () => ""),
  ],
  policy: createPolicy([
    ["read", "allow"],
    ["wr?te", "allow", 1, { path: ["docs/**"] }],
    ["send", "allow"],
    ["remove", "deny"],
  ]),
});

function listRules(mode: Parameters<typeof listToolRules>[1]) {
  return listToolRules(spec, mode).map(({ name, action, dependsOnArguments }) => [
    name,
    action,
    dependsOnArguments,
  ]);
}

describe("listToolRules", () => {
  it("The list has the action of each tool, and whether arguments may change it", () => {
    expect(listRules("default")).toEqual([
      ["read", "allow", false],
      ["write", "ask", true],
      ["send", "allow", false],
      ["remove", "deny", false],
    ]);
  });

  it("The session mode narrows the listed actions", () => {
    expect(listRules("ask").map(([, action]) => action)).toEqual(["allow", "ask", "ask", "deny"]);
    expect(listRules("read-only")).toEqual([
      ["read", "allow", false],
      ["write", "deny", false],
      ["send", "deny", false],
      ["remove", "deny", false],
    ]);
  });

  it("A write allowlist makes the actions of writing tools depend on their arguments", () => {
    const policy = createPolicy([["*", "allow"]], { writePathAllowlist: ["docs/**"] });
    const kinds = [
      { kind: "edit", sideEffect: "read_only" },
      { kind: "fetch", sideEffect: "network" },
      { kind: "read", sideEffect: "workspace_write" },
    ] as const;
    const tools = kinds.map((traits) => createTool({ name: traits.kind, traits }, () => ""));
    const agent = createAgent({ provider: createScriptedProvider([]), tools, policy });
    expect(
      listToolRules(agent.spec, "default").map(({ name, dependsOnArguments: isOpen }) => [
        name,
        isOpen,
      ]),
    ).toEqual([
      ["edit", true],
      ["fetch", false],
      ["read", true],
    ]);
  });
});
