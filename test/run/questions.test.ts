import { describe, expect, it } from "vitest";
import { defineAgent } from "../../src/bridge/agent/define-agent.ts";
import type { RunOptions } from "../../src/bridge/run/run-options.ts";
import { runToCompletion } from "../../src/bridge/run/run-to-completion.ts";
import { createScriptedProvider, says, wants } from "../support/session/scripted-provider.ts";

/** Runs a turn with a question. Returns the result received by the model. */
async function run(approve?: NonNullable<RunOptions["approve"]>) {
  const provider = createScriptedProvider([
    wants({ id: "c1", name: "ask_user", input: { question: "Which?", options: ["a", "b"] } }),
    says("Thank you."),
  ]);
  const agent = defineAgent({ name: "asker", provider, askUser: true });
  const reports: unknown[] = [];
  const report = (error: unknown): void => void reports.push(error);
  const { outcome } = await runToCompletion(agent, {
    prompt: "Go",
    report,
    ...(approve !== undefined && { approve }),
  });
  return { outcome, result: JSON.stringify(provider.invocations[1]?.input), reports };
}

describe("A question in runToCompletion", () => {
  it("The program answers the question, and the answer reaches the model", async () => {
    const { outcome, result } = await run(async ({ form }) => ({
      decision: "answer",
      answer: form?.choices?.[1] ?? "",
    }));
    expect([outcome, result.includes('"b"')]).toEqual(["completed", true]);
  });

  it("A question is declined if the run has no function that answers questions", async () => {
    expect((await run()).result).toContain("declined to answer");
  });

  it("An answer that does not fit is reported and declines the question, so the run does not wait", async () => {
    const { outcome, result, reports } = await run(async () => ({
      decision: "answer",
      answer: "c",
    }));
    expect([outcome, reports.length]).toEqual(["completed", 1]);
    expect(result).toContain("The answer is not valid");
  });
});

describe("The setting askUser", () => {
  const provider = createScriptedProvider([says("Hi")]);

  it("askUser adds the tool with a wait of one day, or of waitSeconds", () => {
    const { spec } = defineAgent({ name: "asker", provider, askUser: true });
    expect([spec.tools.map(({ name }) => name), spec.askUser]).toEqual([
      ["ask_user"],
      { waitMs: 86_400_000 },
    ]);
    const short = defineAgent({ name: "asker", provider, askUser: { waitSeconds: 5 } });
    expect(short.spec.askUser).toEqual({ waitMs: 5000 });
    expect(defineAgent({ name: "asker", provider, askUser: false }).spec.tools).toEqual([]);
  });

  it.each([
    [{ askUser: "yes" }, "askUser"],
    [{ askUser: { waitSeconds: 0 } }, "askUser"],
    [{ approvals: { deny: ["ask_user"] } }, "approvals.deny[0]"],
  ])("%j is refused", (settings, path) => {
    expect(() => defineAgent({ name: "asker", provider, ...Object(settings) })).toThrow(path);
  });
});
