import { isEmptyEquipment, type EditorOffer, type Equipment } from "../domain/equipment.ts";
import type { Failure } from "../domain/errors.ts";
import { digestOf } from "../platform/digest.ts";
import type { Tool } from "../tools/tool.ts";
import type { AgentPlace } from "./agent.ts";

/** Opens what a client brings to a session. Nothing of it that cannot be used makes it reject. */
export type OpenEquipment = (
  equipment: Equipment,
  place: EquipmentPlace,
) => Promise<OpenedEquipment>;

export interface EquipmentPlace extends AgentPlace {
  readonly clientId: string;
  /** To be told when the tools are others than before. */
  readonly changed: () => void;
  /** Ends it, also while it is being opened. */
  readonly signal: AbortSignal;
}

export interface OpenedEquipment {
  /** As of now. */
  readonly tools: () => readonly Tool[];
  /** What could not be used when it was opened. */
  readonly problems: readonly Failure[];
  /** Resolves when nothing of it is left. */
  readonly close: () => Promise<void>;
}

/** What the clients of one session have brought. */
export interface ClientEquipment {
  /** Those who came first have theirs first. */
  tools(): readonly Tool[];
  /** What the editor of a client offers. */
  editorOf(clientId: string): EditorOffer | undefined;
  /** In place of what the client brought before. Resolves with what cannot be used of it. */
  bring(clientId: string, equipment: Equipment): Promise<readonly Failure[]>;
  leave(clientId: string): void;
  close(): Promise<void>;
}

export interface EquipmentWork {
  readonly open: OpenEquipment;
  readonly place: AgentPlace;
  readonly changed: () => void;
  readonly report: (error: unknown) => void;
}

interface Brought {
  readonly digest: string;
  readonly editor: EditorOffer | undefined;
  readonly end: AbortController;
  readonly opening: Promise<OpenedEquipment>;
  opened?: OpenedEquipment;
}

export function clientEquipment({ open, place, changed, report }: EquipmentWork): ClientEquipment {
  const brought = new Map<string, Brought>();
  const ending = new Set<Promise<void>>();

  function end({ end: controller, opening }: Brought): void {
    controller.abort();
    const ended = opening
      .then(
        (opened) => opened.close(),
        () => undefined,
      )
      .catch(report)
      .finally(() => ending.delete(ended));
    ending.add(ended);
  }

  function begin(clientId: string, equipment: Equipment, digest: string): Brought {
    const controller = new AbortController();
    const opening = open(equipment, {
      ...place,
      clientId,
      signal: controller.signal,
      changed: () => {
        if (brought.get(clientId) === one) changed();
      },
    });
    const { editor } = equipment;
    const one: Brought = { digest, editor, end: controller, opening };
    brought.set(clientId, one);
    return one;
  }

  function drop(clientId: string): void {
    const before = brought.get(clientId);
    if (before === undefined) return;
    brought.delete(clientId);
    end(before);
    if (before.opened !== undefined) changed();
  }

  return {
    tools: () => [...brought.values()].flatMap(({ opened }) => opened?.tools() ?? []),
    editorOf: (clientId) => brought.get(clientId)?.editor,
    async bring(clientId, equipment) {
      const digest = digestOf(equipment);
      const same = brought.get(clientId);
      if (same?.digest === digest) return (await same.opening).problems;
      drop(clientId);
      if (isEmptyEquipment(equipment)) return [];
      const one = begin(clientId, equipment, digest);
      const opened = await one.opening.catch((error: unknown) => {
        if (brought.get(clientId) === one) brought.delete(clientId);
        throw error;
      });
      // It may have been taken away again meanwhile.
      if (brought.get(clientId) !== one) return [];
      one.opened = opened;
      changed();
      return opened.problems;
    },
    leave: drop,
    async close() {
      for (const one of brought.values()) end(one);
      brought.clear();
      await Promise.all(ending);
    },
  };
}
