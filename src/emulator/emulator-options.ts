import type { KnownCredentials } from "../aws/check-signature.ts";
import type { Clock } from "../platform/clock.ts";
import type { Delays } from "./control/delays.ts";
import type { AccountLocation } from "./control/resource-names.ts";
import type { HarnessRegistry } from "./control/harness-registry.ts";
import type { EmulatorRoute } from "./service/service-types.ts";

export interface EmulatorOptions {
  /** A loopback address. Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: 0, any free port. */
  readonly port?: number;
  /** Allowed host names in addition to the loopback names. */
  readonly allowedHosts?: readonly string[];
  /**
   * The folder for persistent data. Default: data is only in memory. Only a single emulator may use a folder at a time.
   */
  readonly dataDirectory?: string;
  /** The base of the emulator's clock, which can be moved ahead. Default: the system clock. */
  readonly clock?: Clock;
  /** `strict` requires requests to be signed with the credentials. Default: `off`. */
  readonly signatures?: "strict" | "off";
  /** Default: `TEST_CREDENTIALS`. */
  readonly credentials?: readonly KnownCredentials[];
  /** The bearer tokens accepted by the data plane if signatures are strict. Default: any token. */
  readonly bearerTokens?: readonly string[];
  readonly region?: string;
  readonly account?: string;
  /** Delays of changes to harnesses and endpoints. Default: none. */
  readonly delays?: Partial<Delays>;
  /** The response to the deletion of a harness in the status CREATING. AWS does not document this. Default: `409`. */
  readonly deleteWhileCreating?: "409" | "accept";
  /** Creates the operations that run agents. Absent: control plane only. */
  readonly dataPlane?: (parts: DataPlaneParts) => DataPlaneRoutes | Promise<DataPlaneRoutes>;
  /** Called for internal errors of the emulator. Clients receive a 500 without details. */
  readonly onBug?: (error: unknown) => void;
}

/** The inputs for the data plane. */
export interface DataPlaneParts extends AccountLocation {
  readonly registry: HarnessRegistry;
  readonly clock: Clock;
  readonly dataDirectory: string | undefined;
  readonly onBug: (error: unknown) => void;
}

export interface DataPlaneRoutes {
  readonly routes: readonly EmulatorRoute[];
  /** Ends all running work and saves persistent data. */
  close(): Promise<void>;
}

/** The default credentials for signed requests. */
export const TEST_CREDENTIALS: KnownCredentials = { accessKeyId: "test", secretAccessKey: "test" };

/** The default region and account. */
export const DEFAULT_LOCATION: AccountLocation = { region: "us-east-1", account: "123456789012" };
