import { SpanlineError } from "../domain/errors.ts";
import { decoded } from "../wire/acp/decoded.ts";
import {
  readSkillFetch,
  readSkillMatch,
  skillListResult,
  skillMatchResult,
  skillResult,
} from "../wire/acp/host/skills.ts";
import { hostMethod, type HostMethod } from "./host-method.ts";
import type { HostOptions } from "./host-options.ts";

export function skillMethods({
  skills,
  skillMatch,
}: Pick<HostOptions, "skills" | "skillMatch">): readonly [string, HostMethod][] {
  const methods: [string, HostMethod][] = [];
  if (skills !== undefined) {
    const list = hostMethod(decoded, (_, context) => skills.list(context), skillListResult);
    const fetch = hostMethod(
      readSkillFetch,
      async ({ id }, context) => {
        const skill = await skills.fetch(id, context);
        if (skill !== undefined) return skill;
        throw new SpanlineError("not_found", `There is no skill ${JSON.stringify(id)}`);
      },
      skillResult,
    );
    methods.push(["skills/list", list], ["skills/fetch", fetch]);
  }
  if (skillMatch !== undefined) {
    methods.push(["skill/match", hostMethod(readSkillMatch, skillMatch, skillMatchResult)]);
  }
  return methods;
}
