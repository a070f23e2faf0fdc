import type { KnownCredentials } from "../aws/check-signature.ts";
import type { Clock } from "../platform/clock.ts";
import type { Delays } from "./control/delays.ts";
import type { AccountLocation } from "./control/resource-names.ts";
import type { HarnessRegistry } from "./control/harness-registry.ts";
import type { EmulatorRoute } from "./service/service-types.ts";

export interface EmulatorOptions {
  /** A loopback address; 127.0.0.1 when it is not given. */
  readonly host?: string;
  /** 0, the default, for any that is free. */
  readonly port?: number;
  /** Names beside those of the loopback under which clients may call. */
  readonly allowedHosts?: readonly string[];
  /** Where everything is kept that outlives the process; in memory when it is not given. One emulator at a time may use it. */
  readonly dataDirectory?: string;
  /** What the emulator's own clock, which can be moved ahead, is based on. */
  readonly clock?: Clock;
  /** Whether requests must be signed by one of the credentials; `off` when it is not given. */
  readonly signatures?: "strict" | "off";
  /** `TEST_CREDENTIALS` when they are not given. */
  readonly credentials?: readonly KnownCredentials[];
  /** The bearer tokens that the data plane takes when signatures are strict; any when they are not given. */
  readonly bearerTokens?: readonly string[];
  readonly region?: string;
  readonly account?: string;
  /** How long harnesses and endpoints take to change; no time where it is not given. */
  readonly delays?: Partial<Delays>;
  /** What is answered to the deletion of a harness that is still CREATING; that of the service is not known. */
  readonly deleteWhileCreating?: "409" | "accept";
  /** Makes the operations that run agents; without it there is the control plane alone. */
  readonly dataPlane?: (parts: DataPlaneParts) => DataPlaneRoutes | Promise<DataPlaneRoutes>;
  /** Told of failures that are the emulator's own; clients see a 500 without details. */
  readonly onBug?: (error: unknown) => void;
}

/** What the data plane is built from. */
export interface DataPlaneParts extends AccountLocation {
  readonly registry: HarnessRegistry;
  readonly clock: Clock;
  readonly dataDirectory: string | undefined;
  readonly onBug: (error: unknown) => void;
}

export interface DataPlaneRoutes {
  readonly routes: readonly EmulatorRoute[];
  /** Ends what is under way and saves what is kept. */
  close(): Promise<void>;
}

/** The credentials that signed requests are checked against when no others are given. */
export const TEST_CREDENTIALS: KnownCredentials = { accessKeyId: "test", secretAccessKey: "test" };

/** Where the emulator is when nobody says otherwise. */
export const DEFAULT_LOCATION: AccountLocation = { region: "us-east-1", account: "123456789012" };
