import {
  hasNoClientTools,
  NO_SKILLS,
  type ClientSkillList,
  type EditorCapabilities,
  type ClientTools,
} from "../../../domain/client-tools.ts";
import type { Failure } from "../../../domain/errors.ts";
import { digestValue } from "../../../platform/digest.ts";
import type { Tool } from "../../../tools/tool.ts";
import type { AgentLocation } from "./agent.ts";
import { createSkillTool, listShadowedSkills } from "./skill-tool.ts";

/** Opens the tools of a client. Unusable tools are reported as problems, not as a rejection. */
export type OpenClientTools = (
  equipment: ClientTools,
  place: ClientToolsLocation,
) => Promise<OpenedClientTools>;

export interface ClientToolsLocation extends AgentLocation {
  readonly clientId: string;
  /** Called when the tools have changed. */
  readonly onChange: () => void;
  /** Closes the tools, even while they are being opened. */
  readonly signal: AbortSignal;
}

export interface OpenedClientTools {
  /** The current tools. */
  readonly listTools: () => readonly Tool[];
  /** Problems found at the opening. */
  readonly problems: readonly Failure[];
  /** Resolves when everything is released. */
  readonly close: () => Promise<void>;
}

/** The client tools of one session. */
export interface SessionClientTools {
  /** In order of the clients' first use; last the tool for all skills. */
  listTools(): readonly Tool[];
  /** The editor capabilities of a client. */
  findEditor(clientId: string): EditorCapabilities | undefined;
  /** Replaces the tools and skills of a client. Resolves with the problems of those which changed. */
  setClientTools(clientId: string, equipment: ClientTools): Promise<readonly Failure[]>;
  removeClient(clientId: string): void;
  close(): Promise<void>;
}

export interface ClientToolsOptions {
  readonly open: OpenClientTools;
  readonly location: AgentLocation;
  readonly onChange: () => void;
  readonly report: (error: unknown) => void;
}

interface ClientToolsEntry {
  readonly digest: string;
  readonly editor: EditorCapabilities | undefined;
  readonly end: AbortController;
  readonly opening: Promise<OpenedClientTools>;
  opened?: OpenedClientTools;
}

export function createClientTools(options: ClientToolsOptions): SessionClientTools {
  return new ClientToolsByClient(options);
}

class ClientToolsByClient implements SessionClientTools {
  readonly #options: ClientToolsOptions;
  readonly #entries = new Map<string, ClientToolsEntry>();
  /** Separate from the tools: changed skills do not restart the MCP servers of a client. */
  readonly #skills = new Map<string, ClientSkillList>();
  readonly #ending = new Set<Promise<void>>();

  constructor(options: ClientToolsOptions) {
    this.#options = options;
  }

  listTools(): readonly Tool[] {
    const tools = [...this.#entries.values()].flatMap(({ opened }) => opened?.listTools() ?? []);
    const skillTool = createSkillTool(this.#skills);
    return skillTool === undefined ? tools : [...tools, skillTool];
  }

  findEditor(clientId: string): EditorCapabilities | undefined {
    return this.#entries.get(clientId)?.editor;
  }

  async setClientTools(
    clientId: string,
    { skills = NO_SKILLS, ...equipment }: ClientTools,
  ): Promise<readonly Failure[]> {
    const skillProblems = this.#setSkills(clientId, skills);
    const toolProblems = await this.#setTools(clientId, equipment);
    return [...skillProblems, ...toolProblems];
  }

  #setSkills(clientId: string, list: ClientSkillList): readonly Failure[] {
    const previous = this.#skills.get(clientId) ?? NO_SKILLS;
    if (digestValue(previous) === digestValue(list)) return [];
    this.#skills.set(clientId, list);
    this.#options.onChange();
    return [...list.problems, ...listShadowedSkills(clientId, this.#skills)];
  }

  async #setTools(clientId: string, equipment: ClientTools): Promise<readonly Failure[]> {
    const digest = digestValue(equipment);
    const same = this.#entries.get(clientId);
    if (same?.digest === digest) {
      await same.opening;
      return [];
    }
    this.#removeTools(clientId);
    if (hasNoClientTools(equipment)) return [];
    const entry = this.#begin(clientId, equipment, digest);
    const opened = await entry.opening.catch((error: unknown) => {
      if (this.#entries.get(clientId) === entry) this.#entries.delete(clientId);
      throw error;
    });
    // The client may have been removed, or its tools replaced, in the meantime.
    if (this.#entries.get(clientId) !== entry) return [];
    entry.opened = opened;
    this.#options.onChange();
    return opened.problems;
  }

  removeClient(clientId: string): void {
    this.#removeTools(clientId);
    if (this.#skills.delete(clientId)) this.#options.onChange();
  }

  #removeTools(clientId: string): void {
    const previous = this.#entries.get(clientId);
    if (previous === undefined) return;
    this.#entries.delete(clientId);
    this.#endEntry(previous);
    if (previous.opened !== undefined) this.#options.onChange();
  }

  async close(): Promise<void> {
    for (const entry of this.#entries.values()) this.#endEntry(entry);
    this.#entries.clear();
    this.#skills.clear();
    await Promise.all(this.#ending);
  }

  #begin(clientId: string, equipment: ClientTools, digest: string): ClientToolsEntry {
    const { open, location, onChange } = this.#options;
    const controller = new AbortController();
    const opening = open(equipment, {
      ...location,
      clientId,
      signal: controller.signal,
      onChange: () => {
        if (this.#entries.get(clientId) === entry) onChange();
      },
    });
    const { editor } = equipment;
    const entry: ClientToolsEntry = { digest, editor, end: controller, opening };
    this.#entries.set(clientId, entry);
    return entry;
  }

  #endEntry({ end: controller, opening }: ClientToolsEntry): void {
    controller.abort();
    const closing = opening
      .then(
        (opened) => opened.close(),
        () => undefined,
      )
      .catch(this.#options.report)
      .finally(() => this.#ending.delete(closing));
    this.#ending.add(closing);
  }
}
