import { isObject } from "../../../data/json.ts";
import {
  LOAD_SKILL_CAPABILITY,
  type ClientSkill,
  type ClientSkillList,
} from "../../../domain/client-tools.ts";
import { SpanlineError, type Failure } from "../../../domain/errors.ts";
import { formatValue } from "../../../text/format-value.ts";
import { formatNames, formatUnknownName } from "../../../text/unknown-name.ts";
import type { Tool } from "../../../tools/tool.ts";

/** The skills of each client. If two clients offer the same id, the skill of the first client is used. */
export type SkillsByClient = ReadonlyMap<string, ClientSkillList>;

/** Creates the tool `load_skill` for the skills of all clients. Undefined if there are none. */
export function createSkillTool(clients: SkillsByClient): Tool | undefined {
  const skills = collectSkills(clients);
  if (skills.size === 0) return undefined;
  return {
    spec: {
      name: "load_skill",
      description: formatDescription([...skills.values()]),
      schema: SKILL_SCHEMA,
      idempotent: true,
      timeoutMs: FETCH_TIMEOUT_MS + 10_000,
      traits: {
        kind: "read",
        sideEffect: "read_only",
        capabilities: [LOAD_SKILL_CAPABILITY],
        executor: { type: "host" },
      },
    },
    check({ skill }) {
      const found = findSkill(skills, skill);
      return typeof found === "string" ? found : undefined;
    },
    async run({ skill }, context) {
      const { signal, idempotencyKey: toolCallId } = context;
      const found = findSkill(skills, skill);
      if (typeof found === "string") throw new SpanlineError("not_found", found);
      signal.throwIfAborted();
      const payload = { skillId: found.id, toolCallId };
      const reply = await context.host(found.clientId, "skill", payload, FETCH_TIMEOUT_MS);
      const { body = "" } = isObject(reply["skill"]) ? reply["skill"] : {};
      return body;
    },
  };
}

/** Returns a problem for each skill of a client whose id another client offers first. */
export function listShadowedSkills(clientId: string, clients: SkillsByClient): readonly Failure[] {
  const used = collectSkills(clients);
  const shadowed = (clients.get(clientId)?.skills ?? [])
    .filter(({ id }) => used.get(id)?.clientId !== clientId)
    .map(({ id }) => id);
  if (shadowed.length === 0) return [];
  const message = `Another client of the session offers skills with the same ids; its skills are used: ${formatNames(shadowed)}`;
  return [new SpanlineError("invalid_tool", message).toFailure()];
}

interface OfferedSkill extends ClientSkill {
  readonly clientId: string;
}

function collectSkills(clients: SkillsByClient): ReadonlyMap<string, OfferedSkill> {
  // A map, not an object: an id may be `__proto__`.
  const offered = new Map<string, OfferedSkill>();
  for (const [clientId, { skills }] of clients) {
    for (const skill of skills)
      if (!offered.has(skill.id)) offered.set(skill.id, { ...skill, clientId });
  }
  return offered;
}

/** Finds a skill by its id, or by a name that only one skill has. Returns the problem if there is none. */
function findSkill(
  skills: ReadonlyMap<string, OfferedSkill>,
  requested: unknown,
): OfferedSkill | string {
  if (typeof requested !== "string")
    return `${formatValue(requested)} is not a valid skill: expected the id of a skill`;
  const byId = skills.get(requested);
  if (byId !== undefined) return byId;
  const named = [...skills.values()].filter(({ name }) => name === requested);
  const [only] = named;
  if (only === undefined)
    return formatUnknownName("Skill", requested, { names: [...skills.keys()] });
  if (named.length === 1) return only;
  const ids = formatNames(named.map(({ id }) => id));
  return `${named.length} skills have the name ${formatValue(requested)}: expected the id ${ids}`;
}

function formatDescription(skills: readonly OfferedSkill[]): string {
  const lines = [INTRODUCTION];
  let length = INTRODUCTION.length;
  for (const skill of skills) {
    const line = formatLine(skill);
    length += line.length + 1;
    if (length > MAX_DESCRIPTION_CHARACTERS) break;
    lines.push(line);
  }
  const omitted = skills.length - (lines.length - 1);
  if (omitted > 0) lines.push(`(${omitted} more skills are not listed here)`);
  return lines.join("\n");
}

function formatLine({ id, name, description }: OfferedSkill): string {
  const title = name === id ? id : `${id} (${name})`;
  return description === "" ? `- ${title}` : `- ${title}: ${description}`;
}

const INTRODUCTION =
  "Returns the instructions of a skill. Load a skill before you start a task that fits its description. Skills, by id:";

/** The whole list is sent to the model with every invocation. */
const MAX_DESCRIPTION_CHARACTERS = 16_000;

/** Milliseconds. Limit for the reply of a host. */
const FETCH_TIMEOUT_MS = 30_000;

const SKILL_SCHEMA = {
  type: "object",
  properties: { skill: { type: "string", description: "The id of the skill" } },
  required: ["skill"],
} as const;
