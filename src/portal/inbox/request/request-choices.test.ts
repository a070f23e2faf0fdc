import { describe, expect, it } from "vitest";
import { createQuestion, createRequest } from "../../../../test/support/portal/inbox-items.ts";
import {
  findApproval,
  findDenial,
  isEditable,
  listRequestChoices,
  type Decider,
} from "./request-choices.ts";

const ann: Decider = { principal: "ann", rights: ["approve"], isConnected: true };

describe("The choices of a request", () => {
  it("A tool call can be allowed, allowed for the session and denied", () => {
    expect(listRequestChoices({ request: createRequest(), votes: [] }, ann)).toEqual([
      { decision: "allow", label: "Allow", tone: "primary", key: "a" },
      {
        decision: "allow-always",
        label: "Always allow",
        scope: "write_file of README.md",
        tone: "neutral",
        key: "A",
      },
      { decision: "deny", label: "Deny", tone: "danger", key: "d" },
    ]);
  });

  it("No outcome of an interrupted tool is highlighted, and none has the key for yes", () => {
    const request = createRequest({
      question: "outcome",
      options: ["run-again", "deny", "done", "failed"],
    });
    const choices = listRequestChoices({ request, votes: [] }, ann);
    expect(choices.map(({ label, tone, key }) => [label, tone, key])).toEqual([
      ["Run again", "neutral", undefined],
      ["Leave it unknown", "neutral", "d"],
      ["It succeeded", "neutral", undefined],
      ["It failed", "neutral", undefined],
    ]);
    expect(findApproval(request)).toBeUndefined();
  });

  it("A question which needs an answer has no yes button", () => {
    const request = createQuestion({});
    expect(listRequestChoices({ request, votes: [] }, ann).map(({ decision }) => decision)).toEqual(
      ["decline"],
    );
  });

  it("An escalation can only be accepted", () => {
    const request = createQuestion({ kind: "escalation" });
    const choices = listRequestChoices({ request, votes: [] }, ann);
    expect(choices.map(({ label }) => label)).toEqual(["Accept"]);
    expect(findDenial(request)).toBeUndefined();
  });

  it("A person who has approved can still deny", () => {
    const request = createRequest({ approvers: 2, options: ["allow", "deny"] });
    const votes = [{ principal: "ann", decision: "allow" }] as const;
    const choices = listRequestChoices({ request, votes }, ann);
    expect(choices.map(({ disabledReason }) => disabledReason)).toEqual([
      "You have approved already; another person must approve",
      undefined,
    ]);
  });

  it("Without the right or the connection, every choice says why it is disabled", () => {
    const open = { request: createRequest(), votes: [] };
    const reasons = (decider: Decider) =>
      new Set(listRequestChoices(open, decider).map(({ disabledReason }) => disabledReason));
    expect(reasons({ ...ann, rights: [] })).toEqual(
      new Set(["Your key does not have the right to approve"]),
    );
    expect(reasons({ ...ann, isConnected: false })).toEqual(
      new Set(["The portal is disconnected"]),
    );
  });

  it("Only a tool call with arguments can be edited", () => {
    expect(isEditable(createRequest())).toBe(true);
    expect(isEditable(createRequest({ input: null }))).toBe(false);
    expect(isEditable(createQuestion({}))).toBe(false);
  });
});
