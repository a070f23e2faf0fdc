import { describe, expect, it } from "vitest";
import { SpanlineError } from "../domain/errors.ts";
import { readConfig } from "./read-config.ts";

const LOCAL = { type: "local", model: "ollama:qwen3" };
const HARNESS = {
  type: "harness",
  arn: "arn:aws:bedrock-agentcore:eu-central-1:123456789012:harness/a-0123456789",
};

/** Returns the error for an agent named coder, which follows a valid agent. */
function complaintAbout(agent: object): { readonly path: unknown; readonly message: string } {
  try {
    readConfig({ agents: { fine: { provider: LOCAL }, coder: { provider: LOCAL, ...agent } } });
  } catch (error) {
    if (error instanceof SpanlineError)
      return { path: error.details["path"], message: error.message };
    throw error;
  }
  throw new Error("It was accepted");
}

describe("An invalid configuration", () => {
  it.each<[path: string, agent: object, expected: string]>([
    ["caps.steps", { caps: { steps: 0 } }, "expected a whole number, at least 1"],
    ["caps.stps", { caps: { stps: 3 } }, 'did you mean "steps"?'],
    ["caps", { caps: 3 }, "expected an object"],
    ["budgets.turn.tokens", { budgets: { turn: { tokens: 0 } } }, "a whole number, at least 1"],
    ["budgets.day.usd", { budgets: { day: { usd: 1 } } }, "needs prices. Fix: set budgets.prices"],
    ["workers.depth", { workers: { depth: 1 } }, 'did you mean "maxDepth"?'],
    ["workers.maxOpen", { workers: { maxOpen: 0 } }, "a whole number from 1 to 1000"],
    ["workers", { workers: 3 }, "expected true, false or an object"],
    ["workers.agents[1]", { workers: { agents: ["fine", "b"] } }, "expected fine or coder"],
    ["daemon.wake", { daemon: { wake: 3 } }, 'did you mean "wakeSeconds"?'],
    ["runtimeTools[0]", { runtimeTools: ["emit_foo"] }, "expected emit_plan, update_plan"],
    ["budgets.dya", { budgets: { dya: { tokens: 1 } } }, 'did you mean "day"?'],
    ["onLost", { onLost: "reseeed" }, "expected ask, continue, reseed or resend"],
    ["settle", { settle: 1 }, "expected wait, stop or reseed"],
    ["invalidToolInput", { invalidToolInput: "stop" }, "expected report or fail"],
    ["approvalSeconds", { approvalSeconds: -1 }, "expected a number above 0"],
    ["upstream.idle", { upstream: { idle: 1 } }, 'did you mean "idleSeconds"?'],
    ["approvals.alow", { approvals: { alow: [] } }, 'did you mean "allow"?'],
    ["approvals.allow[0]", { approvals: { allow: [1] } }, "expected the name of a tool"],
    ["policy", { approvals: {}, policy: {} }, "expected only one of them"],
    ["provider", { provider: "local" }, "expected an object with a type"],
    ["provider", { provider: 7 }, "expected an object with a type"],
    ["commands", { commands: [] }, "expected an object"],
    ["commands.Review", { commands: { Review: {} } }, "expected up to 32 lowercase letters"],
    ["commands.status", { commands: { status: {} } }, "a built-in command"],
    ["commands.a.promt", { commands: { a: { promt: "x" } } }, 'did you mean "prompt"?'],
    [
      "commands.a.description",
      { commands: { a: { prompt: "x" } } },
      "expected a string that is not empty",
    ],
    [
      "commands.a.prompt",
      { commands: { a: { description: "x", prompt: " " } } },
      "expected a string that is not empty",
    ],
    [
      "commands.a.hint",
      { commands: { a: { description: "x", prompt: "x", hint: 1 } } },
      "expected a string that is not empty",
    ],
    ["terminalTool.name", { terminalTool: { name: 1 } }, "expected the name of a tool"],
    ["provider.baseUrl", { provider: { ...LOCAL, baseUrl: 7 } }, 'expected a URL such as "http:'],
    [
      "provider.baseUrl",
      { provider: { ...LOCAL, baseUrl: "localhost:8000" } },
      'expected a URL such as "http:',
    ],
    ["provider.guards", { provider: { ...LOCAL, guards: 7 } }, "expected an object"],
    [
      "provider.guards.repeatedCals",
      { provider: { ...LOCAL, guards: { repeatedCals: {} } } },
      'did you mean "repeatedCalls"?',
    ],
    [
      "provider.guards.lastSteps.within",
      { provider: { ...LOCAL, guards: { lastSteps: { within: 0 } } } },
      "expected a whole number, at least 1",
    ],
    [
      "provider.limits.idle",
      { provider: { ...HARNESS, limits: { idle: 5 } } },
      'did you mean "idleSeconds"?',
    ],
    [
      "provider.limits.totalSeconds",
      { provider: { ...LOCAL, limits: { totalSeconds: 0 } } },
      "expected a number above 0",
    ],
    ["environment.A", { environment: { A: 1 } }, "expected a string, { env: NAME }"],
    ["environment.A", { environment: { A: "x ${" } }, "without the name of a variable"],
    ["environment.API_TOKEN", { environment: { API_TOKEN: "abc" } }, "looks like a secret"],
  ])("The error names agents.coder.%s and the expected value: %j", (path, agent, expected) => {
    const { path: found, message } = complaintAbout(agent);
    expect(found).toBe(`agents.coder.${path}`);
    expect(message).toContain(`agents.coder.${path}`);
    expect(message).toContain(expected);
    expect(message.match(/agents\./g)).toHaveLength(1);
  });

  it.each<[name: string, provider: object, wanted: string]>([
    ["maxIterations", { maxIterations: "many" }, "expected a whole number above 0"],
    ["allowedTools", { allowedTools: "x" }, "expected a list"],
    ["model", { model: {} }, "exactly one member"],
  ])(
    "The error names agents.coder.provider and the invalid setting: %s",
    (name, provider, expected) => {
      const { path, message } = complaintAbout({ provider: { ...HARNESS, ...provider } });
      expect(path).toBe(`agents.coder.provider.${name}`);
      expect(message).toMatch(/^agents\.coder\.provider: /);
      expect(message).toContain(expected);
    },
  );

  it.each([LOCAL, HARNESS])(
    "The limits of an invocation are converted to milliseconds: %j [OR-52]",
    (provider) => {
      const limits = { connectSeconds: 1, firstEventSeconds: 2.5, idleSeconds: 3, totalSeconds: 4 };
      const { agents } = readConfig({ agents: { coder: { provider: { ...provider, limits } } } });
      expect(agents[0]?.provider).toMatchObject({
        limits: { connect: 1000, firstEvent: 2500, idle: 3000, total: 4000 },
      });
    },
  );

  it("The guards of an agent are parsed with their defaults", () => {
    const guards = { repeatedCalls: false, lastSteps: { within: 2 }, failingTools: undefined };
    const { agents } = readConfig({ agents: { coder: { provider: { ...LOCAL, guards } } } });
    expect(agents[0]?.provider).toEqual({
      ...LOCAL,
      guards: { repeatedCalls: false, lastSteps: { within: 2 }, failingTools: { after: 2 } },
    });
  });

  it.each([{}, { agents: {} }, { serve: { port: 80 } }])(
    "The error for a configuration without agents contains an example: %j",
    (document) => {
      expect(() => readConfig(document)).toThrow(
        "agents is missing: expected at least one agent. Fix: name one with its provider, such as agents: { demo: { provider: { type: demo } } }",
      );
    },
  );
});
