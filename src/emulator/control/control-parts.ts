import type { Call } from "./call.ts";
import { notFound, type ChangeContext } from "./changes.ts";
import type { Delays } from "./delays.ts";
import { isGone, type Harness } from "./harness-state.ts";
import type { InjectedOutcomes } from "./injected-outcomes.ts";
import type { Place } from "./names.ts";
import type { RegistryState } from "./registry-state.ts";
import type { RegistryStore } from "./registry-store.ts";
import { earlierCall, recentTokens } from "./used-tokens.ts";

export interface ControlSettings {
  readonly place: Place;
  readonly delays: Delays;
  /** What the service says to the deletion of a harness that is still being made is not known. */
  readonly deleteWhileCreating: "409" | "accept";
  /** Ten letters and digits that no other harness has. */
  readonly newSuffix: () => string;
}

/** What the operations share. */
export interface ControlParts {
  readonly place: Place;
  readonly deleteWhileCreating: ControlSettings["deleteWhileCreating"];
  newId(harnessName: string): string;
  context(call: Call): ChangeContext;
  readonly allVisible: (now: number) => readonly Harness[];
  /** Throws a ResourceNotFoundException when there is none, or none that shows yet. */
  visible(harnessId: string, now: number): Harness;
  /** Puts the harness that a step makes in place. A call that was made before with the same client token changes nothing. */
  changeOnce(call: Call, step: (harnesses: readonly Harness[]) => Harness): Promise<Harness>;
}

export function controlParts(
  store: RegistryStore,
  outcomes: InjectedOutcomes,
  settings: ControlSettings,
): ControlParts {
  const { place, delays, deleteWhileCreating, newSuffix } = settings;
  const allVisible = (now: number): readonly Harness[] =>
    presentHarnesses(store.current(), now).filter(({ visibleAt }) => now >= visibleAt);
  return {
    place,
    deleteWhileCreating,
    newId: (name) => `${name}-${newSuffix()}`,
    context: ({ now }) => ({ now, delays, injected: (name, kind) => outcomes.take(name, kind) }),
    allVisible,
    visible(id, now) {
      const found = allVisible(now).find((harness) => harness.id === id);
      if (found === undefined) throw notFound(`Harness ${id} does not exist`);
      return found;
    },
    changeOnce: (call, step) =>
      store.change((state) => {
        const { operation, token, now } = call;
        const harnesses = presentHarnesses(state, now);
        const tokens = recentTokens(state.tokens, now);
        const fingerprint = token === undefined ? "" : call.fingerprint();
        const earlier =
          token === undefined ? undefined : earlierCall(tokens, { operation, token, fingerprint });
        const before = harnesses.find(({ id }) => id === earlier?.harnessId);
        if (before !== undefined) return { state, result: before };
        const result = step(harnesses);
        const use = token === undefined ? [] : [{ operation, token, fingerprint, usedAt: now }];
        return {
          state: {
            harnesses: [...harnesses.filter(({ id }) => id !== result.id), result],
            tokens: [
              ...tokens.filter((one) => one !== earlier),
              ...use.map((one) => ({ ...one, harnessId: result.id })),
            ],
          },
          result,
        };
      }),
  };
}

/** What is left once all deletions that are due are done. */
export function presentHarnesses({ harnesses }: RegistryState, now: number): readonly Harness[] {
  return harnesses
    .filter((harness) => !isGone(harness, now))
    .map((harness) => ({
      ...harness,
      endpoints: harness.endpoints.filter((endpoint) => !isGone(endpoint, now)),
    }));
}
