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

describe("Content names", () => {
  it("A content name is the base and eight stable hex digits", () => {
    expect(createContentName(SPEC)).toBe(`support_${computeContentDigest(SPEC)}`);
    expect(createContentName(SPEC)).toBe("support_6e026828");
  });

  it("Different spellings of the same content have the same name", () => {
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
  ])("Changing %s changes the digest", (_, change) => {
    expect(computeContentDigest({ ...SPEC, ...change })).not.toBe(computeContentDigest(SPEC));
  });

  it("The base is not part of the content digest", () => {
    const other = { ...SPEC, name: "sales" };
    expect(computeContentDigest(other)).toBe(computeContentDigest(SPEC));
    expect(createContentName(other)).not.toBe(createContentName(SPEC));
  });
});

describe("Bases of content names", () => {
  it.each([
    ["support", "support"],
    ["my-agent v2", "my_agent_v2"],
    ["2nd", "a2nd"],
    ["", "a"],
    ["日本", "a__"],
    ["b".repeat(31), "b".repeat(31)],
  ])("The base %j becomes %j", (base, expected) => {
    expect(shortenBase(base)).toBe(expected);
  });

  it("A base that is too long is cut, and stays distinct from bases with the same start", () => {
    const [one, other] = [shortenBase(`${"b".repeat(31)}x`), shortenBase(`${"b".repeat(31)}y`)];
    expect(one).toMatch(/^b{24}_[0-9a-f]{6}$/);
    expect(other).not.toBe(one);
  });

  it("Any base gives a name accepted by the service, and its digest can be parsed again", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (base) => {
        const name = createContentName({ ...SPEC, name: base });
        expect(name).toMatch(/^[a-zA-Z][a-zA-Z0-9_]{0,39}$/);
        expect(parseContentDigest(name, base)).toBe(computeContentDigest(SPEC));
      }),
    );
  });

  it("A digest is parsed only from names with exactly this base", () => {
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
