import type { Failure } from "./errors.ts";
import type { JsonObject } from "../data/json.ts";
import type { ShellList } from "./tools/shell.ts";

/**
 * Tools and MCP servers which a client adds to one session until it detaches. The values contain secrets: no part of
 * them may appear in a log or an error message. Only the resulting tools are logged, as tools of the agent.
 */
export interface ClientTools {
  readonly servers: readonly ClientMcpServer[];
  readonly tools: readonly HostTool[];
  /** Problems with tools which the client's machine listed and `tools` leaves out. */
  readonly toolProblems?: readonly Failure[];
  /**
   * The client's machine deduplicates tool calls by id: it runs each call once and returns the same result when asked
   * again.
   */
  readonly recognizesToolCalls?: boolean;
  /** Absent if the client has no editor capabilities, or runs on another machine than the session. */
  readonly editor?: EditorCapabilities;
  /** Absent if the client's machine does not offer skills. */
  readonly skills?: ClientSkillList;
}

/** Editor functions which replace workspace tools. Editor files include unsaved changes. */
export interface EditorCapabilities {
  readonly readsFiles: boolean;
  readonly writesFiles: boolean;
  readonly runsTerminals: boolean;
  /** Includes the shell chosen by the user, if the editor reports one. */
  readonly shells?: ShellList;
}

/** An MCP server to connect to: a program to start, or a URL. */
export type ClientMcpServer =
  | {
      readonly type: "stdio";
      readonly name: string;
      readonly command: string;
      readonly args: readonly string[];
      readonly env: { readonly [name: string]: string };
    }
  | {
      readonly type: "http";
      readonly name: string;
      readonly url: string;
      readonly headers: { readonly [name: string]: string };
    };

/** A tool of a client's machine, as described by its host. */
export interface HostTool {
  readonly name: string;
  /** Empty if the host provides none. */
  readonly description: string;
  /** Null if the host does not describe the arguments. */
  readonly schema: JsonObject | null;
  readonly deprecated: boolean;
  /** The MCP server from which the host has the tool. Absent if the host does not name one. */
  readonly mcpServer?: string;
}

/** Tools listed by a client's machine: the usable ones, and the problems of the others. */
export interface HostToolList {
  readonly tools: readonly HostTool[];
  readonly problems: readonly Failure[];
}

export const NO_HOST_TOOLS: HostToolList = { tools: [], problems: [] };

/**
 * Instructions for a kind of task, kept on a client's machine. The model loads the body with the tool `load_skill`. The
 * strings are cleaned and shortened, because the model and people read them.
 */
export interface ClientSkill {
  /** The id by which the skill is fetched. It may be a path and differ from the name. */
  readonly id: string;
  readonly name: string;
  /** Empty if the host provides none. */
  readonly description: string;
}

/** The capability of the tool `load_skill`, which only reads a text: running it again has no effects. */
export const LOAD_SKILL_CAPABILITY = "skill.load";

/** Skills listed by a client's machine: the usable ones, and the problems of the others. */
export interface ClientSkillList {
  readonly skills: readonly ClientSkill[];
  readonly problems: readonly Failure[];
}

export const NO_SKILLS: ClientSkillList = { skills: [], problems: [] };

/** Result of `setClientTools`. Unusable tools and servers are reported in `problems`; the others are added. */
export type SetClientToolsReply =
  | { readonly status: "accepted"; readonly problems: readonly Failure[] }
  | { readonly status: "refused"; readonly failure: Failure };

export function hasNoClientTools(clientTools: ClientTools): boolean {
  const { servers, tools, toolProblems, editor, skills = NO_SKILLS } = clientTools;
  const isWithoutTools = tools.length === 0 && toolProblems === undefined;
  return servers.length === 0 && isWithoutTools && editor === undefined && hasNoSkills(skills);
}

function hasNoSkills({ skills, problems }: ClientSkillList): boolean {
  return skills.length === 0 && problems.length === 0;
}
