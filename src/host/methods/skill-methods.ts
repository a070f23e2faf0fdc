import { SpanlineError } from "../../domain/errors.ts";
import { accept } from "../../wire/acp/decode-result.ts";
import {
  decodeSkillFetch,
  decodeSkillMatch,
  encodeSkillList,
  encodeSkillMatches,
  encodeSkill,
} from "../../wire/acp/host/skill-messages.ts";
import { createHostMethod, type HostMethod } from "./host-method.ts";
import type { HostOptions } from "./host-options.ts";

export function createSkillMethods({
  skills,
  skillMatch,
}: Pick<HostOptions, "skills" | "skillMatch">): readonly [string, HostMethod][] {
  const methods: [string, HostMethod][] = [];
  if (skills !== undefined) {
    const list = createHostMethod(accept, (_, context) => skills.list(context), encodeSkillList);
    const fetch = createHostMethod(
      decodeSkillFetch,
      async ({ id }, context) => {
        const skill = await skills.fetch(id, context);
        if (skill !== undefined) return skill;
        throw new SpanlineError("not_found", `There is no skill ${JSON.stringify(id)}`);
      },
      encodeSkill,
    );
    methods.push(["skills/list", list], ["skills/fetch", fetch]);
  }
  if (skillMatch !== undefined) {
    methods.push([
      "skill/match",
      createHostMethod(decodeSkillMatch, skillMatch, encodeSkillMatches),
    ]);
  }
  return methods;
}
