import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PolicyDecision } from "../../src/domain/policy/policy-decision.ts";
import { readPolicy } from "../../src/policy/document/read-policy.ts";
import { evaluatePolicy } from "../../src/policy/evaluate-policy.ts";
import { mergePolicies } from "../../src/policy/merge-policies.ts";
import type { Policy } from "../../src/domain/policy/policy.ts";
import { document, judged, matcher, type Document } from "./policy-arbitraries.ts";
import { allowLongTests, runs } from "../support/test-depth.ts";

allowLongTests();

const RUNS = { numRuns: runs(2_500) };
const FEWER = { numRuns: runs(800) };
const ORDER = ["allow", "ask", "deny"];

/** How strict a decision is: of two that ask, the one that asks more people. */
function strictness({ action, approvers }: PolicyDecision): number {
  return ORDER.indexOf(action) * 100 + approvers;
}

describe("merging", () => {
  it("never widens, and narrows no more than it has to [W-05]", () => {
    fc.assert(
      fc.property(document, document, judged, (outer, inner, { context, input }) => {
        const [one, other] = [readPolicy(outer), readPolicy(inner)];
        const apart = [one, other].map((policy) =>
          strictness(evaluatePolicy(policy, context, input)),
        );
        const together = evaluatePolicy(mergePolicies(one, other), context, input);
        expect(strictness(together)).toBe(Math.max(...apart));
      }),
      RUNS,
    );
  });

  it("comes to the same in any order", () => {
    fc.assert(
      fc.property(document, document, document, judged, (a, b, c, { context, input }) => {
        const [one, two, three] = [readPolicy(a), readPolicy(b), readPolicy(c)];
        const decisions = [
          mergePolicies(mergePolicies(one, two), three),
          mergePolicies(one, mergePolicies(two, three)),
          mergePolicies(three, mergePolicies(two, one)),
        ].map((policy) => strictness(evaluatePolicy(policy, context, input)));
        expect(new Set(decisions).size).toBe(1);
      }),
      FEWER,
    );
  });
});

describe("a policy with one thing more", () => {
  type Change = (document: Document, matcher: unknown) => object;

  function without(document: Document, action: "allow"): readonly object[] {
    return (document.rules ?? []).filter((rule) => !(action in rule));
  }

  function list(document: Document, name: string): readonly unknown[] {
    const given = document[name];
    return Array.isArray(given) ? given : [];
  }

  it.each<readonly [string, Change]>([
    [
      "a rule that denies, before the others",
      (document, matcher) => ({
        ...document,
        rules: [{ deny: matcher }, ...list(document, "rules")],
      }),
    ],
    [
      "a rule that denies, after the others",
      (document, matcher) => ({
        ...document,
        rules: [...list(document, "rules"), { deny: matcher }],
      }),
    ],
    [
      "an entry in auto_deny",
      (document) => ({ ...document, auto_deny: [...list(document, "auto_deny"), "r*"] }),
    ],
    [
      "a list of where writing is allowed",
      (document) => ({ write_path_allowlist: ["src/**"], ...document }),
    ],
    ["a lower limit", (document) => ({ ...document, repeat_limit: 1 })],
    [
      "a sensitive path",
      (document) => ({
        ...document,
        sensitive_path_patterns: [...list(document, "sensitive_path_patterns"), "lib/**"],
      }),
    ],
    [
      "an allowance less",
      (document) => ({ ...document, auto_approve: [], rules: without(document, "allow") }),
    ],
    [
      "nothing opened",
      (document) => ({
        ...document,
        allow_sensitive_paths: false,
        allow_external_paths: false,
        external_roots: [],
        allow_unparsed_commands: false,
      }),
    ],
  ])("never allows more: %s", (title, change) => {
    fc.assert(
      fc.property(document, matcher, judged, (document, matcher, { context, input }) => {
        const before = evaluatePolicy(readPolicy(document), context, input);
        const after = evaluatePolicy(readPolicy(change(document, matcher)), context, input);
        expect(strictness(after)).toBeGreaterThanOrEqual(strictness(before));
      }),
      title.includes("denies") ? RUNS : FEWER,
    );
  });

  it("lets nothing run that did not run before, if that is a rule that asks", () => {
    fc.assert(
      fc.property(document, matcher, judged, (document, matcher, { context, input }) => {
        const asking = { ...document, rules: [...(document.rules ?? []), { ask: matcher }] };
        const after = evaluatePolicy(readPolicy(asking), context, input).action;
        const before = evaluatePolicy(readPolicy(document), context, input).action;
        expect(after === "allow" ? before : "allow").toBe("allow");
      }),
      FEWER,
    );
  });
});

describe("any policy", () => {
  it("that allows by a matcher would deny by it", () => {
    let allowed = 0;
    fc.assert(
      fc.property(matcher, judged, (matcher, { context, input }) => {
        const open = { allow_sensitive_paths: true, allow_external_paths: true };
        const allowing = readPolicy({ ...open, rules: [{ allow: matcher }], default: "deny" });
        const denying = readPolicy({ ...open, rules: [{ deny: matcher }], default: "allow" });
        const isAllowed = evaluatePolicy(allowing, context, input).action === "allow";
        allowed += isAllowed ? 1 : 0;
        const opposite = evaluatePolicy(denying, context, input).action;
        expect(isAllowed ? opposite : "deny").toBe("deny");
      }),
      FEWER,
    );
    expect(allowed).toBeGreaterThan(FEWER.numRuns / 50);
  });

  it("decides the same whatever the order of its rules", () => {
    fc.assert(
      fc.property(document, judged, ({ rules = [], ...rest }, { context, input }) => {
        const forth = evaluatePolicy(readPolicy({ ...rest, rules }), context, input);
        const back = evaluatePolicy(
          readPolicy({ ...rest, rules: rules.toReversed() }),
          context,
          input,
        );
        expect(strictness(back)).toBe(strictness(forth));
      }),
      FEWER,
    );
  });

  it("decides the same out of a log", () => {
    fc.assert(
      fc.property(document, judged, (document, { context, input }) => {
        const policy = readPolicy(document);
        const logged = JSON.parse(JSON.stringify({ policy, context, input }));
        const decision = evaluatePolicy(policy, context, input);
        expect(evaluatePolicy(logged.policy, logged.context, logged.input)).toEqual(decision);
        expect(JSON.parse(JSON.stringify(decision))).toEqual(decision);
      }),
      FEWER,
    );
  });

  it("denies what is protected or no path", () => {
    fc.assert(
      fc.property(document, judged, (document, { context, input }) => {
        fc.pre(
          context.paths.some(({ location }) => location === "protected" || location === "invalid"),
        );
        expect(evaluatePolicy(readPolicy(document), context, input).action).toBe("deny");
      }),
      FEWER,
    );
  });

  it("lets no command run unasked that nobody understood, unless it says so", () => {
    fc.assert(
      fc.property(document, judged, (document, { context, input }) => {
        fc.pre(context.commandUnparsed !== undefined);
        const policy = readPolicy({ ...document, allow_unparsed_commands: false });
        expect(evaluatePolicy(policy, context, input).action).not.toBe("allow");
      }),
      FEWER,
    );
  });

  it("lets a writing tool write nowhere but on its list [W-04]", () => {
    fc.assert(
      fc.property(document, judged, (document, { context, input }) => {
        const policy = readPolicy({ ...document, write_path_allowlist: ["src/**"] });
        fc.pre(["edit", "delete", "move", "execute", "other"].includes(context.kind));
        const { action } = evaluatePolicy(policy, context, input);
        const isOnList =
          context.paths.length > 0 &&
          context.paths.every(({ workspacePath }) => /^src(\/|$)/.test(workspacePath ?? ""));
        expect(isOnList ? "deny" : action).toBe("deny");
      }),
      FEWER,
    );
  });

  it("that is none at all denies, and nothing throws", () => {
    fc.assert(
      fc.property(fc.anything(), judged, (anything, { context, input }) => {
        expect(evaluatePolicy(anything as Policy, context, input).action).toBe("deny");
        const layered = { layers: [anything] } as Policy;
        expect(evaluatePolicy(layered, context, input).action).toBe("deny");
      }),
      FEWER,
    );
  });
});
