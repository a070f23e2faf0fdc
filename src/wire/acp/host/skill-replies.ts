import type { ClientSkill, ClientSkillList } from "../../../domain/client-tools.ts";
import type { Failure } from "../../../domain/errors.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../data/json.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import { cleanLine } from "../../../text/clean-text.ts";
import { formatValue } from "../../../text/format-value.ts";
import type { RpcResponse } from "../../jsonrpc/rpc-message.ts";
import { readObject, readString, readStrings } from "../json-fields.ts";
import { readHostReply, type HostReply } from "./host-reply.ts";
import type { HostRequest } from "./host-request.ts";
import { acceptValue, rejectValue, unwrap, type ReadResult } from "./read-result.ts";
import type { HostSkill } from "./skill-messages.ts";

/** Limits for a host's skill list, because the list is stored in memory and a part of it is sent to the model. */
export const SKILL_LIMITS = {
  /** Skills after this number are ignored. */
  skills: 1000,
  idCharacters: 256,
  /** Longer names and descriptions are cut. */
  nameCharacters: 100,
  descriptionCharacters: 500,
} as const;

/** Encodes a request for the host's skills. It has no params, because the skills belong to the host, not to a session. */
export function encodeSkillListRequest(): HostRequest {
  return { method: "skills/list", params: {} };
}

export function encodeSkillFetchRequest(id: string): HostRequest {
  return { method: "skills/fetch", params: { id } };
}

/**
 * Reads the reply to `skills/list`: a list, or an object with a list. An invalid skill is reported as a problem and does
 * not affect the other skills.
 */
export function readSkillList(answer: RpcResponse): HostReply<ClientSkillList> {
  return readHostReply("skills/list", answer, readSkills);
}

/** Reads the reply to `skills/fetch`. The fields of the manifest are in `manifest` or at the top level. */
export function readSkill(answer: RpcResponse): HostReply<HostSkill> {
  return readHostReply("skills/fetch", answer, readSkillFields);
}

function readSkills(result: JsonValue): ReadResult<ClientSkillList> {
  const inner = unwrap(result, "skills");
  const list = isObject(inner) ? inner["skills"] : inner;
  if (!Array.isArray(list)) return rejectValue("it has no list of skills");
  // A map, not an object: an id may be `__proto__`.
  const skills = new Map<string, ClientSkill>();
  const problems: string[] = [];
  for (const [index, entry] of list.slice(0, SKILL_LIMITS.skills).entries()) {
    const skill = readEntry(entry, skills);
    if (skill.ok) skills.set(skill.value.id, skill.value);
    else problems.push(`Skill ${index} of skills/list cannot be used: it ${skill.problem}`);
  }
  const ignored = list.length - SKILL_LIMITS.skills;
  if (ignored > 0)
    problems.push(
      `${ignored} skills of skills/list are ignored: at most ${SKILL_LIMITS.skills} skills of a host are used`,
    );
  return acceptValue({ skills: [...skills.values()], problems: limitProblems(problems) });
}

function readEntry(
  entry: JsonValue,
  knownSkills: ReadonlyMap<string, ClientSkill>,
): ReadResult<ClientSkill> {
  if (!isObject(entry)) return rejectValue("is not an object");
  const { id } = entry;
  if (typeof id !== "string" || id.trim() === "") return rejectValue("has no id");
  const { idCharacters, nameCharacters, descriptionCharacters } = SKILL_LIMITS;
  if (id.length > idCharacters)
    return rejectValue(`has an id of more than ${idCharacters} characters`);
  // The model repeats the id, so every character of the id must be visible.
  if (cleanLine(id, idCharacters) !== id)
    return rejectValue(`has an id with invisible characters: ${cleanLine(id, idCharacters)}`);
  if (knownSkills.has(id)) return rejectValue(`has the duplicate id ${formatValue(id)}`);
  const name = cleanLine(readString(entry["name"]) ?? "", nameCharacters);
  return acceptValue({
    id,
    name: name === "" ? id : name,
    description: cleanLine(readString(entry["description"]) ?? "", descriptionCharacters),
  });
}

/** Each problem is stored as an event of the session. */
const MAX_PROBLEMS = 16;

function limitProblems(problems: readonly string[]): readonly Failure[] {
  const omittedCount = problems.length - MAX_PROBLEMS;
  const reported =
    omittedCount <= 0
      ? problems
      : [...problems.slice(0, MAX_PROBLEMS), `${omittedCount} more problems of skills/list`];
  return reported.map((message) => ({ code: "invalid_tool", message, details: {} }));
}

function readSkillFields(result: JsonValue): ReadResult<HostSkill> {
  const skill = unwrap(result, "body");
  if (!isObject(skill)) return rejectValue("it is not an object");
  const body = readString(skill["body"]);
  if (body === undefined) return rejectValue("it has no body");
  const manifest = { ...skill, ...readObject(skill["manifest"]) };
  return acceptValue({
    name: readString(skill["name"]) ?? "",
    description: readString(skill["description"]) ?? "",
    body,
    ...omitUndefined({
      whenToUse: readString(manifest["when_to_use"]),
      allowedTools: readList(manifest, "allowed_tools"),
      paths: readList(manifest, "paths"),
      model: readString(manifest["model"]),
    }),
  });
}

function readList(manifest: JsonObject, key: string): readonly string[] | undefined {
  return Array.isArray(manifest[key]) ? readStrings(manifest[key]) : undefined;
}
