import { describe, expect, it } from "vitest";
import { TEST_CREDENTIALS } from "../../emulator/emulator-options.ts";
import { harnessProvider } from "../../providers/agentcore/harness-provider.ts";
import type { Provider } from "../../providers/provider.ts";
import { defineTool } from "../../tools/define-tool.ts";
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
  it("The default agent asks before every tool and about every lost invocation, within caps", () => {
    const { spec, tools } = defineAgent({ name: "demo", provider: harness, tools: [note] });
    expect(spec).toEqual({
      name: "demo",
      provider: {
        name: harness.name,
        injectionPoints: harness.injectionPoints,
        capabilities: {
          instructions: true,
          tools: true,
          allowedTools: true,
          maxOutputTokens: true,
        },
        effectFree: false,
        canStop: true,
      },
      tools: [note.spec],
      approvals: { deny: [], ask: [], allow: [], default: "ask" },
      caps: { steps: 50, seconds: 3600, tokens: null, toolCalls: 200, parallelTools: 8 },
      onLost: "ask",
      settle: "wait",
      approvalMs: 3_600_000,
    });
    expect([...tools]).toEqual([["save_note", note]]);
  });

  it("Settings are stored in the units of the log", () => {
    const { spec: facts } = defineAgent({
      name: "demo",
      provider: harness,
      tools: [note],
      caps: { steps: 3 },
      onLost: "reseed",
      settle: "stop",
      approvalSeconds: 5,
      contextTokens: 200_000,
      upstream: { idleSeconds: 900, lifetimeSeconds: 28_800 },
      terminalTool: { name: "save_note" },
    });
    expect(facts).toMatchObject({
      caps: { steps: 3, toolCalls: 200 },
      onLost: "reseed",
      settle: "stop",
      approvalMs: 5000,
      contextTokens: 200_000,
      provider: { idleMs: 900_000, lifetimeMs: 28_800_000 },
      terminalTool: { name: "save_note", maxReprompts: 2 },
    });
  });

  it("The digest changes with the definition and is otherwise stable", () => {
    const digest = (steps: number): string =>
      defineAgent({ name: "demo", provider: harness, caps: { steps } }).digest;
    expect(digest(1)).toBe(digest(1));
    expect(digest(1)).not.toBe(digest(2));
  });

  it("The spec records whether the provider can stop an invocation", () => {
    const unstoppable: Provider = {
      ...harness,
      open(options) {
        const session = harness.open(options);
        return { id: session.id, invoke: (...args) => session.invoke(...args) };
      },
    };
    const { spec: facts } = defineAgent({ name: "demo", provider: unstoppable });
    expect(facts.provider.canStop).toBe(false);
  });

  it("An undefined setting has its default", () => {
    const plain = defineAgent({ name: "demo", provider: harness });
    const unset = {
      approvals: { deny: undefined, ask: undefined, allow: undefined, default: undefined },
      caps: { steps: undefined, tokens: undefined },
      upstream: { idleSeconds: undefined },
      approvalSeconds: undefined,
      onLost: undefined,
    };
    const definedAgent = defineAgent(Object({ name: "demo", provider: harness, ...unset }));
    expect(definedAgent.spec).toEqual(plain.spec);
    expect(JSON.stringify(definedAgent.spec)).toBe(JSON.stringify(plain.spec));
  });

  it('Approval patterns that match a tool are accepted, and so is "*"', () => {
    const approvals = { deny: ["*"], ask: ["save_*", "*_note"], allow: ["save_note"] };
    const { spec: facts } = defineAgent({
      name: "demo",
      provider: harness,
      tools: [note],
      approvals,
    });
    expect(facts.approvals).toEqual({ ...approvals, default: "ask" });
    expect(() =>
      defineAgent({ name: "demo", provider: harness, approvals: { deny: ["*"] } }),
    ).not.toThrow();
  });

  it.each([
    ["name", { name: "two words" }],
    ["name", { name: undefined }],
    ["provider", { provider: undefined }],
    ["provider", { provider: { name: "mine" } }],
    ["tools", { tools: [note, note] }],
    ["tools", { tools: note }],
    ["tools[1]", { tools: [note, { name: "bare" }] }],
    ["tools[0]", { tools: [{ ...note, spec: { ...note.spec, name: "" } }] }],
    ["tools[0]", { tools: [{ ...note, spec: { ...note.spec, name: "a b" } }] }],
    ["onLost", { onLost: "resend" }],
    ["onLost", { onLost: "retry" }],
    ["settle", { settle: "kill" }],
    ["invalidToolInput", { invalidToolInput: true }],
    ["terminalTool.name", { terminalTool: { name: "finish" } }],
    ["terminalTool", { terminalTool: "save_note" }],
    ["terminalTool.maxReprompts", { terminalTool: { name: "save_note", maxReprompts: -1 } }],
    ["terminalTool.maxReprompts", { terminalTool: { name: "save_note", maxReprompts: 1.5 } }],
    ["approvals", { approvals: ["save_note"] }],
    ["approvals.denied", { approvals: { denied: ["save_note"] } }],
    ["approvals.deny", { approvals: { deny: "save_note" } }],
    ["approvals.ask", { approvals: { ask: null } }],
    ["approvals.allow[1]", { approvals: { allow: ["save_note", 7] } }],
    ["approvals.deny[0]", { approvals: { deny: ["save_notes"] } }],
    ["approvals.deny[0]", { approvals: { deny: ["delete_*"] } }],
    ["approvals.default", { approvals: { default: "never" } }],
    ["caps", { caps: 3 }],
    ["caps.step", { caps: { step: 3 } }],
    ["caps.steps", { caps: { steps: 0 } }],
    ["caps.steps", { caps: { steps: "3" } }],
    ["caps.steps", { caps: { steps: null } }],
    ["caps.seconds", { caps: { seconds: Number.NaN } }],
    ["caps.seconds", { caps: { seconds: Infinity } }],
    ["approvalSeconds", { approvalSeconds: "5" }],
    ["approvalSeconds", { approvalSeconds: 0 }],
    ["upstream", { upstream: 900 }],
    ["upstream.idle", { upstream: { idle: 900 } }],
    ["upstream.idleSeconds", { upstream: { idleSeconds: -1 } }],
    ["upstream.lifetimeSeconds", { upstream: { lifetimeSeconds: "1h" } }],
    ["approval", { approval: { deny: ["save_note"] } }],
    ["compaction.strategy", { compaction: { strategy: "forget" } }],
    ["compaction.thresholdTokens", { compaction: { thresholdTokens: 0 } }],
    ["compaction.threshold_tokens", { compaction: { threshold_tokens: 1 } }],
    ["projection.policy", { projection: { policy: "custom" } }],
    ["projection.redact[0]", { projection: { redact: ["["] } }],
  ] as const)("An invalid %s is refused: %j", (path, change) => {
    const definition: object = { name: "demo", provider: harness, tools: [note], ...change };
    const define = (): unknown => defineAgent(Object(definition));
    expect(define).toThrow(expect.objectContaining({ code: "invalid_option", details: { path } }));
  });

  it.each([
    [
      { approvals: { denny: ["save_note"] } },
      'Key "approvals.denny" does not exist: expected "deny", "ask", "allow" or "default". Fix: did you mean "deny"?',
    ],
    [
      { approvals: { deny: ["save_notes"] } },
      '"save_notes" is not a valid approvals.deny[0]: expected a pattern that matches a tool: "save_note". Fix: did you mean "save_note"?',
    ],
    [{ onlost: "ask" }, 'Key "onlost" does not exist. Fix: did you mean "onLost"?'],
    [{ colour: "red" }, /^Key "colour" does not exist: expected "name", "provider", /],
  ] as const)("The error for %j names the expected value", (change, message) => {
    const definition: object = { name: "demo", provider: harness, tools: [note], ...change };
    expect(() => defineAgent(Object(definition))).toThrow(message);
  });

  it.each([[undefined], [null], ["demo"], [[]]])(
    "The agent definition %j is refused",
    (definition) => {
      expect(() => defineAgent(Object.freeze(definition as never))).toThrow(
        expect.objectContaining({ code: "invalid_option" }),
      );
    },
  );
});
