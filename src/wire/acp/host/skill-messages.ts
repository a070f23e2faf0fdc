import { isObject, type JsonObject, type JsonValue } from "../../../data/json.ts";
import {
  readObject,
  readObjects,
  readString,
  readStrings,
  type DecodeResult,
  accept,
  rejectParams,
} from "../json-fields.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/** An entry of a host's skill list. */
export interface HostSkillEntry {
  /** The id by which the skill is fetched. It may be a path and differ from the name. */
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

export function encodeSkillList(skills: readonly HostSkillEntry[]): readonly JsonObject[] {
  return skills.map(({ id, name, description, source = "host" }) => ({
    id,
    name,
    description,
    source,
  }));
}

export function decodeSkillFetch(
  params: JsonValue | undefined,
): DecodeResult<{ readonly id: string }> {
  const { id } = readObject(params);
  return typeof id === "string" && id !== "" ? accept({ id }) : rejectParams('"id" is missing');
}

export function encodeSkill(skill: HostSkill): JsonObject {
  const { name, description, body, paths, model } = skill;
  const { whenToUse: when_to_use, allowedTools: allowed_tools } = skill;
  const manifest = { ...omitUndefined({ when_to_use, allowed_tools, paths, model }) };
  return { name, description, body, manifest };
}

/** A request to select the skills that fit a prompt. */
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
  /** Not negative. A higher score is listed first. Default: 1. */
  readonly score?: number;
  readonly reason?: string;
}

export function decodeSkillMatch(params: JsonValue | undefined): DecodeResult<SkillMatchRequest> {
  if (!isObject(params)) return rejectParams("they are not an object");
  const { strategy, prompt } = params;
  return accept({
    strategy: readString(strategy) ?? "host",
    prompt: readString(prompt) ?? "",
    workingFiles: readStrings(params["working_files"]),
    candidates: readObjects(params["candidates"]).flatMap((item) => {
      const name = readString(item["name"]);
      if (name === undefined) return [];
      const description = readString(item["description"]) ?? "";
      const whenToUse = readString(item["when_to_use"]) ?? "";
      return [{ name, description, whenToUse, paths: readStrings(item["paths"]) }];
    }),
  });
}

export function encodeSkillMatches(matches: readonly SkillMatch[]): JsonObject {
  return {
    matches: matches.map(({ name, score, reason }) => ({
      name,
      ...omitUndefined({ score, reason }),
    })),
  };
}
