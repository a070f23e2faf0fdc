import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../data/json.ts";
import {
  encodeSkillFetchRequest,
  encodeSkillListRequest,
  readSkill,
  readSkillList,
  SKILL_LIMITS,
} from "./skill-replies.ts";

/** The example from the bridge documentation. */
const SKILLS = [
  { id: "deploy", name: "deploy", description: "Ship it", source: "host" },
  { id: "acme/ops/review", name: "review", description: "Code review", source: "host" },
];
const USABLE = SKILLS.map(({ id, name, description }) => ({ id, name, description }));
const MANIFEST = {
  when_to_use: "On Fridays",
  allowed_tools: ["bash", "git"],
  paths: ["infra/**"],
  model: "claude-opus-4-7",
};
const DEPLOY = { name: "deploy", description: "Ship it", body: "# Deploy runbook\n..." };
const READ_DEPLOY = {
  ...DEPLOY,
  whenToUse: "On Fridays",
  allowedTools: ["bash", "git"],
  paths: ["infra/**"],
  model: "claude-opus-4-7",
};

function list(result: JsonValue) {
  const reply = readSkillList({ ok: true, result });
  if (reply.type !== "answered") throw new Error(JSON.stringify(reply));
  return reply.value;
}

describe("Skills of a host", () => {
  it("The requests have no params, or only the id of the skill [B-255] [B-257]", () => {
    expect(encodeSkillListRequest()).toEqual({ method: "skills/list", params: {} });
    expect(encodeSkillFetchRequest("acme/ops/review")).toEqual({
      method: "skills/fetch",
      params: { id: "acme/ops/review" },
    });
  });

  it.each([
    ["an array", SKILLS],
    ["an object with the key skills", { skills: SKILLS }],
    ["a result envelope", { result: { skills: SKILLS } }],
  ])("The list is accepted as %s [B-256] [B-258]", (_, result) => {
    expect(list(result)).toEqual({ skills: USABLE, problems: [] });
  });

  it.each([
    ["nested", { ...DEPLOY, manifest: MANIFEST }, READ_DEPLOY],
    ["flat", { ...DEPLOY, ...MANIFEST }, READ_DEPLOY],
    ["absent", DEPLOY, DEPLOY],
    ["of wrong types", { ...DEPLOY, manifest: { paths: "a", model: 1 } }, DEPLOY],
  ])("A fetched skill is read with a manifest that is %s [B-259] [B-260]", (_, result, skill) => {
    expect(readSkill({ ok: true, result })).toEqual({ type: "answered", value: skill });
  });

  it("An invalid or duplicate skill is reported and does not affect the others", () => {
    const invalid = [
      null,
      {},
      { id: " " },
      { id: 7 },
      { id: "x".repeat(257) },
      { id: "pay\u202Ecod.exe" },
      { id: "two\nlines" },
    ];
    const { skills, problems } = list([...invalid, ...SKILLS, { ...SKILLS[0], name: "other" }]);
    expect(skills).toEqual(USABLE);
    expect(problems.map(({ message }) => message.replace(/^.*cannot be used: it /, ""))).toEqual([
      "is not an object",
      "has no id",
      "has no id",
      "has no id",
      "has an id of more than 256 characters",
      "has an id with invisible characters: paycod.exe",
      "has an id with invisible characters: two lines",
      'has the duplicate id "deploy"',
    ]);
  });

  it("Ids such as __proto__ are ordinary skills", () => {
    const ids = ["__proto__", "constructor", "toString"];
    const entries = ids.map((id) => ({ id, name: id, description: "" }));
    expect(list(JSON.parse(JSON.stringify(entries)))).toEqual({ skills: entries, problems: [] });
  });

  it("A name or description is cleaned and cut at its limit", () => {
    const description = `\u202E${"d".repeat(10 * 1024 * 1024)}`;
    const [skill] = list([{ id: "a", name: "n\u200B\nm", description }]).skills;
    expect(skill?.name).toBe("n m");
    expect(skill?.description).toBe(`${"d".repeat(SKILL_LIMITS.descriptionCharacters - 1)}…`);
  });

  it("A host with 10,000 skills loses those over the limit, with one problem", () => {
    const entries = Array.from({ length: 10_000 }, (_, index) => ({ id: `s${index}` }));
    const { skills, problems } = list(entries);
    expect(skills).toHaveLength(1000);
    expect(problems.map(({ message }) => message)).toEqual([
      "9000 skills of skills/list are ignored: at most 1000 skills of a host are used",
    ]);
  });

  it("A host with many invalid skills is reported with few problems", () => {
    const { problems } = list(Array.from({ length: 500 }, () => ({})));
    expect(problems).toHaveLength(17);
    expect(problems.at(-1)?.message).toBe("484 more problems of skills/list");
  });

  it("Any reply is read or refused without an exception", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const result: JsonValue = JSON.parse(JSON.stringify(value));
        for (const reply of [result, [result], { skills: [result] }]) {
          readSkillList({ ok: true, result: reply });
          readSkill({ ok: true, result: reply });
        }
      }),
    );
    expect(readSkill({ ok: true, result: null }).type).toBe("unsupported");
    expect(readSkill({ ok: true, result: { name: "a" } }).type).toBe("failed");
  });
});
