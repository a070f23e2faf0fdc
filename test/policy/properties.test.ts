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

/** Strictness of a decision. Of two `ask` decisions, more approvers are stricter. */
function strictness({ action, approvers }: PolicyDecision): number {
  return ORDER.indexOf(action) * 100 + approvers;
}

describe("Merging policies", () => {
  it("A merged policy is exactly as strict as its strictest member [W-05]", () => {
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

  it("Merging policies in any order has the same result", () => {
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

describe("Stricter policies", () => {
  type Change = (document: Document, matcher: unknown) => object;

  function without(document: Document, action: "allow"): readonly object[] {
    return (document.rules ?? []).filter((rule) => !(action in rule));
  }

  function list(document: Document, name: string): readonly unknown[] {
    const documentPart = document[name];
    return Array.isArray(documentPart) ? documentPart : [];
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
    ["a write_path_allowlist", (document) => ({ write_path_allowlist: ["src/**"], ...document })],
    ["a lower limit", (document) => ({ ...document, repeat_limit: 1 })],
    [
      "an additional sensitive path",
      (document) => ({
        ...document,
        sensitive_path_patterns: [...list(document, "sensitive_path_patterns"), "lib/**"],
      }),
    ],
    [
      "without allow rules",
      (document) => ({ ...document, auto_approve: [], rules: without(document, "allow") }),
    ],
    [
      "without permissions for sensitive, external or unparsed input",
      (document) => ({
        ...document,
        allow_sensitive_paths: false,
        allow_external_paths: false,
        external_roots: [],
        allow_unparsed_commands: false,
      }),
    ],
  ])("A stricter policy never allows more: %s", (title, change) => {
    fc.assert(
      fc.property(document, matcher, judged, (document, matcher, { context, input }) => {
        const before = evaluatePolicy(readPolicy(document), context, input);
        const after = evaluatePolicy(readPolicy(change(document, matcher)), context, input);
        expect(strictness(after)).toBeGreaterThanOrEqual(strictness(before));
      }),
      title.includes("denies") ? RUNS : FEWER,
    );
  });

  it("An additional ask rule allows nothing that was not allowed before", () => {
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

describe("All policies", () => {
  it("A matcher that allows a tool call would also deny it", () => {
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

  it("The order of rules does not change the decision", () => {
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

  it("A policy from a log makes the same decision", () => {
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

  it("Protected and invalid paths are denied", () => {
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

  it("An unparsed command is not allowed unless the policy has allow_unparsed_commands", () => {
    fc.assert(
      fc.property(document, judged, (document, { context, input }) => {
        fc.pre(context.commandUnparsed !== undefined);
        const policy = readPolicy({ ...document, allow_unparsed_commands: false });
        expect(evaluatePolicy(policy, context, input).action).not.toBe("allow");
      }),
      FEWER,
    );
  });

  it("A writing tool writes only to paths on the allowlist [W-04]", () => {
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

  it("An invalid policy denies and does not throw", () => {
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
