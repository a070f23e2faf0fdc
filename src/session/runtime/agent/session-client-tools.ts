import {
  hasNoClientTools,
  type EditorCapabilities,
  type ClientTools,
} from "../../../domain/client-tools.ts";
import type { Failure } from "../../../domain/errors.ts";
import { digestValue } from "../../../platform/digest.ts";
import type { Tool } from "../../../tools/tool.ts";
import type { AgentLocation } from "./agent.ts";

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
  /** In order of the clients' first use. */
  listTools(): readonly Tool[];
  /** The editor capabilities of a client. */
  findEditor(clientId: string): EditorCapabilities | undefined;
  /** Replaces the tools of a client. Resolves with their problems. */
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

export function createClientTools({
  open,
  location,
  onChange,
  report,
}: ClientToolsOptions): SessionClientTools {
  const entries = new Map<string, ClientToolsEntry>();
  const ending = new Set<Promise<void>>();

  function endEntry({ end: controller, opening }: ClientToolsEntry): void {
    controller.abort();
    const closing = opening
      .then(
        (opened) => opened.close(),
        () => undefined,
      )
      .catch(report)
      .finally(() => ending.delete(closing));
    ending.add(closing);
  }

  function begin(clientId: string, equipment: ClientTools, digest: string): ClientToolsEntry {
    const controller = new AbortController();
    const opening = open(equipment, {
      ...location,
      clientId,
      signal: controller.signal,
      onChange: () => {
        if (entries.get(clientId) === entry) onChange();
      },
    });
    const { editor } = equipment;
    const entry: ClientToolsEntry = { digest, editor, end: controller, opening };
    entries.set(clientId, entry);
    return entry;
  }

  function drop(clientId: string): void {
    const previous = entries.get(clientId);
    if (previous === undefined) return;
    entries.delete(clientId);
    endEntry(previous);
    if (previous.opened !== undefined) onChange();
  }

  return {
    listTools: () => [...entries.values()].flatMap(({ opened }) => opened?.listTools() ?? []),
    findEditor: (clientId) => entries.get(clientId)?.editor,
    async setClientTools(clientId, equipment) {
      const digest = digestValue(equipment);
      const same = entries.get(clientId);
      if (same?.digest === digest) return (await same.opening).problems;
      drop(clientId);
      if (hasNoClientTools(equipment)) return [];
      const entry = begin(clientId, equipment, digest);
      const opened = await entry.opening.catch((error: unknown) => {
        if (entries.get(clientId) === entry) entries.delete(clientId);
        throw error;
      });
      // The client may have been removed, or its tools replaced, in the meantime.
      if (entries.get(clientId) !== entry) return [];
      entry.opened = opened;
      onChange();
      return opened.problems;
    },
    removeClient: drop,
    async close() {
      for (const entry of entries.values()) endEntry(entry);
      entries.clear();
      await Promise.all(ending);
    },
  };
}
