import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  computeContentDigest,
  createContentName,
  parseContentDigest,
  shortenBase,
} from "./content-name.ts";

const SPEC = {
  name: "support",
  roleArn: "arn:aws:iam::123456789012:role/agent",
  systemPrompt: "Be brief.",
  tools: [{ type: "agentcore_browser", name: "web" }],
};

describe("a name by content", () => {
  it("is the base and eight hex digits that do not change from run to run", () => {
    expect(createContentName(SPEC)).toBe(`support_${computeContentDigest(SPEC)}`);
    expect(createContentName(SPEC)).toBe("support_6e026828");
  });

  it("is the same however the same thing is written", () => {
    const { systemPrompt, ...rest } = SPEC;
    const other = {
      tags: { team: "a" },
      environment: {},
      systemPrompt: [{ text: systemPrompt }],
      ...rest,
      roleArn: ` ${SPEC.roleArn} `,
    };
    expect(createContentName(other)).toBe(createContentName(SPEC));
  });

  it.each([
    ["the prompt", { systemPrompt: "Be long." }],
    ["a tool", { tools: [] }],
    ["the role", { roleArn: `${SPEC.roleArn}2` }],
    ["the model", { model: "us.x" }],
    ["the environment", { environment: { agentCoreRuntimeEnvironment: {} } }],
    ["a limit", { timeoutSeconds: 60 }],
  ])("is another when %s is", (_, change) => {
    expect(computeContentDigest({ ...SPEC, ...change })).not.toBe(computeContentDigest(SPEC));
  });

  it("has the base apart from the digest: two names, one content", () => {
    const other = { ...SPEC, name: "sales" };
    expect(computeContentDigest(other)).toBe(computeContentDigest(SPEC));
    expect(createContentName(other)).not.toBe(createContentName(SPEC));
  });
});

describe("a base", () => {
  it.each([
    ["support", "support"],
    ["my-agent v2", "my_agent_v2"],
    ["2nd", "a2nd"],
    ["", "a"],
    ["日本", "a__"],
    ["b".repeat(31), "b".repeat(31)],
  ])("%j becomes %j", (base, wanted) => {
    expect(shortenBase(base)).toBe(wanted);
  });

  it("that is too long is cut, and kept apart from others that start alike", () => {
    const [one, other] = [shortenBase(`${"b".repeat(31)}x`), shortenBase(`${"b".repeat(31)}y`)];
    expect(one).toMatch(/^b{24}_[0-9a-f]{6}$/);
    expect(other).not.toBe(one);
  });

  it("of any kind makes a name that the service takes, and is found in it again", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (base) => {
        const name = createContentName({ ...SPEC, name: base });
        expect(name).toMatch(/^[a-zA-Z][a-zA-Z0-9_]{0,39}$/);
        expect(parseContentDigest(name, base)).toBe(computeContentDigest(SPEC));
      }),
    );
  });

  it("is found in no name but its own", () => {
    expect(parseContentDigest("support_0123abcd", "support")).toBe("0123abcd");
    for (const name of [
      "support",
      "support_0123abc",
      "support_0123ABCD",
      "support_0123abcde",
      "support_x_0123abcd",
      "my_support_0123abcd",
      "support_0123abcd_0123abcd",
    ]) {
      expect(parseContentDigest(name, "support")).toBeNull();
    }
  });
});
