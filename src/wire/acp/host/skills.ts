import { isObject, type JsonObject, type JsonValue } from "../../../domain/json.ts";
import { fieldsOf, objectsOf, present, textOf, textsOf } from "../fields.ts";
import { type Decoded, decoded, refusedParams } from "../decoded.ts";

/** A skill as it stands in a host's list. */
export interface HostSkillEntry {
  /** By which it is fetched; it may be a path and differ from the name. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly source?: string;
}

export interface HostSkill {
  readonly name: string;
  readonly description: string;
  readonly body: string;
  readonly whenToUse?: string;
  readonly allowedTools?: readonly string[];
  readonly paths?: readonly string[];
  readonly model?: string;
}

export function skillListResult(skills: readonly HostSkillEntry[]): readonly JsonObject[] {
  return skills.map(({ id, name, description, source = "host" }) => ({
    id,
    name,
    description,
    source,
  }));
}

export function readSkillFetch(params: JsonValue | undefined): Decoded<{ readonly id: string }> {
  const { id } = fieldsOf(params);
  return typeof id === "string" && id !== "" ? decoded({ id }) : refusedParams('"id" is missing');
}

export function skillResult(skill: HostSkill): JsonObject {
  const { name, description, body, paths, model } = skill;
  const { whenToUse: when_to_use, allowedTools: allowed_tools } = skill;
  const manifest = { ...present({ when_to_use, allowed_tools, paths, model }) };
  return { name, description, body, manifest };
}

/** Which of these skills fit a prompt? */
export interface SkillMatchRequest {
  readonly strategy: string;
  readonly prompt: string;
  readonly workingFiles: readonly string[];
  readonly candidates: readonly SkillCandidate[];
}

export interface SkillCandidate {
  readonly name: string;
  readonly description: string;
  readonly whenToUse: string;
  readonly paths: readonly string[];
}

export interface SkillMatch {
  readonly name: string;
  /** Not negative; the higher, the earlier. 1 where it is not said. */
  readonly score?: number;
  readonly reason?: string;
}

export function readSkillMatch(params: JsonValue | undefined): Decoded<SkillMatchRequest> {
  if (!isObject(params)) return refusedParams("they are not an object");
  const { strategy, prompt } = params;
  return decoded({
    strategy: textOf(strategy) ?? "host",
    prompt: textOf(prompt) ?? "",
    workingFiles: textsOf(params["working_files"]),
    candidates: objectsOf(params["candidates"]).flatMap((one) => {
      const name = textOf(one["name"]);
      if (name === undefined) return [];
      const description = textOf(one["description"]) ?? "";
      const whenToUse = textOf(one["when_to_use"]) ?? "";
      return [{ name, description, whenToUse, paths: textsOf(one["paths"]) }];
    }),
  });
}

export function skillMatchResult(matches: readonly SkillMatch[]): JsonObject {
  return {
    matches: matches.map(({ name, score, reason }) => ({ name, ...present({ score, reason }) })),
  };
}
