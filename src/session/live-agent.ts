import type { EditorOffer, Equipment } from "../domain/equipment.ts";
import { SpanlineError, type Failure } from "../domain/errors.ts";
import type { Agent, AgentPlace } from "./agent.ts";
import { clientEquipment, type OpenEquipment } from "./client-equipment.ts";
import { equippedAgent } from "./equipped-agent.ts";

/** An agent as one session has it: what it can do may change while the session goes on. */
export interface LiveAgent {
  /** With what clients have brought. */
  readonly current: Agent;
  /** How long it should be kept for a session that nobody uses; as long as any session when absent. */
  readonly idleMs?: number;
  /** Told of every change, once somebody listens. */
  onChange(listener: (agent: Agent) => void): void;
  /** What a client brings, in place of what it brought before. Resolves with what cannot be used of it. */
  equip(clientId: string, equipment: Equipment): Promise<readonly Failure[]>;
  /** What the editor of a client offers, while that is there. */
  editorOf(clientId: string): EditorOffer | undefined;
  /** A client is gone, and what it brought. */
  left(clientId: string): void;
  close(): Promise<void>;
}

export interface LiveOptions {
  /** Ends the opening. */
  readonly signal?: AbortSignal;
  /** Nobody can bring anything without it. */
  readonly openEquipment?: OpenEquipment;
  readonly report: (error: unknown) => void;
}

export async function liveAgent(
  agent: Agent,
  place: AgentPlace,
  { signal, openEquipment = takesNothing, report }: LiveOptions,
): Promise<LiveAgent> {
  let base = agent;
  let current = agent;
  let isTold = false;
  let listener: ((now: Agent) => void) | undefined;
  const compose = (): void => {
    current = equippedAgent(base, equipment.tools());
    listener?.(current);
  };
  const equipment = clientEquipment({ open: openEquipment, place, changed: compose, report });
  const opened = await agent.open?.({
    ...place,
    changed: (now) => {
      isTold = true;
      base = now;
      compose();
    },
    ...(signal !== undefined && { signal }),
  });
  // A change may have been told of before all of it was open.
  if (opened !== undefined && !isTold) {
    base = opened.agent;
    compose();
  }
  return {
    ...(opened?.idleMs !== undefined && { idleMs: opened.idleMs }),
    get current() {
      return current;
    },
    onChange(told) {
      listener = told;
    },
    equip: (clientId, brought) => equipment.bring(clientId, brought),
    editorOf: (clientId) => equipment.editorOf(clientId),
    left: (clientId) => equipment.leave(clientId),
    async close() {
      listener = undefined;
      await Promise.all([opened?.close(), equipment.close()]);
    },
  };
}

/** Nobody gets here: what is brought is refused before. */
const takesNothing: OpenEquipment = () =>
  Promise.reject(new SpanlineError("invalid_option", "Nothing can be brought to sessions here"));
