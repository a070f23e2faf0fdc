import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { contentDigest, contentName, digestIn, shortBase } from "./content-name.ts";

const SPEC = {
  name: "support",
  roleArn: "arn:aws:iam::123456789012:role/agent",
  systemPrompt: "Be brief.",
  tools: [{ type: "agentcore_browser", name: "web" }],
};

describe("a name by content", () => {
  it("is the base and eight hex digits that do not change from run to run", () => {
    expect(contentName(SPEC)).toBe(`support_${contentDigest(SPEC)}`);
    expect(contentName(SPEC)).toBe("support_6e026828");
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
    expect(contentName(other)).toBe(contentName(SPEC));
  });

  it.each([
    ["the prompt", { systemPrompt: "Be long." }],
    ["a tool", { tools: [] }],
    ["the role", { roleArn: `${SPEC.roleArn}2` }],
    ["the model", { model: "us.x" }],
    ["the environment", { environment: { agentCoreRuntimeEnvironment: {} } }],
    ["a limit", { timeoutSeconds: 60 }],
  ])("is another when %s is", (_, change) => {
    expect(contentDigest({ ...SPEC, ...change })).not.toBe(contentDigest(SPEC));
  });

  it("has the base apart from the digest: two names, one content", () => {
    const other = { ...SPEC, name: "sales" };
    expect(contentDigest(other)).toBe(contentDigest(SPEC));
    expect(contentName(other)).not.toBe(contentName(SPEC));
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
    expect(shortBase(base)).toBe(wanted);
  });

  it("that is too long is cut, and kept apart from others that start alike", () => {
    const [one, other] = [shortBase(`${"b".repeat(31)}x`), shortBase(`${"b".repeat(31)}y`)];
    expect(one).toMatch(/^b{24}_[0-9a-f]{6}$/);
    expect(other).not.toBe(one);
  });

  it("of any kind makes a name that the service takes, and is found in it again", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (base) => {
        const name = contentName({ ...SPEC, name: base });
        expect(name).toMatch(/^[a-zA-Z][a-zA-Z0-9_]{0,39}$/);
        expect(digestIn(name, base)).toBe(contentDigest(SPEC));
      }),
    );
  });

  it("is found in no name but its own", () => {
    expect(digestIn("support_0123abcd", "support")).toBe("0123abcd");
    for (const name of [
      "support",
      "support_0123abc",
      "support_0123ABCD",
      "support_0123abcde",
      "support_x_0123abcd",
      "my_support_0123abcd",
      "support_0123abcd_0123abcd",
    ]) {
      expect(digestIn(name, "support")).toBeNull();
    }
  });
});
