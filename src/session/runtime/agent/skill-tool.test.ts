import { describe, expect, it } from "vitest";
import type { ClientSkill, ClientSkillList } from "../../../domain/client-tools.ts";
import { createSkillTool, listShadowedSkills } from "./skill-tool.ts";

function skill(id: string, name = id, description = ""): ClientSkill {
  return { id, name, description };
}

function offers(clients: {
  readonly [clientId: string]: readonly ClientSkill[];
}): ReadonlyMap<string, ClientSkillList> {
  const lists = Object.entries(clients);
  return new Map(lists.map(([clientId, skills]) => [clientId, { skills, problems: [] }]));
}

describe("Tool load_skill", () => {
  it("Clients without skills add no tool", () => {
    expect(createSkillTool(offers({ ide: [] }))).toBeUndefined();
  });

  it("The description lists the skills of all clients by id, each id once", () => {
    const tool = createSkillTool(
      offers({
        ide: [skill("deploy", "deploy", "Ship it"), skill("acme/review", "review", "Code review")],
        tui: [skill("deploy", "deploy", "Another"), skill("notes")],
      }),
    );
    expect(tool?.spec).toMatchObject({ name: "load_skill", idempotent: true });
    expect(tool?.spec.description.split("\n").slice(1)).toEqual([
      "- deploy: Ship it",
      "- acme/review (review): Code review",
      "- notes",
    ]);
  });

  it("The description is bounded, and names the number of skills it leaves out", () => {
    const skills = Array.from({ length: 1000 }, (_, index) =>
      skill(`skill-${index}`, "name", "d".repeat(500)),
    );
    const lines = createSkillTool(offers({ ide: skills }))?.spec.description.split("\n") ?? [];
    expect(lines.join("\n").length).toBeLessThan(16_100);
    expect(lines.at(-1)).toBe(`(${1000 - (lines.length - 2)} more skills are not listed here)`);
    expect(createSkillTool(offers({ ide: skills }))?.check({ skill: "skill-999" })).toBeUndefined();
  });

  it("A skill is found by its id, or by a name that only one skill has", () => {
    const skills = [skill("a/review", "review"), skill("b/review", "review"), skill("c/x", "ship")];
    const tool = createSkillTool(offers({ ide: skills }));
    expect(tool?.check({ skill: "a/review" })).toBeUndefined();
    expect(tool?.check({ skill: "ship" })).toBeUndefined();
    expect(tool?.check({ skill: "review" })).toBe(
      '2 skills have the name "review": expected the id "a/review" or "b/review"',
    );
    expect(tool?.check({ skill: "shop" })).toContain('Skill "shop" does not exist');
    expect(tool?.check({})).toBe("missing is not a valid skill: expected the id of a skill");
    expect(tool?.check({ skill: "__proto__" })).toContain("does not exist");
  });

  it("A skill with an id that another client offers first is reported", () => {
    const clients = offers({ ide: [skill("deploy")], tui: [skill("deploy"), skill("notes")] });
    expect(listShadowedSkills("ide", clients)).toEqual([]);
    expect(listShadowedSkills("tui", clients).map(({ message }) => message)).toEqual([
      'Another client of the session offers skills with the same ids; its skills are used: "deploy"',
    ]);
  });
});
