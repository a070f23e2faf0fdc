import type { EmulatorRoute } from "../service/service-types.ts";
import { createOperationRoute } from "./operation.ts";
import { createHarnessState } from "./harness-changes.ts";
import {
  createControlParts,
  selectPresentHarnesses,
  type ControlSettings,
} from "./control-parts.ts";
import { NO_DELAYS } from "./delays.ts";
import { defineEndpointOperations } from "./endpoint-operations.ts";
import { createHarnessRecord } from "./harness-record.ts";
import { defineHarnessOperations } from "./harness-operations.ts";
import { createInjectedOutcomes, type InjectedOutcome } from "./injected-outcomes.ts";
import { formatHarnessArn } from "./resource-names.ts";
import type { HarnessRegistry } from "./harness-registry.ts";
import { openRegistryStore } from "./registry-store.ts";
import { defineTagOperations } from "./tag-operations.ts";

export interface ControlPlaneOptions extends ControlSettings {
  /** The file with the harnesses. Undefined: harnesses are only in memory. */
  readonly path: string | undefined;
  readonly now: () => number;
}

export interface ControlPlane {
  readonly routes: readonly EmulatorRoute[];
  readonly registry: HarnessRegistry;
  /** Replaces the result of the next change of a kind, for tests of failures. */
  readonly inject: (outcome: InjectedOutcome) => void;
  /** Resolves when all changes are saved. */
  readonly close: () => Promise<void>;
}

/** Opens the control plane: its state and its routes. Creates the harness `demo` if it does not exist. */
export async function openControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { location, now } = options;
  const store = await openRegistryStore(options.path);
  const outcomes = createInjectedOutcomes();
  const parts = createControlParts(store, outcomes, options);
  await store.change((state) => {
    const present = selectPresentHarnesses(state, now());
    if (present.some(({ id, name }) => id === DEMO_HARNESS_ID || name === DEMO_NAME)) {
      return { state, result: undefined };
    }
    const demo = createDemoHarness(location.account, now());
    return { state: { ...state, harnesses: [...present, demo] }, result: undefined };
  });
  const operations = [
    ...defineHarnessOperations(parts),
    ...defineEndpointOperations(parts),
    ...defineTagOperations(parts),
  ];
  return {
    routes: operations.map((operation) => createOperationRoute(operation, now)),
    registry: {
      findHarness(arn, qualifier, at) {
        const harness = parts
          .listVisible(at)
          .find(({ id }) => formatHarnessArn(location, id) === arn || id === arn);
        if (harness === undefined) return undefined;
        return createHarnessRecord(location, harness, { now: at, qualifier });
      },
    },
    inject: (outcome) => outcomes.inject(outcome),
    close: () => store.waitUntilSaved(),
  };
}

const DEMO_NAME = "demo";
export const DEMO_HARNESS_ID = "demo-spanline00";

function createDemoHarness(account: string, now: number) {
  const configuration = {
    executionRoleArn: `arn:aws:iam::${account}:role/spanline-emulator`,
    memory: { managedMemoryConfiguration: {} },
  };
  const context = { now, delays: NO_DELAYS, takeInjected: () => undefined };
  return createHarnessState(
    { id: DEMO_HARNESS_ID, name: DEMO_NAME, configuration, tags: {} },
    context,
  );
}
