import type { OperationRequest } from "./operation.ts";
import { createNotFoundError, type ChangeContext } from "./harness-changes.ts";
import type { Delays } from "./delays.ts";
import { isDeleted, type Harness } from "./harness-state.ts";
import type { InjectedOutcomes } from "./injected-outcomes.ts";
import type { AccountLocation } from "./resource-names.ts";
import type { RegistryState } from "./registry-state.ts";
import type { RegistryStore } from "./registry-store.ts";
import { findEarlierUse, selectRecentTokens } from "./used-tokens.ts";
import { formatUnknownName } from "../../text/unknown-name.ts";

export interface ControlSettings {
  readonly location: AccountLocation;
  readonly delays: Delays;
  /** How to respond to the deletion of a harness that is still being created. AWS does not document this. */
  readonly deleteWhileCreating: "409" | "accept";
  /** Creates ten letters and digits, unique per harness. */
  readonly createSuffix: () => string;
}

/** Shared by all operations. */
export interface ControlParts {
  readonly location: AccountLocation;
  readonly deleteWhileCreating: ControlSettings["deleteWhileCreating"];
  createId(harnessName: string): string;
  createContext(call: OperationRequest): ChangeContext;
  readonly listVisible: (now: number) => readonly Harness[];
  /** Throws a ResourceNotFoundException if the harness does not exist or is not visible yet. */
  findVisible(harnessId: string, now: number): Harness;
  /** Stores the harness returned by `step`. A request with an already used client token changes nothing. */
  changeOnce(
    call: OperationRequest,
    step: (harnesses: readonly Harness[]) => Harness,
  ): Promise<Harness>;
}

export function createControlParts(
  store: RegistryStore,
  outcomes: InjectedOutcomes,
  settings: ControlSettings,
): ControlParts {
  const { location, delays, deleteWhileCreating, createSuffix } = settings;
  const listVisible = (now: number): readonly Harness[] =>
    selectPresentHarnesses(store.readState(), now).filter(({ visibleAt }) => now >= visibleAt);
  return {
    location,
    deleteWhileCreating,
    createId: (name) => `${name}-${createSuffix()}`,
    createContext: ({ now }) => ({
      now,
      delays,
      takeInjected: (name, kind) => outcomes.take(name, kind),
    }),
    listVisible,
    findVisible(id, now) {
      const match = listVisible(now).find((harness) => harness.id === id);
      if (match === undefined) throw createNotFoundError(formatUnknownName("Harness", id));
      return match;
    },
    changeOnce: (call, step) =>
      store.change((state) => {
        const { operation, token, now } = call;
        const harnesses = selectPresentHarnesses(state, now);
        const tokens = selectRecentTokens(state.tokens, now);
        const fingerprint = token === undefined ? "" : call.computeFingerprint();
        const earlierUse =
          token === undefined
            ? undefined
            : findEarlierUse(tokens, { operation, token, fingerprint });
        const existing = harnesses.find(({ id }) => id === earlierUse?.harnessId);
        if (existing !== undefined) return { state, result: existing };
        const result = step(harnesses);
        const usedToken =
          token === undefined ? [] : [{ operation, token, fingerprint, usedAt: now }];
        return {
          state: {
            harnesses: [...harnesses.filter(({ id }) => id !== result.id), result],
            tokens: [
              ...tokens.filter((one) => one !== earlierUse),
              ...usedToken.map((one) => ({ ...one, harnessId: result.id })),
            ],
          },
          result,
        };
      }),
  };
}

/** The harnesses and endpoints which remain after all due deletions. */
export function selectPresentHarnesses(
  { harnesses }: RegistryState,
  now: number,
): readonly Harness[] {
  return harnesses
    .filter((harness) => !isDeleted(harness, now))
    .map((harness) => ({
      ...harness,
      endpoints: harness.endpoints.filter((endpoint) => !isDeleted(endpoint, now)),
    }));
}
