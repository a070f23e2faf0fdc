import type { Route } from "../exchange.ts";
import { operationRoute } from "./call.ts";
import { created } from "./changes.ts";
import { controlParts, presentHarnesses, type ControlSettings } from "./control-parts.ts";
import { NO_DELAYS } from "./delays.ts";
import { endpointOperations } from "./endpoint-operations.ts";
import { harnessRecord } from "./find-harness.ts";
import { harnessOperations } from "./harness-operations.ts";
import { injectedOutcomes, type InjectedOutcome } from "./injected-outcomes.ts";
import { harnessArn } from "./names.ts";
import type { HarnessRegistry } from "./registry.ts";
import { openRegistryStore } from "./registry-store.ts";
import { tagOperations } from "./tag-operations.ts";

export interface ControlPlaneOptions extends ControlSettings {
  /** Where the harnesses are kept; in memory when there is none. */
  readonly path: string | undefined;
  readonly now: () => number;
}

export interface ControlPlane {
  readonly routes: readonly Route[];
  readonly registry: HarnessRegistry;
  /** The next change of a kind comes to this instead of a success. */
  readonly inject: (outcome: InjectedOutcome) => void;
  /** Resolves when everything is saved. */
  readonly close: () => Promise<void>;
}

/** The harness control plane: its state, and the routes that change it. Has the harness `demo` from the start. */
export async function openControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { place, now } = options;
  const store = await openRegistryStore(options.path);
  const outcomes = injectedOutcomes();
  const parts = controlParts(store, outcomes, options);
  await store.change((state) => {
    const present = presentHarnesses(state, now());
    if (present.some(({ id, name }) => id === DEMO_ID || name === DEMO_NAME)) {
      return { state, result: undefined };
    }
    const demo = demoHarness(place.account, now());
    return { state: { ...state, harnesses: [...present, demo] }, result: undefined };
  });
  const operations = [
    ...harnessOperations(parts),
    ...endpointOperations(parts),
    ...tagOperations(parts),
  ];
  return {
    routes: operations.map((operation) => operationRoute(operation, now)),
    registry: {
      findHarness(arn, qualifier, at) {
        const harness = parts
          .allVisible(at)
          .find(({ id }) => harnessArn(place, id) === arn || id === arn);
        if (harness === undefined) return undefined;
        return harnessRecord(place, harness, { now: at, qualifier });
      },
    },
    inject: (outcome) => outcomes.inject(outcome),
    close: () => store.settled(),
  };
}

const DEMO_NAME = "demo";
export const DEMO_ID = "demo-spanline00";

function demoHarness(account: string, now: number) {
  const configuration = {
    executionRoleArn: `arn:aws:iam::${account}:role/spanline-emulator`,
    memory: { managedMemoryConfiguration: {} },
  };
  const context = { now, delays: NO_DELAYS, injected: () => undefined };
  return created({ id: DEMO_ID, name: DEMO_NAME, configuration, tags: {} }, context);
}
