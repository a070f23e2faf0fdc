import { describe, expect, it } from "vitest";
import { TEST_CREDENTIALS } from "../emulator/emulator-options.ts";
import { harnessProvider } from "../providers/agentcore-harness/harness-provider.ts";
import type { Provider } from "../providers/provider.ts";
import { defineTool } from "../tools/define-tool.ts";
import { defineAgent } from "./define-agent.ts";

const harness = harnessProvider({
  harnessArn: "arn:aws:bedrock-agentcore:us-east-1:123456789012:harness/demo-a1b2c3d4e5",
  credentials: TEST_CREDENTIALS,
});
const note = defineTool({
  name: "save_note",
  description: "Saves a note",
  input: { type: "object" },
  run: () => "",
});

describe("defineAgent", () => {
  it("gives an agent that asks before every tool and about every lost call, within caps", () => {
    const { facts, tools } = defineAgent({ name: "demo", provider: harness, tools: [note] });
    expect(facts).toEqual({
      name: "demo",
      provider: {
        name: harness.name,
        seams: harness.seams,
        effectFree: false,
        canStop: true,
      },
      tools: [note.facts],
      approvals: { deny: [], ask: [], allow: [], otherwise: "ask" },
      caps: { steps: 50, seconds: 3600, tokens: null, toolCalls: 200, parallelTools: 8 },
      onLost: "ask",
      settle: "wait",
      approvalMs: 3_600_000,
    });
    expect([...tools]).toEqual([["save_note", note]]);
  });

  it("keeps what it is told, in the units of the log", () => {
    const { facts } = defineAgent({
      name: "demo",
      provider: harness,
      tools: [note],
      caps: { steps: 3 },
      onLost: "reseed",
      settle: "stop",
      approvalSeconds: 5,
      upstream: { idleSeconds: 900, lifetimeSeconds: 28_800 },
      terminalTool: { name: "save_note" },
    });
    expect(facts).toMatchObject({
      caps: { steps: 3, toolCalls: 200 },
      onLost: "reseed",
      settle: "stop",
      approvalMs: 5000,
      provider: { idleMs: 900_000, lifetimeMs: 28_800_000 },
      terminalTool: { name: "save_note", maxReprompts: 2 },
    });
  });

  it("has another digest when it is defined otherwise, and the same when it is not", () => {
    const digest = (steps: number): string =>
      defineAgent({ name: "demo", provider: harness, caps: { steps } }).digest;
    expect(digest(1)).toBe(digest(1));
    expect(digest(1)).not.toBe(digest(2));
  });

  it("knows whether its provider can be stopped", () => {
    const unstoppable: Provider = {
      ...harness,
      open(options) {
        const session = harness.open(options);
        return { id: session.id, call: (...args) => session.call(...args) };
      },
    };
    const { facts } = defineAgent({ name: "demo", provider: unstoppable });
    expect(facts.provider.canStop).toBe(false);
  });

  it.each([
    ["name", { name: "two words" }],
    ["tools", { tools: [note, note] }],
    ["onLost", { onLost: "resend" }],
    ["terminalTool", { terminalTool: { name: "finish" } }],
  ] as const)("refuses a %s that cannot work", (path, change) => {
    const define = (): unknown => defineAgent({ name: "demo", provider: harness, ...change });
    expect(define).toThrow(expect.objectContaining({ code: "invalid_option", details: { path } }));
  });
});
