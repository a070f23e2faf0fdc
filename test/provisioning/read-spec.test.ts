import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readChanges, readSpec } from "../../src/provisioning/read-spec.ts";
import { toHarnessSpec } from "../../src/wire/agentcore/control/harness-draft.ts";
import { ROLE } from "../support/server/scripted-control-plane.ts";
import { catchRejection } from "../support/session/provider-session.ts";

function file(name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "spanline-spec-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe("Spec files", () => {
  it("A spec can be YAML with our member names [RMA-P1-7]", async () => {
    const path = file(
      "spec.yaml",
      `
name: support
roleArn: ${ROLE}
systemPrompt: |
  Be brief.
model: us.anthropic.x
tools:
  - { type: agentcore_browser, name: web }
  - name: refund
    description: Pays money back
    schema: { type: object, properties: { order: { type: string } } }
allowedTools: ["@builtin"]
maxIterations: 10
environmentVariables: { A: "1" }
memory: { disabled: {} }
tags: { team: a }
`,
    );
    expect(await readSpec({ specFile: path })).toEqual({
      name: "support",
      roleArn: ROLE,
      systemPrompt: "Be brief.\n",
      model: "us.anthropic.x",
      tools: [
        { type: "agentcore_browser", name: "web" },
        {
          type: "inline_function",
          name: "refund",
          config: {
            inlineFunction: {
              description: "Pays money back",
              inputSchema: { type: "object", properties: { order: { type: "string" } } },
            },
          },
        },
      ],
      allowedTools: ["@builtin"],
      maxIterations: 10,
      environmentVariables: { A: "1" },
      memory: { disabled: {} },
      tags: { team: "a" },
    });
  });

  it("A spec can be JSON with the member names of the service", async () => {
    const request = {
      harnessName: "support",
      executionRoleArn: ROLE,
      systemPrompt: [{ text: "Be brief." }],
      model: { bedrockModelConfig: { modelId: "us.x" } },
    };
    const spec = await readSpec({ specFile: file("spec.json", JSON.stringify(request)) });
    const { systemPrompt, model } = request;
    expect(spec).toEqual({ name: "support", roleArn: ROLE, systemPrompt, model });
  });

  it.each([
    [
      "a misspelt setting",
      "systemPromt: x",
      "systemPromt",
      'Key "systemPromt" does not exist. Fix: did you mean "systemPrompt"?',
    ],
    ["a number in place of a string", "name: 5", "name", "name is 5: expected a string"],
    ["a string in place of a number", "maxTokens: many", "maxTokens", "a whole number above 0"],
    ["a string in place of a list", "tools: web", "tools", "expected a list"],
    ["a tool without a type", "tools: [{ name: x }]", "tools[0].type", "expected a string"],
    ["a list", "- x", "spec", "expected an object with settings"],
  ])(
    "A spec with %s is refused with the file and the path of the setting",
    async (_, text, path, words) => {
      const spec = file("spec.yaml", text);
      const error = await catchRejection(readSpec({ specFile: spec }));
      expect(error).toMatchObject({
        code: "invalid_option",
        message: expect.stringContaining(words),
        details: { path },
      });
      expect(String(error)).toContain(spec);
    },
  );

  it("A spec that cannot be read is reported with the reason", async () => {
    expect(await catchRejection(readSpec({ specFile: "/nowhere/spec.yaml" }))).toMatchObject({
      code: "unreadable_input",
      message: "Cannot read /nowhere/spec.yaml: file not found",
    });
    expect(await catchRejection(readSpec({ specFile: file("spec.yaml", "a: [") }))).toMatchObject({
      code: "unreadable_input",
      message: expect.stringContaining("neither YAML nor JSON"),
    });
  });

  it("A tools file is a list of tools", async () => {
    const path = file("tools.json", JSON.stringify([{ type: "agentcore_browser" }]));
    const sources = { toolsFile: path, overrides: { maxTokens: 5 } };
    const tools = [{ type: "agentcore_browser" }];
    expect(await readChanges(sources)).toEqual({ tools, maxTokens: 5 });
  });

  it("Command line options take precedence over the file", async () => {
    const specFile = file("spec.yaml", `{ name: a, roleArn: "${ROLE}", model: x, memory: null }`);
    const overrides = { name: "b", model: "y" };
    expect(await readChanges({ specFile, overrides })).toEqual({
      roleArn: ROLE,
      model: "y",
      memory: null,
    });
    expect(await catchRejection(readSpec({ specFile, overrides }))).toMatchObject({
      message:
        "memory is null: expected an object; null is valid only for changes to an existing harness",
    });
  });

  it("A spec without name or role names the missing member", () => {
    expect(() => toHarnessSpec({ roleArn: ROLE })).toThrow("name is missing");
    expect(() => toHarnessSpec({ name: "a" })).toThrow("roleArn is missing");
  });
});
